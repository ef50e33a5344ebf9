// The members of organisations and their roles. Every organisation has an owner at all times.
import { and, asc, eq, sql, type SQL } from 'drizzle-orm'
import { audited, auditInsert, changedDetails } from './audit-log.ts'
import {
  accessOf,
  isSelf,
  requireMember,
  requirePermission,
  requireOwnerOrSelf,
  type OrganisationRequest,
} from './authorisation.ts'
import { organisationExists } from './organisations.ts'
import { database, IF_CHANGED } from '../platform/db/database.ts'
import { members, users } from '../platform/db/auth-schema.ts'
import type { Role } from '../domain/role.ts'
import { apiKeys, organisations } from '../platform/db/schema.ts'
import { AppError } from '../domain/errors.ts'
import { organisationStub } from '../credits/organisation-stub.ts'
import { checkedLimit, limitText } from './workspace-rights.ts'
import { isActiveKey, revocation } from './api-keys.ts'
import { openInvitationsOf } from './invitations.ts'

export type Membership = Awaited<ReturnType<typeof membershipsOf>>[number]
export type Member = Awaited<ReturnType<typeof membersOf>>[number]

type MemberRequest = OrganisationRequest & { userId: string }

/** A user's organisations, the first joined first. `workspaceIds`: which the user may access; null for all. */
export async function membershipsOf(env: Env, userId: string) {
  const { role, workspaceIds } = members
  const hasLiveKey = sql`exists (select 1 from ${apiKeys}
    where ${apiKeys.organisationId} = ${organisations.id} and ${apiKeys.mode} = 'live'
      and ${isActiveKey()})`.mapWith(Boolean)
  const rows = await database(env)
    .select({ organisation: organisations, role, workspaceIds, hasLiveKey })
    .from(members)
    .innerJoin(organisations, eq(organisations.id, members.organisationId))
    .where(and(eq(members.userId, userId), organisationExists()))
    .orderBy(asc(members.createdAt))
  return rows.map((row) => ({ ...row, ...accessOf(row) }))
}

/**
 * Members and open invitations of an organisation, oldest first. For members.
 * @throws AppError not_found
 */
export async function readTeam(request: OrganisationRequest) {
  await requireMember(request)
  const { env, organisationId } = request
  return {
    members: await membersOf(env, organisationId),
    invitations: await openInvitationsOf(env, organisationId),
  }
}

/**
 * One member. For owners, and for the member.
 * @throws AppError not_found
 */
export async function readMember(request: MemberRequest): Promise<Member> {
  await requireOwnerOrSelf(request)
  const { env, organisationId, userId } = request
  const [member] = await membersOf(env, organisationId, eq(members.userId, userId))
  if (!member) throw new AppError('not_found')
  return member
}

function membersOf(env: Env, organisationId: string, condition?: SQL) {
  const { userId, role, workspaceIds, createdAt } = members
  return database(env)
    .select({ userId, email: users.email, name: users.name, role, workspaceIds, createdAt })
    .from(members)
    .innerJoin(users, eq(users.id, userId))
    .where(and(eq(members.organisationId, organisationId), condition))
    .orderBy(asc(createdAt))
}

/**
 * Removes a member. The last owner cannot be removed. For owners, and for the member, who leaves.
 * @param revokeKeys also revokes the API keys that the member created
 * @returns false when nothing was removed
 * @throws AppError not_found
 */
export async function removeMember(request: MemberRequest & { revokeKeys: boolean }) {
  const { env, actor, organisationId, userId, revokeKeys } = request
  const { email, role } = await readMember(request)
  const db = database(env)
  const removable = and(isMemberRow(request), NOT_LAST_OWNER)
  const isRemovable = sql`exists (select 1 from ${members} where ${removable})`
  const action = isSelf(actor, userId) ? 'member.left' : 'member.removed'
  const details = { email, role, keys_revoked: revokeKeys }
  const entry = { ...request, action, target: userId, details } as const
  const removal = db.delete(members).where(removable)
  if (!revokeKeys) return audited(entry, removal)
  const keys = revocation(request, sql`${apiKeys.createdBy} = ${userId} and ${isRemovable}`)
  const [, , removed] = await db.batch([...keys, removal, auditInsert(entry, IF_CHANGED)])
  // If this fails, the keys stop working when the Organisation's snapshot expires, after 30 seconds.
  await organisationStub(env, organisationId).refresh()
  return removed.meta.changes > 0
}

/**
 * Changes a member's role and workspaces. The role of the last owner cannot change. For owners.
 * @param workspaceIds null for all
 * @returns false when nothing was changed
 * @throws AppError not_found; validation_error for an invalid list of workspaces
 */
export async function changeRole(
  request: MemberRequest & { role: Role; workspaceIds?: string[] | null },
): Promise<boolean> {
  const { env, userId, role, workspaceIds = null } = request
  await requirePermission(request, 'administer')
  const member = await readMember(request)
  const limit = await checkedLimit(request, { role, workspaceIds })
  const allowed = and(isMemberRow(request), role === 'owner' ? undefined : NOT_LAST_OWNER)
  const changes = changedDetails(
    { role: member.role, workspaces: limitText(member.workspaceIds) },
    { role, workspaces: limitText(limit) },
  )
  const details = { email: member.email, ...changes }
  const [, changed] = await database(env).batch([
    auditInsert(
      { ...request, action: 'member.role_changed', target: userId, details },
      sql`exists (select 1 from ${members} where ${allowed} and (${members.role} <> ${role}
            or ${members.workspaceIds} is not ${limit && JSON.stringify(limit)}))`,
    ),
    database(env).update(members).set({ role, workspaceIds: limit }).where(allowed),
  ])
  return changed.meta.changes > 0
}

const isMemberRow = ({ organisationId, userId }: MemberRequest) =>
  and(eq(members.organisationId, organisationId), eq(members.userId, userId))

/**
 * An SQL expression that counts the other members in the organisation of a row of `members`. Users whose
 * account is scheduled for deletion do not count.
 */
export const othersOf = (role?: 'owner'): SQL<number> =>
  sql`(select count(*) from members as others join users as people on people.id = others.user_id
       where others.organisation_id = ${members.organisationId} and others.user_id <> ${members.userId}
         and people.delete_after is null ${role ? sql`and others.role = ${role}` : sql``})`

/**
 * An SQL condition of the statement that changes the row, so that the last two owners cannot both leave
 * at the same time.
 */
const NOT_LAST_OWNER = sql`(${members.role} <> 'owner' or ${othersOf('owner')} > 0)`
