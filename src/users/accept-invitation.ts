// Accepting an invitation. Requires the token of its email, which proves that the address belongs to
// the user who joins. A token works once, and not after the invitation was withdrawn.
import { and, eq, gt, sql } from 'drizzle-orm'
import { database, unlessLost } from '../platform/db/database.ts'
import { invitations, members, users } from '../platform/db/auth-schema.ts'
import { newId } from '../platform/ids.ts'
import { hashToken } from '../platform/signing/token.ts'
import type { UserActor } from '../domain/actor.ts'
import { auditInsert } from '../organisations/audit-log.ts'
import { findInvitation, type OpenInvitation } from '../organisations/invitations.ts'
import { passwordHash } from './password-hash.ts'
import { replacePassword, type PasswordByLink } from './passwords.ts'
import { limitText } from '../organisations/workspace-rights.ts'
import { findUserByEmail, type UserRequest } from './users.ts'

/**
 * Makes the signed-in user a member.
 * @returns the invitation; undefined if it is not open or is for another address
 */
export async function acceptInvitation(request: UserRequest & { token: string }) {
  const { env, actor, token } = request
  const found = await findInvitation(env, token)
  if (found?.invitation.email !== actor.email) return undefined
  const batch = database(env).batch(membership(env, found, token, actor))
  const isLost = async () => !(await findInvitation(env, token))
  return (await unlessLost(batch, isLost)) ? found : undefined
}

const NOT_OPEN = { ok: false, reason: 'not_open' } as const
const HAS_ACCOUNT = { ok: false, reason: 'has_account' } as const

/**
 * Creates a verified account for the invited address and makes it a member. An unverified account with
 * that address may belong to another person: its password is replaced and its sessions end.
 */
export async function joinWithPassword(request: PasswordByLink) {
  const { env, token, password, ipAddress } = request
  const found = await findInvitation(env, token)
  if (!found) return NOT_OPEN
  const { email } = found.invitation
  const existing = await findUserByEmail(env, email)
  if (existing?.emailVerified) return HAS_ACCOUNT

  const userId = existing?.id ?? newId('usr')
  const hash = await passwordHash.hash(password)
  const db = database(env)
  const now = new Date()
  const actor: UserActor = { type: 'user', userId, email, ipAddress }
  try {
    await db.batch([
      db
        .insert(users)
        .values({ id: userId, name: '', email, createdAt: now, updatedAt: now })
        // The organisation name of an earlier sign-up is removed, like its password.
        .onConflictDoUpdate({ target: users.id, set: { organisationName: null } }),
      ...replacePassword(env, { userId, hash, condition: eq(users.emailVerified, false) }),
      ...membership(env, found, token, actor),
    ])
    return { ok: true, joined: found, userId } as const
  } catch (error) {
    if (!(await findInvitation(env, token))) return NOT_OPEN
    // The account was verified or created concurrently, and is not changed.
    if ((await findUserByEmail(env, email))?.emailVerified) return HAS_ACCOUNT
    throw error
  }
}

/** The statements that turn an invitation into a membership. They fail if it is no longer open. */
function membership(env: Env, { invitation }: OpenInvitation, token: string, actor: UserActor) {
  const db = database(env)
  const { organisationId, role, workspaceIds } = invitation
  const isOpen = and(
    eq(invitations.tokenHash, hashToken(token)),
    gt(invitations.expiresAt, new Date()),
  )
  return [
    db
      .insert(members)
      .values({
        // NULL if the invitation was withdrawn or used: the column rejects it, and the batch fails.
        organisationId: sql`(select ${invitations.organisationId} from ${invitations} where ${isOpen})`,
        userId: actor.userId,
        role,
        workspaceIds,
        createdAt: new Date(),
      })
      .onConflictDoNothing({ target: [members.organisationId, members.userId] }),
    db.delete(invitations).where(eq(invitations.id, invitation.id)),
    auditInsert({
      env,
      organisationId,
      actor,
      action: 'member.joined',
      target: actor.userId,
      details: { role, ...(workspaceIds && { workspaces: limitText(workspaceIds) }) },
    }),
  ] as const
}
