// Parses posted forms.
import type { z } from 'zod'
import { AppError } from '../domain/errors.ts'
import type { ConsoleContext } from './console-context.ts'

/** Error messages by field name; the key '' is for errors of the whole form. */
export type FieldErrors = Record<string, string>

interface FormLink {
  /** A page of the organisation. */
  to: string
  label: string
}

/** The errors and values of a form that is shown again. */
export interface FormState {
  errors?: FieldErrors | undefined
  /** A page that resolves the error of the whole form. */
  link?: FormLink | undefined
  values?: Record<string, string> | undefined
}

export type FormResult<T> =
  { ok: true; data: T } | { ok: false; errors: FieldErrors; values: Record<string, string> }

/** Parses and validates a posted form. On errors, returns the text values for the next rendering. */
export async function readForm<T>(c: ConsoleContext, schema: z.ZodType<T>): Promise<FormResult<T>> {
  const body = await c.req.parseBody()
  const result = schema.safeParse(body)
  if (result.success) return { ok: true, data: result.data }
  const errors: FieldErrors = {}
  for (const { path, message } of result.error.issues) errors[path.join('.')] ??= message
  return { ok: false, errors, values: textsOf(body) }
}

/** The fields of a form or query that are texts, to show or link to it again. */
export const textsOf = (fields: object): Record<string, string> =>
  Object.fromEntries(
    Object.entries(fields).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    ),
  )

/**
 * Shows a use case's validation error as an error of the whole form.
 * @throws every other error
 */
export function formStateOf(error: unknown, values: Record<string, string> = {}): FormState {
  if (!(error instanceof AppError) || error.code !== 'validation_error') throw error
  return { errors: { '': error.message }, values }
}

/** Parses a form and calls a use case, whose validation error is one of the whole form. */
export async function submitForm<T, Result>(
  c: ConsoleContext,
  schema: z.ZodType<T>,
  useCase: (data: T) => Promise<Result>,
): Promise<{ ok: true; data: T; result: Result } | ({ ok: false } & FormState)> {
  const form = await readForm(c, schema)
  if (!form.ok) return form
  try {
    return { ok: true, data: form.data, result: await useCase(form.data) }
  } catch (error) {
    return { ok: false, ...formStateOf(error, textsOf(await c.req.parseBody())) }
  }
}
