// Exports a user's own data as one JSON document: profile, sign-in methods, sessions and memberships.
// Secrets and public keys are not part of it.
import { eq } from 'drizzle-orm'
import { AppError } from '../domain/errors.ts'
import { invitationsTo } from '../organisations/invitations.ts'
import { membershipsOf } from '../organisations/members.ts'
import { sessions, users } from '../platform/db/auth-schema.ts'
import { database } from '../platform/db/database.ts'
import { readPreferences } from '../users/notification-preferences.ts'
import { listPasskeys } from '../users/passkeys.ts'
import { countRecoveryCodes } from '../users/two-factor.ts'
import type { UserRequest } from '../users/users.ts'
import { fieldsOf } from './export-file.ts'

/** @throws AppError not_found */
export async function exportAccount({ env, actor }: UserRequest): Promise<string> {
  const { userId } = actor
  const db = database(env)
  const user = await db.select().from(users).where(eq(users.id, userId)).get()
  if (!user) throw new AppError('not_found')
  const sessionRows = await db.select().from(sessions).where(eq(sessions.userId, userId))
  const memberships = await membershipsOf(env, userId)
  const passkeys = await listPasskeys(env, userId)
  const invitations = await invitationsTo(env, user.email)
  const notifications = await readPreferences(env, userId)
  const document = {
    exported_at: new Date().toISOString(),
    account: {
      ...fieldsOf(user, 'id', 'email', 'emailVerified', 'name', 'organisationName', 'createdAt'),
      former_emails: user.formerEmails ?? [],
    },
    two_factor: {
      enabled_at: user.twoFactorEnabledAt,
      recovery_codes_left: await countRecoveryCodes(env, userId),
    },
    passkeys: passkeys.map((passkey) => fieldsOf(passkey, 'name', 'createdAt', 'lastUsedAt')),
    sessions: sessionRows.map((session) => ({
      ...fieldsOf(session, 'ipAddress', 'userAgent', 'createdAt', 'expiresAt'),
      last_active_at: session.updatedAt,
    })),
    memberships: memberships.map(({ organisation, role, workspaceIds }) => ({
      organisation_id: organisation.id,
      organisation_name: organisation.name,
      role,
      workspace_ids: workspaceIds,
    })),
    notifications: notifications.map(({ kind, organisation, isOn }) => ({
      kind,
      organisation_id: organisation?.id ?? null,
      is_on: isOn,
    })),
    invitations: invitations.map(({ invitation, organisation }) => ({
      organisation_name: organisation.name,
      ...fieldsOf(invitation, 'role', 'workspaceIds', 'expiresAt'),
    })),
  }
  return JSON.stringify(document, null, 2)
}
