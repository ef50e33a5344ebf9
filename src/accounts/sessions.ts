// Records sign-ins in the audit logs of the user's organisations.
import { database } from '../db/client.ts'
import { auditInsert } from '../access/audit-log.ts'
import type { UserActor } from '../domain/actor.ts'
import { membershipsOf } from './members.ts'

export async function recordSignIn({ env, actor }: { env: Env; actor: UserActor }): Promise<void> {
  const memberships = await membershipsOf(env, actor.userId)
  const [first, ...others] = memberships.map(({ organisation }) =>
    auditInsert(env, { organisationId: organisation.id, actor, action: 'session.created' }),
  )
  if (first) await database(env).batch([first, ...others])
}
