// Applies the provider's events that were never delivered.
import { DAY_MS } from '../domain/limits.ts'
import { log } from '../platform/log.ts'
import { configuredProvider } from './choose-provider.ts'
import { PaymentError } from './payment-provider.ts'
import { applyEvent, knownEvents, recordEvent } from './receive-event.ts'

/** How far back events are listed, ms: as long as Stripe repeats an event. */
const LOOK_BACK_MS = 3 * DAY_MS
/** The minute of the hour in which a remote provider is asked. The sandbox is asked each minute. */
const MINUTE_OF_HOUR = 23
/** The maximum number of events per run. The next run applies the rest. */
const MAX_EVENTS = 100
/** Failures in a row after which the provider is considered unreachable. */
const MAX_UNAVAILABLE = 3

/**
 * Lists the provider's events of the last three days and applies the missing ones, oldest first. An event
 * that fails does not stop the others.
 * @throws the first failure, after all other events or 3 in a row that could not reach the provider
 */
export async function catchUpEvents(env: Env): Promise<void> {
  const provider = configuredProvider(env)
  if (!provider) return
  const now = new Date()
  if (provider.name !== 'sandbox' && now.getUTCMinutes() !== MINUTE_OF_HOUR) return
  const missing = await provider.missingEvents({
    since: new Date(now.getTime() - LOOK_BACK_MS),
    limit: MAX_EVENTS,
    knownOf: (ids) => knownEvents(env, ids),
  })
  const failures: unknown[] = []
  let unavailable = 0
  for (const listed of missing) {
    try {
      const event = await listed.read()
      // Otherwise, the events of other systems would be read in each run.
      if (event) await applyEvent(env, provider, event)
      else await recordEvent(env, provider, listed)
      unavailable = 0
    } catch (error) {
      log.error('payment event failed', error, { eventId: listed.id })
      failures.push(error)
      const isUnavailable = error instanceof PaymentError && error.code === 'unavailable'
      unavailable = isUnavailable ? unavailable + 1 : 0
      if (unavailable === MAX_UNAVAILABLE) break
    }
  }
  if (missing.length > 0) log.info('payment events caught up', { events: missing.length })
  if (failures.length > 0) throw failures[0]
}
