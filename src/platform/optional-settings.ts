// Schemas of settings that may be missing.
import { z } from 'zod'

/** Empty counts as unset. */
export const optionalText = z
  .string()
  .optional()
  .transform((value) => value || undefined)

/** An http or https URL. */
export const optionalUrl = optionalText.pipe(
  z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }).optional(),
)
