// The forms of webhook endpoints.
import { z } from 'zod'
import { MODES } from '../domain/job.ts'
import { EVENT_TYPES } from '../domain/webhook.ts'
import { urlProblem } from '../platform/net/public-url.ts'
import type { UrlPolicy } from '../platform/net/public-url.ts'
import type { EndpointSettings } from '../webhooks/endpoints/endpoints.ts'

const MAX_NAME_LENGTH = 100

const webhookUrl = (policy: UrlPolicy, emptyProblem?: string) =>
  z
    .string()
    .trim()
    .superRefine((text, context) => {
      const problem = text === '' ? emptyProblem : urlProblem(text, policy)
      if (problem) context.addIssue({ code: 'custom', message: `The URL ${problem}.` })
    })

/** The URL may be empty. */
export const defaultUrlForm = (policy: UrlPolicy) => z.object({ url: webhookUrl(policy) })

/** Each event type is a checkbox with its own name. */
export const endpointForm = (policy: UrlPolicy): z.ZodType<EndpointSettings> =>
  z
    .record(z.string(), z.unknown())
    .transform((body) => ({ ...body, types: EVENT_TYPES.filter((type) => type in body) }))
    .pipe(
      z.object({
        name: z
          .string()
          .trim()
          .min(1, 'Enter a name.')
          .max(MAX_NAME_LENGTH, `At most ${MAX_NAME_LENGTH} characters.`),
        url: webhookUrl(policy, 'is required'),
        mode: z
          .enum([...MODES, 'both'], 'Choose a mode.')
          .transform((mode) => (mode === 'both' ? null : mode)),
        types: z.array(z.enum(EVENT_TYPES)).min(1, 'Choose at least one event type.'),
      }),
    )
