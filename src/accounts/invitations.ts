// Invitations to an organisation: creating, finding and withdrawing them. accounts/accept-invitation
// turns one into a membership.
import { waitUntil } from 'cloudflare:workers'
import { and, asc, eq, gt, sql } from 'drizzle-orm'
import { auditInsert } from '../access/audit-log.ts'
import { requirePermission } from '../access/authorisation.ts'
import type { OrganisationRequest } from '../access/authorisation.ts'
import { database, insertWhere } from '../db/client.ts'
import { invitations, members, users } from '../db/auth-schema.ts'
import type { InvitationRow } from '../db/auth-schema.ts'
import type { Role } from '../domain/role.ts'
import { organisations } from '../db/schema.ts'
import type { OrganisationRow } from '../db/schema.ts'
import { AppError } from '../domain/errors.ts'
import { DAY_MS } from '../domain/limits.ts'
import { newId } from '../ids.ts'
import { sendEmail } from '../mail/send.ts'
import { invitationEmail } from '../mail/templates.tsx'
import { sha256 } from '../signing/sha256.ts'
import { organisationExists } from '../access/organisation-exists.ts'
import { checkedLimit, limitText } from './workspace-limit.ts'
import { MAX_MEMBERS, MAX_OPEN_INVITATIONS, memberLimitReached } from './limits.ts'

const INVITATION_MS = 7 * DAY_MS

export interface OpenInvitation {
  invitation: InvitationRow
  organisation: OrganisationRow
}

/**
 * Invites an address by email; inviting it again replaces the open invitation. For owners. The token
 * of the link is stored as a hash only.
 * @param baseUrl the start of the link
 * @returns the role of the invitation that was replaced; null when the address belongs to a member
 * @throws AppError not_found; validation_error at the limit of members and invitations, or for
 *   an invalid list of workspaces
 */
export async function invite({
  env,
  actor,
  organisationId,
  organisationName,
  baseUrl,
  email,
  role,
  workspaceIds = null,
}: OrganisationRequest & {
  organisationName: string
  baseUrl: string
  email: string
  role: Role
  /** Null for all. */
  workspaceIds?: string[] | null
}): Promise<{ replaced: Role | undefined } | null> {
  await requirePermission({ env, actor, organisationId }, 'administer')
  const db = database(env)
  const address = email.toLowerCase()
  const existingMembers = await db
    .select({ userId: members.userId })
    .from(members)
    .innerJoin(users, eq(users.id, members.userId))
    .where(and(eq(members.organisationId, organisationId), eq(users.email, address)))
  if (existingMembers.length > 0) return null
  const limit = await checkedLimit({ env, organisationId, role, workspaceIds })
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
  const invitation = {
    id: newId('inv'),
    role,
    workspaceIds: limit,
    tokenHash: hashToken(token),
    createdAt: now,
    expiresAt: new Date(now.getTime() + INVITATION_MS),
  }
  const otherInvitations = sql`(select count(*) from ${invitations}
    where ${invitations.organisationId} = ${organisationId} and ${invitations.email} <> ${address}
      and ${invitations.expiresAt} > ${now.getTime()})`
  const currentMembers = sql`(select count(*) from ${members}
    where ${members.organisationId} = ${organisationId})`
  const [created] = await db.batch([
    insertWhere(
      env,
      invitations,
      { organisationId, email: address, ...invitation },
      sql`${otherInvitations} < ${MAX_OPEN_INVITATIONS}
        and ${currentMembers} + ${otherInvitations} < ${MAX_MEMBERS}`,
    ).onConflictDoUpdate({
      target: [invitations.organisationId, invitations.email],
      set: invitation,
    }),
    auditInsert(
      env,
      {
        organisationId,
        actor,
        action: 'invitation.created',
        target: invitation.id,
        details: { email: address, role, ...(limit && { workspaces: limitText(limit) }) },
      },
      sql`exists (select 1 from ${invitations} where ${invitations.id} = ${invitation.id})`,
    ),
  ])
  if (created.meta.changes === 0) throw memberLimitReached()
  const message = invitationEmail({
    link: `${baseUrl}/console/invitations/${token}`,
    organisationName,
    invitedBy: actor.type === 'user' ? actor.email : 'An operator',
  })
  waitUntil(sendEmail({ env, to: address, email: message }))
  return { replaced: open?.role }
}

/** The open invitations of an organisation, oldest first. */
export const openInvitationsOf = (env: Env, organisationId: string): Promise<InvitationRow[]> =>
  database(env)
    .select()
    .from(invitations)
    .where(
      and(eq(invitations.organisationId, organisationId), gt(invitations.expiresAt, new Date())),
    )
    .orderBy(asc(invitations.id))

/** @returns undefined when the token is invalid, used or expired, or the invitation was withdrawn */
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

/** Open invitations to a verified address. Accepting one requires the token of its email. */
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
  await requirePermission({ env, actor, organisationId }, 'administer')
  const db = database(env)
  const isInvitation = and(
    eq(invitations.id, invitationId),
    eq(invitations.organisationId, organisationId),
  )
  const [invitation] = await db.select().from(invitations).where(isInvitation)
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
      sql`exists (select 1 from ${invitations} where ${isInvitation})`,
    ),
    db.delete(invitations).where(isInvitation),
  ])
  if (withdrawn.meta.changes === 0) throw new AppError('not_found')
}

/** Invitation tokens are stored as hashes only. */
export const hashToken = (token: string): string => sha256(token).toString('hex')
