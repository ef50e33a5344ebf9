// Schemas of form fields that several pages share.
import { z } from 'zod'
import { MAX_MONTHLY_CREDITS } from '../domain/credit-limit.ts'
import { WITHOUT_CONTROL_CHARACTERS } from '../domain/text.ts'
import { isId } from '../platform/ids.ts'
import { isFreeEmail } from '../organisations/email-address.ts'
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from '../users/auth.ts'

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
  .string()
  .trim()
  .max(100, 'The name must have at most 100 characters.')
  .regex(WITHOUT_CONTROL_CHARACTERS, 'The name must not contain control characters.')

/** A parameter of a query. A wrong one is ignored: users may edit the URL. */
export const parameter = <Schema extends z.ZodType>(schema: Schema) =>
  schema.optional().catch(undefined)

export const idParameter = (prefix: Parameters<typeof isId>[0]) =>
  parameter(z.string().refine((text) => isId(prefix, text)))

/** The name of an organisation, workspace or API key. */
export const name = z
  .string('Enter a name.')
  .trim()
  .min(1, 'Enter a name.')
  .max(100, 'The name must have at most 100 characters.')
  .regex(WITHOUT_CONTROL_CHARACTERS, 'The name must not contain control characters.')

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
