// How often a page asks for the state of webhook events.
import type { WebhookEventRow } from '../platform/db/webhook-schema.ts'
import { isDeliveryFinal } from '../domain/webhook.ts'

const SOON_MS = 90_000
const POLL_SOON_SECONDS = 1
export const POLL_LATER_SECONDS = 15

/**
 * Seconds between two requests: often while an attempt is in progress or due soon; else rarely, since
 * retries take hours.
 */
export const liveSecondsOf = (events: Pick<WebhookEventRow, 'status' | 'dueAt'>[]): number =>
  events.some(
    ({ status, dueAt }) => !isDeliveryFinal(status) && dueAt.getTime() < Date.now() + SOON_MS,
  )
    ? POLL_SOON_SECONDS
    : POLL_LATER_SECONDS
