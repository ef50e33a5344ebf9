// How often a page asks for the state of webhook events.
import type { WebhookEventRow } from '../db/webhook-schema.ts'
import { isDeliveryFinal } from '../domain/webhook.ts'

const SOON_MS = 90_000
const POLL_SOON_MS = 1_500
const POLL_LATER_MS = 15_000

/** Often while an attempt is in progress or due soon; else seldom, since retries take hours. */
export const pollMsOf = (events: Pick<WebhookEventRow, 'status' | 'dueAt'>[]): number =>
  events.some(
    ({ status, dueAt }) => !isDeliveryFinal(status) && dueAt.getTime() < Date.now() + SOON_MS,
  )
    ? POLL_SOON_MS
    : POLL_LATER_MS
