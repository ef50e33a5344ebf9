// Who belongs to which organisation, and who is invited.
import { and, asc, eq, gt, sql } from 'drizzle-orm'
import type { SQL } from 'drizzle-orm'
import { database, insertWhere } from '../db/client.ts'
import { invitations, members, users } from '../db/auth-schema.ts'
import type { InvitationRow, Role } from '../db/auth-schema.ts'
import { apiKeys, organisations } from '../db/schema.ts'
import type { OrganisationRow } from '../db/schema.ts'
import { AppError } from '../domain/errors.ts'
import { newId } from '../ids.ts'
import { organisationStub } from '../organisation/stub.ts'
import { sha256 } from '../signing/sha256.ts'
import { revocation } from './api-keys.ts'
import { auditInsert } from '../access/audit-log.ts'
import { requireOwner } from '../access/authorisation.ts'
import type { OrganisationRequest } from '../access/authorisation.ts'
import { MAX_MEMBERS, MAX_OPEN_INVITATIONS, memberLimitReached } from './limits.ts'
import { organisationExists } from './grace-period.ts'

const INVITATION_MS = 7 * 24 * 60 * 60_000

export interface Membership {
  organisation: OrganisationRow
  role: Role
}

export interface OpenInvitation {
  invitation: InvitationRow
  organisation: OrganisationRow
}

/** The organisations of a person, the one joined first at the front. */
export const membershipsOf = (env: Env, userId: string): Promise<Membership[]> =>
  database(env)
    .select({ organisation: organisations, role: members.role })
    .from(members)
    .innerJoin(organisations, eq(organisations.id, members.organisationId))
    .where(and(eq(members.userId, userId), organisationExists()))
    .orderBy(asc(members.createdAt))

export interface Member {
  userId: string
  email: string
  role: Role
  createdAt: Date
}

/** Members and open invitations of an organisation, oldest first. */
export async function teamOf(
  env: Env,
  organisationId: string,
): Promise<{ members: Member[]; invitations: InvitationRow[] }> {
  const invitationRows = await database(env)
    .select()
    .from(invitations)
    .where(
      and(eq(invitations.organisationId, organisationId), gt(invitations.expiresAt, new Date())),
    )
    .orderBy(asc(invitations.id))
  return { members: await memberRows(env, organisationId), invitations: invitationRows }
}

const memberRows = (env: Env, organisationId: string, which?: SQL): Promise<Member[]> =>
  database(env)
    .select({
      userId: members.userId,
      email: users.email,
      role: members.role,
      createdAt: members.createdAt,
    })
    .from(members)
    .innerJoin(users, eq(users.id, members.userId))
    .where(and(eq(members.organisationId, organisationId), which))
    .orderBy(asc(members.createdAt))

/**
 * Invites an address; inviting it again replaces the earlier invitation. For owners.
 * @returns the token for the link, which is stored as a hash only, and the role of the open invitation
 *   that was replaced; null when the address belongs to a member
 * @throws AppError not_found; validation_error when the organisation has as many as it can have
 */
export async function invite({
  env,
  actor,
  organisationId,
  email,
  role,
}: OrganisationRequest & { email: string; role: Role }): Promise<{
  token: string
  replaced: Role | undefined
} | null> {
  await requireOwner({ env, actor, organisationId })
  const db = database(env)
  const address = email.toLowerCase()
  const known = await db
    .select({ userId: members.userId })
    .from(members)
    .innerJoin(users, eq(users.id, members.userId))
    .where(and(eq(members.organisationId, organisationId), eq(users.email, address)))
  if (known.length > 0) return null
  const now = new Date()
  const [open] = await db
    .select({ role: invitations.role })
    .from(invitations)
    .where(
      and(
        eq(invitations.organisationId, organisationId),
        eq(invitations.email, address),
        gt(invitations.expiresAt, now),
      ),
    )
  const token = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64url')
  const fresh = {
    id: newId('inv'),
    role,
    tokenHash: hashToken(token),
    createdAt: now,
    expiresAt: new Date(now.getTime() + INVITATION_MS),
  }
  const others = sql`(select count(*) from ${invitations}
    where ${invitations.organisationId} = ${organisationId} and ${invitations.email} <> ${address}
      and ${invitations.expiresAt} > ${now.getTime()})`
  const current = sql`(select count(*) from ${members}
    where ${members.organisationId} = ${organisationId})`
  const [created] = await db.batch([
    insertWhere(
      env,
      invitations,
      { organisationId, email: address, ...fresh },
      sql`${others} < ${MAX_OPEN_INVITATIONS} and ${current} + ${others} < ${MAX_MEMBERS}`,
    ).onConflictDoUpdate({ target: [invitations.organisationId, invitations.email], set: fresh }),
    auditInsert(
      env,
      {
        organisationId,
        actor,
        action: 'invitation.created',
        target: fresh.id,
        details: { email: address, role },
      },
      sql`exists (select 1 from ${invitations} where ${invitations.id} = ${fresh.id})`,
    ),
  ])
  if (created.meta.changes === 0) throw memberLimitReached()
  return { token, replaced: open?.role }
}

/** @returns undefined when the link is wrong, used, withdrawn or too old */
export async function findInvitation(env: Env, token: string): Promise<OpenInvitation | undefined> {
  const [found] = await database(env)
    .select({ invitation: invitations, organisation: organisations })
    .from(invitations)
    .innerJoin(organisations, eq(organisations.id, invitations.organisationId))
    .where(
      and(
        eq(invitations.tokenHash, hashToken(token)),
        gt(invitations.expiresAt, new Date()),
        organisationExists(),
      ),
    )
  return found
}

/** Open invitations to a verified address. They are accepted by the token of their mail only. */
export const invitationsTo = (env: Env, email: string): Promise<OpenInvitation[]> =>
  database(env)
    .select({ invitation: invitations, organisation: organisations })
    .from(invitations)
    .innerJoin(organisations, eq(organisations.id, invitations.organisationId))
    .where(
      and(
        eq(invitations.email, email.toLowerCase()),
        gt(invitations.expiresAt, new Date()),
        organisationExists(),
      ),
    )

/**
 * Withdraws an open invitation. For owners.
 * @throws AppError not_found
 */
export async function withdrawInvitation({
  env,
  actor,
  organisationId,
  invitationId,
}: OrganisationRequest & { invitationId: string }): Promise<void> {
  await requireOwner({ env, actor, organisationId })
  const db = database(env)
  const the = and(eq(invitations.id, invitationId), eq(invitations.organisationId, organisationId))
  const [invitation] = await db.select().from(invitations).where(the)
  if (!invitation) throw new AppError('not_found')
  const [, withdrawn] = await db.batch([
    auditInsert(
      env,
      {
        organisationId,
        actor,
        action: 'invitation.withdrawn',
        target: invitationId,
        details: { email: invitation.email, role: invitation.role },
      },
      sql`exists (select 1 from ${invitations} where ${the})`,
    ),
    db.delete(invitations).where(the),
  ])
  if (withdrawn.meta.changes === 0) throw new AppError('not_found')
}

/** One member. @returns undefined when the user does not belong to the organisation */
export async function findMember(
  env: Env,
  organisationId: string,
  userId: string,
): Promise<Member | undefined> {
  const [member] = await memberRows(env, organisationId, eq(members.userId, userId))
  return member
}

/**
 * Removes a member, or lets one leave; the last owner stays. For owners, and for the member.
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
}: OrganisationRequest & { userId: string; revokeKeys: boolean }): Promise<boolean> {
  const isLeaving = actor.type === 'user' && actor.userId === userId
  if (!isLeaving) await requireOwner({ env, actor, organisationId })
  const member = await findMember(env, organisationId, userId)
  if (!member) throw new AppError('not_found')
  const db = database(env)
  const removable = and(isMemberRow(organisationId, userId), notLastOwner(organisationId))
  const isRemovable = sql`exists (select 1 from ${members} where ${removable})`
  const record = auditInsert(
    env,
    {
      organisationId,
      actor,
      action: isLeaving ? 'member.left' : 'member.removed',
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
  // If this fails, the keys are refused within 30 seconds all the same.
  await organisationStub(env, organisationId).refresh()
  return removed.meta.changes > 0
}

/**
 * Makes a member an owner or an owner a member; the last owner stays one. For owners.
 * @returns false when nothing was changed
 * @throws AppError not_found
 */
export async function changeRole({
  env,
  actor,
  organisationId,
  userId,
  role,
}: OrganisationRequest & { userId: string; role: Role }): Promise<boolean> {
  await requireOwner({ env, actor, organisationId })
  const member = await findMember(env, organisationId, userId)
  if (!member) throw new AppError('not_found')
  const allowed = and(
    isMemberRow(organisationId, userId),
    role === 'owner' ? undefined : notLastOwner(organisationId),
  )
  const [, changed] = await database(env).batch([
    auditInsert(
      env,
      {
        organisationId,
        actor,
        action: 'member.role_changed',
        target: userId,
        details: { email: member.email, role_old: member.role, role_new: role },
      },
      sql`exists (select 1 from ${members} where ${allowed} and ${members.role} <> ${role})`,
    ),
    database(env).update(members).set({ role }).where(allowed),
  ])
  return changed.meta.changes > 0
}

const isMemberRow = (organisationId: string, userId: string) =>
  and(eq(members.organisationId, organisationId), eq(members.userId, userId))

/**
 * A condition of the change itself: of two owners who go at once, one stays. Owners whose account is
 * scheduled for deletion do not count.
 */
const notLastOwner = (organisationId: string) =>
  sql`(${members.role} <> 'owner' or exists (select 1 from members as others
        join users as people on people.id = others.user_id
        where others.organisation_id = ${organisationId} and others.role = 'owner'
          and others.user_id <> ${members.userId} and people.delete_after is null))`

/** Invitation tokens are stored as hashes only. */
export const hashToken = (token: string): string => sha256(token).toString('hex')
