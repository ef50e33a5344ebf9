// The members of organisations and their roles. Every organisation has an owner at all times.
import { and, asc, eq, sql } from 'drizzle-orm'
import type { SQL } from 'drizzle-orm'
import { auditInsert, changedDetails } from '../access/audit-log.ts'
import {
  accessOf,
  isSelf,
  requireMember,
  requirePermission,
  requireOwnerOrSelf,
} from '../access/authorisation.ts'
import type { OrganisationRequest } from '../access/authorisation.ts'
import { database } from '../db/client.ts'
import { members, users } from '../db/auth-schema.ts'
import type { InvitationRow } from '../db/auth-schema.ts'
import type { Role } from '../domain/role.ts'
import { apiKeys, organisations } from '../db/schema.ts'
import type { OrganisationRow } from '../db/schema.ts'
import { AppError } from '../domain/errors.ts'
import { organisationStub } from '../organisation/stub.ts'
import { checkedLimit, limitText } from './workspace-limit.ts'
import { isActiveKey } from './active-key.ts'
import { revocation } from './api-keys.ts'
import { organisationExists } from '../access/organisation-exists.ts'
import { openInvitationsOf } from './invitations.ts'

export interface Membership {
  organisation: OrganisationRow
  role: Role
  /** The workspaces that the member may access; null for all. */
  workspaceIds: string[] | null
  /** Whether the organisation has a live API key that is not revoked. */
  hasLiveKey: boolean
}

export interface Member {
  userId: string
  email: string
  /** Empty until the user enters one. */
  name: string
  role: Role
  /** The workspaces that the member may access; null for all. */
  workspaceIds: string[] | null
  createdAt: Date
}

type MemberRequest = OrganisationRequest & { userId: string }

/** A user's organisations, the first joined first. */
export async function membershipsOf(env: Env, userId: string): Promise<Membership[]> {
  const rows = await database(env)
    .select({
      organisation: organisations,
      role: members.role,
      workspaceIds: members.workspaceIds,
      hasLiveKey: sql`exists (select 1 from ${apiKeys}
        where ${apiKeys.organisationId} = ${organisations.id} and ${apiKeys.mode} = 'live'
          and ${isActiveKey()})`.mapWith(Boolean),
    })
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
export async function readTeam({
  env,
  actor,
  organisationId,
}: OrganisationRequest): Promise<{ members: Member[]; invitations: InvitationRow[] }> {
  await requireMember({ env, actor, organisationId })
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

const membersOf = (env: Env, organisationId: string, condition?: SQL): Promise<Member[]> =>
  database(env)
    .select({
      userId: members.userId,
      email: users.email,
      name: users.name,
      role: members.role,
      workspaceIds: members.workspaceIds,
      createdAt: members.createdAt,
    })
    .from(members)
    .innerJoin(users, eq(users.id, members.userId))
    .where(and(eq(members.organisationId, organisationId), condition))
    .orderBy(asc(members.createdAt))

/**
 * Removes a member. The last owner cannot be removed. For owners, and for the member, who leaves.
 * @param revokeKeys also revokes the API keys that the member created
 * @returns false when nothing was removed
 * @throws AppError not_found
 */
export async function removeMember({
  env,
  actor,
  organisationId,
  userId,
  revokeKeys,
}: MemberRequest & { revokeKeys: boolean }): Promise<boolean> {
  const member = await readMember({ env, actor, organisationId, userId })
  const db = database(env)
  const removable = and(isMemberRow({ organisationId, userId }), notLastOwner(organisationId))
  const isRemovable = sql`exists (select 1 from ${members} where ${removable})`
  const record = auditInsert(
    env,
    {
      organisationId,
      actor,
      action: isSelf(actor, userId) ? 'member.left' : 'member.removed',
      target: userId,
      details: { email: member.email, role: member.role, keys_revoked: revokeKeys },
    },
    isRemovable,
  )
  const removal = db.delete(members).where(removable)
  if (!revokeKeys) {
    const [, removed] = await db.batch([record, removal])
    return removed.meta.changes > 0
  }
  const which = sql`${apiKeys.createdBy} = ${userId} and ${isRemovable}`
  const keys = revocation({ env, actor, organisationId, which })
  const [, , , removed] = await db.batch([...keys, record, removal])
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
export async function changeRole({
  env,
  actor,
  organisationId,
  userId,
  role,
  workspaceIds = null,
}: MemberRequest & { role: Role; workspaceIds?: string[] | null }): Promise<boolean> {
  await requirePermission({ env, actor, organisationId }, 'administer')
  const member = await readMember({ env, actor, organisationId, userId })
  const limit = await checkedLimit({ env, organisationId, role, workspaceIds })
  const allowed = and(
    isMemberRow({ organisationId, userId }),
    role === 'owner' ? undefined : notLastOwner(organisationId),
  )
  const changes = changedDetails(
    { role: member.role, workspaces: limitText(member.workspaceIds) },
    { role, workspaces: limitText(limit) },
  )
  const [, changed] = await database(env).batch([
    auditInsert(
      env,
      {
        organisationId,
        actor,
        action: 'member.role_changed',
        target: userId,
        details: { email: member.email, ...changes },
      },
      sql`exists (select 1 from ${members} where ${allowed} and (${members.role} <> ${role}
            or ${members.workspaceIds} is not ${limit && JSON.stringify(limit)}))`,
    ),
    database(env).update(members).set({ role, workspaceIds: limit }).where(allowed),
  ])
  return changed.meta.changes > 0
}

const isMemberRow = ({ organisationId, userId }: { organisationId: string; userId: string }) =>
  and(eq(members.organisationId, organisationId), eq(members.userId, userId))

/**
 * An SQL condition of the statement that changes the row, so that the last two owners cannot both leave
 * at the same time. Owners whose account is scheduled for deletion do not count.
 */
const notLastOwner = (organisationId: string) =>
  sql`(${members.role} <> 'owner' or exists (select 1 from members as others
        join users as people on people.id = others.user_id
        where others.organisation_id = ${organisationId} and others.role = 'owner'
          and others.user_id <> ${members.userId} and people.delete_after is null))`
