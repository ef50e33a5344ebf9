// Posted forms and queries: the schemas of their fields, and how they are parsed and shown again.
import { HTTPException } from 'hono/http-exception'
import { z } from 'zod'
import { AppError } from '../domain/errors.ts'
import type { ConsoleContext, FormState } from './console-context.ts'
import { MAX_MONTHLY_CREDITS } from '../domain/credit-limit.ts'
import { WITHOUT_CONTROL_CHARACTERS } from '../domain/text.ts'
import { isId, type Prefix } from '../platform/ids.ts'
import { isFreeEmail } from '../organisations/email-address.ts'
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from '../users/auth.ts'

export type FormPage = (c: ConsoleContext) => Response | Promise<Response>

/** The page of a form, which shows this state. */
export function pageWith(c: ConsoleContext, page: FormPage, state: FormState) {
  c.set('form', state)
  return page(c)
}

/** What a handler throws to respond with the page of its form. */
export const rejection = async (c: ConsoleContext, page: FormPage, state: FormState) =>
  new HTTPException(422, { res: await pageWith(c, page, state) })

/**
 * Parses and validates a posted form.
 * @throws HTTPException whose response is the page with the errors and what was typed
 */
export async function readForm<T>(c: ConsoleContext, schema: z.ZodType<T>, page: FormPage) {
  const body = await c.req.parseBody()
  const result = schema.safeParse(body)
  if (result.success) return result.data
  const errors: Record<string, string> = {}
  for (const { path, message } of result.error.issues) errors[path.join('.')] ??= message
  throw await rejection(c, page, { errors, values: textsOf(body) })
}

/** A field of a posted form as a text; empty without it. */
export async function textIn(c: ConsoleContext, name: string): Promise<string> {
  const { [name]: value } = await c.req.parseBody()
  return typeof value === 'string' ? value : ''
}

/** The fields of a form or query that are texts, to show or link to it again. */
export const textsOf = (fields: object): Record<string, string> =>
  Object.fromEntries(
    Object.entries(fields).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    ),
  )

/** Shows a use case's validation error as an error of the whole form. @throws every other error */
export function formStateOf(error: unknown, values: Record<string, string> = {}): FormState {
  if (!(error instanceof AppError) || error.code !== 'validation_error') throw error
  return { errors: { '': error.message }, values }
}

/**
 * The result of a use case.
 * @throws HTTPException whose response is the page with a validation error of the use case
 */
export async function resultOf<Result>(c: ConsoleContext, page: FormPage, result: Promise<Result>) {
  try {
    return await result
  } catch (error) {
    throw await rejection(c, page, formStateOf(error, textsOf(await c.req.parseBody())))
  }
}

export const email = z
  .string()
  .trim()
  .toLowerCase()
  .pipe(
    z
      .email('Enter an email address, such as ada@shop.example.')
      .max(254, 'The email address must have at most 254 characters.'),
  )

/** An address of a company: consumer email providers are rejected unless the settings allow them. */
export const workEmail = (allowFree: boolean) =>
  email.refine((address) => allowFree || !isFreeEmail(address), {
    error: 'Use your work email address. Personal email addresses are not accepted.',
    abort: true,
  })

export const PASSWORD_HINT = `At least ${MIN_PASSWORD_LENGTH} characters.`
const TOO_LONG = `The password must have at most ${MAX_PASSWORD_LENGTH} characters.`

export const newPassword = z
  .string()
  .min(MIN_PASSWORD_LENGTH, `The password must have at least ${MIN_PASSWORD_LENGTH} characters.`)
  .max(MAX_PASSWORD_LENGTH, TOO_LONG)

/** A code of an authenticator app, or a recovery code. */
export const code = z.string('Enter the code.').trim().min(1, 'Enter the code.').max(40)

/** A password that is checked against the stored one. */
export const currentPassword = z
  .string('Enter your password.')
  .min(1, 'Enter your password.')
  .max(MAX_PASSWORD_LENGTH, TOO_LONG)

/** The display name of a user, which is optional. */
export const displayName = z
  .string('Enter a name.')
  .trim()
  .max(100, 'The name must have at most 100 characters.')
  .regex(WITHOUT_CONTROL_CHARACTERS, 'The name must not contain control characters.')

/** A parameter of a query. A wrong one is ignored: users may edit the URL. */
export const parameter = <Schema extends z.ZodType>(schema: Schema) =>
  schema.optional().catch(undefined)

export const idParameter = (prefix: Prefix) =>
  parameter(z.string().refine((text) => isId(prefix, text)))

/** The id in the address. @throws AppError not_found for a malformed one, which no header of a redirect can contain */
export function idIn(c: ConsoleContext, name: string, prefix: Prefix): string {
  const id = c.req.param(name) ?? ''
  if (!isId(prefix, id)) throw new AppError('not_found')
  return id
}

/** The name of an organisation, workspace or API key. */
export const name = displayName.min(1, 'Enter a name.')

const CREDITS = `Enter a whole number from 1 to ${MAX_MONTHLY_CREDITS.toLocaleString('en')}, or leave the field empty.`

/** A monthly limit of credits; null without one. */
export const monthlyCredits = z
  .string()
  .trim()
  .default('')
  .refine((text) => /^(\d{1,10})?$/.test(text), CREDITS)
  .transform((text) => (text === '' ? null : Number(text)))
  .refine(
    (credits) => credits === null || (credits >= 1 && credits <= MAX_MONTHLY_CREDITS),
    CREDITS,
  )

/** The texts of a query that are not empty, for a link or a form. */
export const fieldsOf = (query: object): Record<string, string> =>
  Object.fromEntries(Object.entries(textsOf(query)).filter(([, value]) => value !== ''))

/** `page` with what is set of a query, such as `/jobs?status=failed`. */
export function withQuery(page: string, query: object): string {
  const text = new URLSearchParams(fieldsOf(query)).toString()
  return text === '' ? page : `${page}?${text}`
}
