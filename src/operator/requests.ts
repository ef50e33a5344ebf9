// Request schemas of /operator. They reject unknown fields, so that typos are not ignored.
import { z } from 'zod'
import { TERMS_REFERENCE } from '../billing/enterprise-terms.ts'
import { PAYMENT_STATUSES } from '../domain/billing.ts'
import { MODES } from '../domain/job.ts'
import {
  ORGANISATION_STATUSES,
  PLANS,
  REGIONS,
  WORKSPACE_STATUSES,
} from '../domain/organisation.ts'
import { FREE_CREDITS, MAX_RETENTION_DAYS, MIN_RETENTION_DAYS } from '../domain/limits.ts'
import { WITHOUT_CONTROL_CHARACTERS } from '../domain/text.ts'
import { PageLimit } from '../http/pagination.ts'
import { url } from '../http/try-on-body.ts'
import { oneOf, shortText } from '../http/validation.ts'
import { isId, type Prefix } from '../platform/ids.ts'
import { urlProblem, type UrlPolicy } from '../platform/net/public-url.ts'
import { SIGN_UP_REFERENCE } from '../credits/ledger.ts'

const MAX_CREDITS = 1_000_000_000
const MAX_RATE_LIMIT = 1_000_000
/** Minor units. */
const MAX_AMOUNT = 100_000_000_000
const MAX_CREDIT_PRICE = 1_000_000

const name = shortText(100).regex(WITHOUT_CONTROL_CHARACTERS, 'must not contain control characters')

/** Shown verbatim to the organisation's members. */
const reason = shortText(500, 'a string or null')

const whole = (min: number, max: number) => {
  const message = `must be a whole number from ${min} to ${max}`
  return z.int(message).min(min, message).max(max, message)
}

const webhookUrl = (policy: UrlPolicy) =>
  url('a string or null', (text) => urlProblem(text, policy)).nullable()

const rateLimit = whole(1, MAX_RATE_LIMIT)

export const newOrganisation = (policy: UrlPolicy) =>
  z.strictObject({
    name,
    region_code: oneOf(REGIONS).default('GLOBAL'),
    plan: oneOf(PLANS).default('starter'),
    credits: whole(0, MAX_CREDITS).default(FREE_CREDITS),
    /** The plan's unless given. */
    rate_limit_per_minute: rateLimit.optional(),
    default_webhook_url: webhookUrl(policy).default(null),
    workspace_name: name.default('Default'),
  })

export const organisationChange = (policy: UrlPolicy) =>
  z.strictObject({
    status: oneOf(ORGANISATION_STATUSES).optional(),
    suspension_reason: reason.nullable().optional(),
    plan: oneOf(PLANS).optional(),
    /** null: the plan's. */
    rate_limit_per_minute: rateLimit.nullable().optional(),
    default_webhook_url: webhookUrl(policy).optional(),
    auto_reload_enabled: z.boolean('must be true or false').optional(),
    /** Minor units of the organisation's currency. null: the default. */
    auto_reload_ceiling: whole(0, MAX_AMOUNT).nullable().optional(),
    output_retention_days: whole(MIN_RETENTION_DAYS, MAX_RETENTION_DAYS).optional(),
  })

/** The service grants credits with these references: the sign-up, payments and enterprise terms. */
const RESERVED_PREFIXES = ['pay_', TERMS_REFERENCE]

export const Credits = z.strictObject({
  amount: whole(1, MAX_CREDITS),
  reason: name,
  // The ledger ignores a repeated reference: this grant, or the service's own, would have no effect.
  reference: name.refine(
    (reference) =>
      reference !== SIGN_UP_REFERENCE &&
      !RESERVED_PREFIXES.some((prefix) => reference.startsWith(prefix)),
    `must not be "${SIGN_UP_REFERENCE}" or start with "${RESERVED_PREFIXES.join('" or "')}", which the service uses itself: choose another`,
  ),
})

/** Amounts are minor units of the organisation's currency. */
export const Terms = z.strictObject({
  monthly_fee: whole(0, MAX_AMOUNT),
  included_credits: whole(0, MAX_CREDITS),
  credit_price: whole(1, MAX_CREDIT_PRICE),
  rate_limit_per_minute: rateLimit,
})

export const Refund = z.strictObject({
  /** Minor units of the payment's currency. The rest of the payment unless given. */
  amount: whole(1, MAX_AMOUNT).optional(),
  reason: name,
  reference: name,
})

export const NewApiKey = z.strictObject({ mode: oneOf(MODES) })

export const NewWorkspace = z.strictObject({ name })

export const WorkspaceChange = z.strictObject({
  name: name.optional(),
  status: oneOf(WORKSPACE_STATUSES).optional(),
})

/** The query of a list. The cursor is the id of the last row of the previous page. */
export const pageQuery = (prefix: Prefix) =>
  z.object({
    cursor: z
      .string('must not be repeated')
      .refine((cursor) => isId(prefix, cursor), 'must be the next_cursor of a page')
      .optional(),
    limit: PageLimit,
  })

export const PaymentsQuery = pageQuery('pay').extend({
  status: oneOf(PAYMENT_STATUSES).optional(),
})
