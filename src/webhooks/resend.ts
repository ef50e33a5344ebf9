// Resends an event at the request of its organisation, outside the schedule.
import { requirePermission } from '../access/authorisation.ts'
import type { OrganisationRequest } from '../access/authorisation.ts'
import { log } from '../log.ts'
import { findEvent } from './lists.ts'
import { reopenEvent } from './store.ts'

/**
 * Delivers an event again, with any status. An event that waits for a retry is attempted immediately.
 * For the permission `develop`.
 * @returns false when the organisation has no such event, or an attempt is in progress
 * @throws AppError not_found
 */
export async function resendEvent({
  env,
  actor,
  organisationId,
  eventId,
}: OrganisationRequest & { eventId: string }): Promise<boolean> {
  const { workspaceIds } = await requirePermission({ env, actor, organisationId }, 'develop')
  if (workspaceIds && !(await findEvent(env, { organisationId, eventId, workspaceIds })))
    return false
  if (!(await reopenEvent(env, { organisationId, eventId }))) return false
  await env.WEBHOOKS.send({ eventId, manual: true }).catch((error: unknown) =>
    log.error('attempt not queued', error, { eventId }),
  )
  return true
}
