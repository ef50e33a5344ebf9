// Invitations to an organisation: creating, finding and withdrawing them. users/accept-invitation
// turns one into a membership.
import { waitUntil } from 'cloudflare:workers'
import { and, asc, eq, gt, sql, type SQL } from 'drizzle-orm'
import { audited } from './audit-log.ts'
import { requirePermission, type OrganisationRequest } from './authorisation.ts'
import { organisationExists } from './organisations.ts'
import { database, insertWhere } from '../platform/db/database.ts'
import { invitations, members, users, type InvitationRow } from '../platform/db/auth-schema.ts'
import type { Role } from '../domain/role.ts'
import { organisations } from '../platform/db/schema.ts'
import { AppError } from '../domain/errors.ts'
import { DAY_MS } from '../domain/limits.ts'
import { newId } from '../platform/ids.ts'
import { sendEmail } from '../mail/send.ts'
import { invitationEmail } from '../mail/templates.tsx'
import { hashToken, randomToken } from '../platform/signing/token.ts'
import { checkedLimit, limitText } from './workspace-rights.ts'
import { MAX_MEMBERS, MAX_OPEN_INVITATIONS, memberLimitReached } from './organisation-limits.ts'

const INVITATION_MS = 7 * DAY_MS

export type OpenInvitation = Awaited<ReturnType<typeof findOpen>>[number]

/**
 * Invites an address by email; inviting it again replaces the open invitation. For owners. The token
 * of the link is stored as a hash only.
 * @param baseUrl the start of the link
 * @returns the role of the invitation that was replaced; null when the address belongs to a member
 * @throws AppError not_found; validation_error at the limit of members and invitations, or for
 *   an invalid list of workspaces
 */
export async function invite(
  request: OrganisationRequest & {
    organisationName: string
    baseUrl: string
    email: string
    role: Role
    /** Null for all. */
    workspaceIds?: string[] | null
  },
): Promise<{ replaced: Role | undefined } | null> {
  await requirePermission(request, 'administer')
  const { env, actor, organisationId, organisationName, baseUrl, email, role } = request
  const { workspaceIds = null } = request
  const db = database(env)
  const address = email.toLowerCase()
  const existingMembers = await db
    .select({ userId: members.userId })
    .from(members)
    .innerJoin(users, eq(users.id, members.userId))
    .where(and(eq(members.organisationId, organisationId), eq(users.email, address)))
  if (existingMembers.length > 0) return null
  const limit = await checkedLimit(request, { role, workspaceIds })
  const now = new Date()
  const [open] = await db
    .select({ role: invitations.role })
    .from(invitations)
    .where(
      and(eq(invitations.organisationId, organisationId), eq(invitations.email, address), isOpen()),
    )
  const token = randomToken()
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
  const workspaces = limit && { workspaces: limitText(limit) }
  const details = { email: address, role, ...workspaces }
  const isCreated = await audited(
    { ...request, action: 'invitation.created', target: invitation.id, details },
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
  )
  if (!isCreated) throw memberLimitReached()
  const link = `${baseUrl}/console/invitations/${token}`
  const invitedBy = actor.type === 'user' ? actor.email : 'An operator'
  const content = invitationEmail(organisationName, invitedBy)
  waitUntil(sendEmail({ env, to: address, link, email: content }))
  return { replaced: open?.role }
}

const isOpen = () => gt(invitations.expiresAt, new Date())

/** The open invitations of an organisation, oldest first. */
export const openInvitationsOf = (env: Env, organisationId: string): Promise<InvitationRow[]> =>
  database(env)
    .select()
    .from(invitations)
    .where(and(eq(invitations.organisationId, organisationId), isOpen()))
    .orderBy(asc(invitations.id))

/** @returns undefined when the token is invalid, used or expired, or the invitation was withdrawn */
export async function findInvitation(env: Env, token: string) {
  const [found] = await findOpen(env, eq(invitations.tokenHash, hashToken(token)))
  return found
}

/** Open invitations to a verified address. Accepting one requires the token of its email. */
export const invitationsTo = (env: Env, email: string) =>
  findOpen(env, eq(invitations.email, email.toLowerCase()))

const findOpen = (env: Env, condition: SQL) =>
  database(env)
    .select({ invitation: invitations, organisation: organisations })
    .from(invitations)
    .innerJoin(organisations, eq(organisations.id, invitations.organisationId))
    .where(and(condition, isOpen(), organisationExists()))

/**
 * Withdraws an open invitation. For owners.
 * @throws AppError not_found
 */
export async function withdrawInvitation(request: OrganisationRequest & { invitationId: string }) {
  const { env, organisationId, invitationId } = request
  await requirePermission(request, 'administer')
  const db = database(env)
  const isInvitation = and(
    eq(invitations.id, invitationId),
    eq(invitations.organisationId, organisationId),
  )
  const [invitation] = await db.select().from(invitations).where(isInvitation)
  if (!invitation) throw new AppError('not_found')
  const details = { email: invitation.email, role: invitation.role }
  const isWithdrawn = await audited(
    { ...request, action: 'invitation.withdrawn', target: invitationId, details },
    db.delete(invitations).where(isInvitation),
  )
  if (!isWithdrawn) throw new AppError('not_found')
}
