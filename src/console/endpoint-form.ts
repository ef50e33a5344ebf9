// The form of an added webhook endpoint.
import { z } from 'zod'
import { MODES } from '../domain/job.ts'
import { EVENT_TYPES } from '../domain/webhook.ts'
import type { EventType } from '../domain/webhook.ts'
import { urlProblem } from '../net/public-url.ts'
import type { UrlPolicy } from '../net/public-url.ts'
import type { EndpointSettings } from '../webhooks/added-endpoints.ts'

const MAX_NAME_LENGTH = 100

const required = (policy: UrlPolicy) =>
  z
    .string()
    .trim()
    .superRefine((text, context) => {
      const problem = text === '' ? 'is required' : urlProblem(text, policy)
      if (problem) context.addIssue({ code: 'custom', message: `The URL ${problem}.` })
    })

/** Each event type is a checkbox with its own name. */
export const endpointForm = (policy: UrlPolicy) =>
  z
    .object({
      name: z
        .string()
        .trim()
        .min(1, 'Enter a name.')
        .max(MAX_NAME_LENGTH, `At most ${MAX_NAME_LENGTH} characters.`),
      url: required(policy),
      mode: z.enum([...MODES, 'both'], 'Choose a mode.'),
      'job.completed': z.string().optional(),
      'job.failed': z.string().optional(),
      'job.refunded': z.string().optional(),
      'job.cancelled': z.string().optional(),
    })
    .transform((form, context): EndpointSettings => {
      const types: EventType[] = EVENT_TYPES.filter((type) => form[type] !== undefined)
      if (types.length === 0) {
        const message = 'Choose at least one event type.'
        context.addIssue({ code: 'custom', path: ['types'], message })
      }
      const { name, url, mode } = form
      return { name, url, types, mode: mode === 'both' ? null : mode }
    })
