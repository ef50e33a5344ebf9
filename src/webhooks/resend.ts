// Sending an event again because somebody asks for it, and not by the schedule.
import { log } from '../log.ts'
import { reopenEvent } from './store.ts'

/**
 * Delivers an event once more, whatever came of it before; with retries left, it is tried now
 * instead of later.
 * @returns false when the organisation has no such event or an attempt is being made right now
 */
export async function resendEvent({
  env,
  organisationId,
  eventId,
}: {
  env: Env
  organisationId: string
  eventId: string
}): Promise<boolean> {
  if (!(await reopenEvent(env, organisationId, eventId))) return false
  await env.WEBHOOKS.send({ eventId, manual: true }).catch((error: unknown) =>
    log.error('attempt left to the sweep', error, { eventId }),
  )
  return true
}
