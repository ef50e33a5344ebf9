// Who belongs to which organisation, and who is invited.
import { and, asc, eq, gt, sql } from 'drizzle-orm'
import { database } from '../db/client.ts'
import { invitations, members, users } from '../db/people.ts'
import type { InvitationRow, Role } from '../db/people.ts'
import { organisations } from '../db/schema.ts'
import type { OrganisationRow } from '../db/schema.ts'
import { newId } from '../ids.ts'
import { sha256 } from '../sha256.ts'

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
    .where(eq(members.userId, userId))
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
  const db = database(env)
  const memberRows = await db
    .select({
      userId: members.userId,
      email: users.email,
      role: members.role,
      createdAt: members.createdAt,
    })
    .from(members)
    .innerJoin(users, eq(users.id, members.userId))
    .where(eq(members.organisationId, organisationId))
    .orderBy(asc(members.createdAt))
  const invitationRows = await db
    .select()
    .from(invitations)
    .where(
      and(eq(invitations.organisationId, organisationId), gt(invitations.expiresAt, new Date())),
    )
    .orderBy(asc(invitations.id))
  return { members: memberRows, invitations: invitationRows }
}

/** The email addresses of an organisation's owners. */
export async function ownerEmailsOf(env: Env, organisationId: string): Promise<string[]> {
  const rows = await database(env)
    .select({ email: users.email })
    .from(members)
    .innerJoin(users, eq(users.id, members.userId))
    .where(and(eq(members.organisationId, organisationId), eq(members.role, 'owner')))
  return rows.map(({ email }) => email)
}

/**
 * Invites an address; inviting it again replaces the earlier invitation.
 * @returns the token for the link, which is stored as a hash only, and the role of the open invitation
 *   that was replaced; null when it is a member already
 */
export async function invite(
  env: Env,
  organisationId: string,
  email: string,
  role: Role,
): Promise<{ token: string; replaced: Role | undefined } | null> {
  const db = database(env)
  const address = email.toLowerCase()
  const known = await db
    .select({ userId: members.userId })
    .from(members)
    .innerJoin(users, eq(users.id, members.userId))
    .where(and(eq(members.organisationId, organisationId), eq(users.email, address)))
  if (known.length > 0) return null
  const [open] = await db
    .select({ role: invitations.role })
    .from(invitations)
    .where(
      and(
        eq(invitations.organisationId, organisationId),
        eq(invitations.email, address),
        gt(invitations.expiresAt, new Date()),
      ),
    )
  const token = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64url')
  const now = new Date()
  const fresh = {
    role,
    tokenHash: hashToken(token),
    createdAt: now,
    expiresAt: new Date(now.getTime() + INVITATION_MS),
  }
  await db
    .insert(invitations)
    .values({ id: newId('inv'), organisationId, email: address, ...fresh })
    .onConflictDoUpdate({ target: [invitations.organisationId, invitations.email], set: fresh })
  return { token, replaced: open?.role }
}

/** @returns undefined when the link is wrong, used, withdrawn or too old */
export async function findInvitation(env: Env, token: string): Promise<OpenInvitation | undefined> {
  const [found] = await database(env)
    .select({ invitation: invitations, organisation: organisations })
    .from(invitations)
    .innerJoin(organisations, eq(organisations.id, invitations.organisationId))
    .where(and(eq(invitations.tokenHash, hashToken(token)), gt(invitations.expiresAt, new Date())))
  return found
}

/** Open invitations to an address; only for whoever has proved that it is theirs. */
export const invitationsTo = (env: Env, email: string): Promise<OpenInvitation[]> =>
  database(env)
    .select({ invitation: invitations, organisation: organisations })
    .from(invitations)
    .innerJoin(organisations, eq(organisations.id, invitations.organisationId))
    .where(and(eq(invitations.email, email.toLowerCase()), gt(invitations.expiresAt, new Date())))

/** Makes a person a member by an invitation to their own address. */
export async function acceptInvitation(
  env: Env,
  invitation: InvitationRow,
  userId: string,
): Promise<void> {
  const db = database(env)
  const { organisationId, role } = invitation
  await db.batch([
    db
      .insert(members)
      .select(
        db
          .select({
            organisationId: invitations.organisationId,
            userId: sql<string>`${userId}`.as('user_id'),
            role: sql<Role>`${role}`.as('role'),
            createdAt: sql<Date>`${Date.now()}`.as('created_at'),
          })
          .from(invitations)
          // Withdrawn at this very moment, it makes nobody a member.
          .where(eq(invitations.id, invitation.id)),
      )
      .onConflictDoNothing(),
    db
      .delete(invitations)
      .where(
        and(eq(invitations.id, invitation.id), eq(invitations.organisationId, organisationId)),
      ),
  ])
}

export async function withdrawInvitation(
  env: Env,
  organisationId: string,
  invitationId: string,
): Promise<boolean> {
  const { meta } = await database(env)
    .delete(invitations)
    .where(and(eq(invitations.id, invitationId), eq(invitations.organisationId, organisationId)))
  return meta.changes > 0
}

/**
 * Removes a member; the last owner stays.
 * @returns false when nothing was removed
 */
export async function removeMember(
  env: Env,
  organisationId: string,
  userId: string,
): Promise<boolean> {
  const { meta } = await database(env)
    .delete(members)
    .where(
      and(
        eq(members.organisationId, organisationId),
        eq(members.userId, userId),
        notLastOwner(organisationId),
      ),
    )
  return meta.changes > 0
}

/**
 * Makes a member an owner or an owner a member; the last owner stays one.
 * @returns false when nothing was changed
 */
export async function changeRole(
  env: Env,
  organisationId: string,
  userId: string,
  role: Role,
): Promise<boolean> {
  const { meta } = await database(env)
    .update(members)
    .set({ role })
    .where(
      and(
        eq(members.organisationId, organisationId),
        eq(members.userId, userId),
        role === 'owner' ? undefined : notLastOwner(organisationId),
      ),
    )
  return meta.changes > 0
}

/** A condition of the change itself: of two owners who go at once, one stays. */
const notLastOwner = (organisationId: string) =>
  sql`(${members.role} <> 'owner' or (select count(*) from members as others
        where others.organisation_id = ${organisationId} and others.role = 'owner') > 1)`

const hashToken = (token: string): string => sha256(token).toString('hex')
