// Changes for how many days an organisation's pictures are stored.
import { auditInsert } from '../accounts/audit.ts'
import type { Actor } from '../accounts/audit.ts'
import { membershipsOf } from '../accounts/members.ts'
import { database } from '../db/client.ts'
import { AppError } from '../errors.ts'
import { MAX_RETENTION_DAYS, MIN_RETENTION_DAYS } from '../settings.ts'
import { updateRetention } from './store.ts'

/**
 * In force at the next run of retention: a shorter period deletes pictures within minutes, a longer
 * one applies to pictures that are still stored.
 * @throws AppError not_found unless the actor is an operator or an owner of the organisation, or
 * validation_error
 */
export async function setRetention({
  env,
  actor,
  organisationId,
  days,
}: {
  env: Env
  actor: Actor
  organisationId: string
  days: number
}): Promise<void> {
  if (!(await mayChange(env, actor, organisationId))) throw new AppError('not_found')
  if (!Number.isInteger(days) || days < MIN_RETENTION_DAYS || days > MAX_RETENTION_DAYS) {
    throw new AppError(
      'validation_error',
      `The retention must be ${MIN_RETENTION_DAYS} to ${MAX_RETENTION_DAYS} whole days.`,
    )
  }
  await database(env).batch([
    updateRetention(env, organisationId, days),
    auditInsert(env, {
      organisationId,
      actor,
      action: 'organisation.updated',
      target: organisationId,
      details: { output_retention_days: days },
    }),
  ])
}

async function mayChange(env: Env, actor: Actor, organisationId: string): Promise<boolean> {
  if (actor.type === 'operator') return true
  if (actor.type !== 'user') return false
  const memberships = await membershipsOf(env, actor.userId)
  return memberships.some(
    ({ organisation, role }) => organisation.id === organisationId && role === 'owner',
  )
}
