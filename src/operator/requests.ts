// What staff may send. Unknown fields are refused: a typing mistake here moves money or customers.
import { z } from 'zod'
import { PageLimit } from '../api/requests.ts'
import {
  ORGANISATION_STATUSES,
  PLANS,
  REGIONS,
  WORKSPACE_STATUSES,
} from '../domain/organisation.ts'
import { urlProblem } from '../net/public-url.ts'
import type { UrlPolicy } from '../net/public-url.ts'
import { MODES } from '../domain/job.ts'
import { SIGN_UP_REFERENCE } from '../organisation/ledger.ts'
import { DEFAULT_RATE_LIMIT_PER_MINUTE, FREE_CREDITS } from '../domain/limits.ts'

const MAX_CREDITS = 1_000_000_000
const MAX_RATE_LIMIT = 1_000_000
const MAX_RETENTION_DAYS = 365

const oneOf = <const T extends readonly [string, ...string[]]>(values: T) =>
  z.enum(values, `must be one of ${values.join(', ')}`)

const name = z
  .string('must be a string')
  .trim()
  .min(1, 'must not be empty')
  .max(100, 'must have at most 100 characters')
  // eslint-disable-next-line no-control-regex
  .regex(/^[^\u0000-\u001f\u007f]*$/, 'must not contain control characters')

/** Shown to the organisation's members as it is. */
const reason = z
  .string('must be a string or null')
  .trim()
  .min(1, 'must not be empty')
  .max(500, 'must have at most 500 characters')

const whole = (min: number, max: number) => {
  const message = `must be a whole number from ${min} to ${max}`
  return z.int(message).min(min, message).max(max, message)
}

const flag = z.boolean('must be true or false')

const webhookUrl = (policy: UrlPolicy) =>
  z
    .string('must be a string or null')
    .superRefine((text, context) => {
      const message = urlProblem(text, policy)
      if (message) context.addIssue({ code: 'custom', message })
    })
    .nullable()

const rateLimit = whole(1, MAX_RATE_LIMIT)

export const newOrganisation = (policy: UrlPolicy) =>
  z.strictObject({
    name,
    region_code: oneOf(REGIONS).default('GLOBAL'),
    plan: oneOf(PLANS).default('starter'),
    credits: whole(0, MAX_CREDITS).default(FREE_CREDITS),
    rate_limit_per_minute: rateLimit.default(DEFAULT_RATE_LIMIT_PER_MINUTE),
    default_webhook_url: webhookUrl(policy).default(null),
    workspace_name: name.default('Default'),
  })

export const organisationChange = (policy: UrlPolicy) =>
  z.strictObject({
    status: oneOf(ORGANISATION_STATUSES).optional(),
    suspension_reason: reason.nullable().optional(),
    plan: oneOf(PLANS).optional(),
    rate_limit_per_minute: rateLimit.optional(),
    default_webhook_url: webhookUrl(policy).optional(),
    auto_reload_enabled: flag.optional(),
    output_retention_days: whole(1, MAX_RETENTION_DAYS).optional(),
  })

export const Credits = z.strictObject({
  amount: whole(1, MAX_CREDITS),
  reason: name,
  // Used already: a grant under it would be answered like a repetition, and add nothing.
  reference: name.refine(
    (reference) => reference !== SIGN_UP_REFERENCE,
    `must not be "${SIGN_UP_REFERENCE}", the reference of the first credits: choose another`,
  ),
})

export const NewApiKey = z.strictObject({ mode: oneOf(MODES) })

export const NewWorkspace = z.strictObject({ name })

export const WorkspaceChange = z.strictObject({
  name: name.optional(),
  status: oneOf(WORKSPACE_STATUSES).optional(),
})

export const Page = z.object({
  cursor: z.string('must be given once').optional(),
  limit: PageLimit,
})
