// Schemas of settings that may be missing.
import { z } from 'zod'

/** Empty counts as unset. */
export const optionalText = z
  .string()
  .optional()
  .transform((value) => value || undefined)

/** Such a text, or unset. */
export const optional = <T extends z.ZodType<unknown, string>>(text: T) =>
  optionalText.pipe(text.optional())

/** An http or https URL. */
export const optionalUrl = optional(
  z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }),
)
