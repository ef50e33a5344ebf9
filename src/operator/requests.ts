// Request schemas of /operator. They reject unknown fields, so that typos are not ignored.
import { z } from 'zod'
import { MODES } from '../domain/job.ts'
import {
  ORGANISATION_STATUSES,
  PLANS,
  REGIONS,
  WORKSPACE_STATUSES,
} from '../domain/organisation.ts'
import {
  DEFAULT_RATE_LIMIT_PER_MINUTE,
  FREE_CREDITS,
  MAX_RETENTION_DAYS,
  MIN_RETENTION_DAYS,
} from '../domain/limits.ts'
import { WITHOUT_CONTROL_CHARACTERS } from '../domain/text.ts'
import { PageLimit } from '../http/pagination.ts'
import { urlProblem } from '../net/public-url.ts'
import type { UrlPolicy } from '../net/public-url.ts'
import { SIGN_UP_REFERENCE } from '../organisation/ledger.ts'

const MAX_CREDITS = 1_000_000_000
const MAX_RATE_LIMIT = 1_000_000

const oneOf = <const T extends readonly [string, ...string[]]>(values: T) =>
  z.enum(values, `must be one of ${values.join(', ')}`)

const name = z
  .string('must be a string')
  .trim()
  .min(1, 'must not be empty')
  .max(100, 'must have at most 100 characters')
  .regex(WITHOUT_CONTROL_CHARACTERS, 'must not contain control characters')

/** Shown verbatim to the organisation's members. */
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
    output_retention_days: whole(MIN_RETENTION_DAYS, MAX_RETENTION_DAYS).optional(),
  })

export const Credits = z.strictObject({
  amount: whole(1, MAX_CREDITS),
  reason: name,
  // The sign-up grant has this reference, so another grant would be ignored as a repetition.
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

/** The query of a list. The cursor is the id of the last row of the previous page. */
export const pageQuery = (isCursor: (cursor: string) => boolean) =>
  z.object({
    cursor: z
      .string('must not be repeated')
      .refine(isCursor, 'must be the next_cursor of a page')
      .optional(),
    limit: PageLimit,
  })

/** Removes the undefined fields of a change: those that the request does not contain. */
export const definedOnly = <T extends object>(fields: T) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }
