// The tables of users: sign-in, memberships, invitations and onboarding. better-auth prescribes the
// columns of the first four.
import { REGIONS } from '../../domain/organisation.ts'
import { NOTIFICATIONS } from '../../domain/notification.ts'
import { ROLES } from '../../domain/role.ts'
import { relations, sql } from 'drizzle-orm'
import {
  foreignKey,
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from 'drizzle-orm/sqlite-core'
import { instant, ofOrganisation } from './schema.ts'

export const users = sqliteTable(
  'users',
  {
    id: text().primaryKey(),
    name: text().notNull(),
    email: text().notNull().unique(),
    emailVerified: integer('email_verified', { mode: 'boolean' }).notNull().default(false),
    image: text(),
    /** As entered at sign-up; null for users who joined by an invitation. */
    organisationName: text('organisation_name'),
    /** The end of the grace period, while the account is scheduled for deletion. */
    deleteAfter: instant('delete_after'),
    /** When cron last tried to delete it; null before the first try. */
    deletionTriedAt: instant('deletion_tried_at'),
    /** Set while sign-ins with the password also require a code of the secret in `totp_secrets`. */
    twoFactorEnabledAt: instant('two_factor_enabled_at'),
    /** Earlier email addresses, which the deletion of the account removes from the audit log. */
    formerEmails: text('former_emails', { mode: 'json' }).$type<string[]>(),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
  },
  (table) => [
    index('users_by_deletion')
      .on(table.deleteAfter)
      .where(sql`delete_after is not null`),
  ],
)

/** A column of rows that are deleted with their user. */
const ofUser = () => text('user_id').references(() => users.id, { onDelete: 'cascade' })

export const sessions = sqliteTable(
  'sessions',
  {
    id: text().primaryKey(),
    token: text().notNull().unique(),
    userId: ofUser().notNull(),
    expiresAt: instant('expires_at').notNull(),
    ipAddress: text('ip_address'),
    userAgent: text('user_agent'),
    createdAt: instant('created_at').notNull(),
    /** The last activity, to ten minutes. */
    updatedAt: instant('updated_at').notNull(),
  },
  (table) => [index('sessions_by_user').on(table.userId)],
)

/** Credentials of users: always a password here. better-auth calls them accounts. */
export const logins = sqliteTable(
  'logins',
  {
    id: text().primaryKey(),
    accountId: text('account_id').notNull(),
    providerId: text('provider_id').notNull(),
    userId: ofUser().notNull(),
    accessToken: text('access_token'),
    refreshToken: text('refresh_token'),
    idToken: text('id_token'),
    accessTokenExpiresAt: instant('access_token_expires_at'),
    refreshTokenExpiresAt: instant('refresh_token_expires_at'),
    scope: text(),
    /** scrypt, with its salt. */
    password: text(),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
  },
  (table) => [index('logins_by_user').on(table.userId)],
)

/** For better-auth, which reads a session with its user, and a user with their logins, in one trip. */
export const RELATED = {
  users,
  sessions,
  logins,
  ofUsers: relations(users, ({ many }) => ({ accounts: many(logins) })),
  ofSessions: relations(sessions, ({ one }) => ({
    user: one(users, { fields: [sessions.userId], references: [users.id] }),
  })),
  ofLogins: relations(logins, ({ one }) => ({
    user: one(users, { fields: [logins.userId], references: [users.id] }),
  })),
}

export const verifications = sqliteTable(
  'verifications',
  {
    id: text().primaryKey(),
    identifier: text().notNull(),
    value: text().notNull(),
    expiresAt: instant('expires_at').notNull(),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
  },
  (table) => [index('verifications_by_identifier').on(table.identifier)],
)

export const members = sqliteTable(
  'members',
  {
    organisationId: ofOrganisation(),
    userId: ofUser().notNull(),
    role: text({ enum: ROLES }).notNull(),
    createdAt: instant('created_at').notNull(),
    /** A JSON array of the workspaces that the member may access; null for all. */
    workspaceIds: text('workspace_ids', { mode: 'json' }).$type<string[]>(),
  },
  (table) => [
    primaryKey({ columns: [table.organisationId, table.userId] }),
    index('members_by_user').on(table.userId),
  ],
)

/** Notifications that a user has switched off: one row each. */
export const mutedNotifications = sqliteTable(
  'muted_notifications',
  {
    userId: ofUser().notNull(),
    /** Null for a kind that concerns the user. */
    organisationId: text('organisation_id'),
    kind: text({ enum: NOTIFICATIONS }).notNull(),
  },
  (table) => [
    // Deleted with the membership.
    foreignKey({
      columns: [table.organisationId, table.userId],
      foreignColumns: [members.organisationId, members.userId],
    }).onDelete('cascade'),
    index('muted_notifications_by_user').on(table.userId, table.organisationId),
  ],
)

/** Open invitations. Accepting or withdrawing an invitation deletes its row. */
export const invitations = sqliteTable(
  'invitations',
  {
    id: text().primaryKey(),
    organisationId: ofOrganisation(),
    email: text().notNull(),
    role: text({ enum: ROLES }).notNull(),
    /** SHA-256 of the token in the link, hexadecimal. */
    tokenHash: text('token_hash').notNull().unique(),
    createdAt: instant('created_at').notNull(),
    expiresAt: instant('expires_at').notNull(),
    /** As for a member. */
    workspaceIds: text('workspace_ids', { mode: 'json' }).$type<string[]>(),
  },
  (table) => [
    uniqueIndex('invitations_by_address').on(table.organisationId, table.email),
    index('invitations_by_email').on(table.email),
  ],
)

/**
 * The latest onboarding of a user, who creates one organisation at a time. The organisation's id is chosen at
 * the start, so that repeated and concurrent requests refer to the same organisation.
 */
export const onboardings = sqliteTable('onboardings', {
  userId: ofUser().primaryKey(),
  organisationId: text('organisation_id').notNull().unique(),
  organisationName: text('organisation_name').notNull(),
  nameConfirmedAt: instant('name_confirmed_at'),
  /** Set once; never changes afterwards. */
  regionCode: text('region_code', { enum: REGIONS }),
  /** When the organisation was created. */
  completedAt: instant('founded_at'),
  createdAt: instant('created_at').notNull(),
})

/** The secrets of authenticator apps. In force while the user's `two_factor_enabled_at` is set. */
export const totpSecrets = sqliteTable('totp_secrets', {
  userId: ofUser().primaryKey(),
  /** Base32, encrypted (users/two-factor). */
  secret: text().notNull(),
  /** The time step of the latest code that was used: it and earlier ones are rejected. */
  lastStep: integer('last_step'),
  createdAt: instant('created_at').notNull(),
})

/** Unused recovery codes. Using a code deletes its row. */
export const recoveryCodes = sqliteTable(
  'recovery_codes',
  {
    /** SHA-256 of the user's id and the code, hexadecimal. */
    hash: text().primaryKey(),
    userId: ofUser().notNull(),
  },
  (table) => [index('recovery_codes_by_user').on(table.userId)],
)

export const passkeys = sqliteTable(
  'passkeys',
  {
    /** The credential id, base64url. */
    id: text().primaryKey(),
    userId: ofUser().notNull(),
    name: text().notNull(),
    /** COSE, base64url. */
    publicKey: text('public_key').notNull(),
    /** The signature counter of the authenticator; 0 for authenticators without one. */
    counter: integer().notNull(),
    createdAt: instant('created_at').notNull(),
    lastUsedAt: instant('last_used_at'),
  },
  (table) => [index('passkeys_by_user').on(table.userId)],
)

export const CHALLENGE_KINDS = ['second_factor', 'email_change', 'used_passkey'] as const

/**
 * What a user must confirm within minutes: a sign-in with a code, or a new email address with a link.
 * Also the challenges that passkeys have signed, so that each works once.
 */
export const challenges = sqliteTable(
  'challenges',
  {
    /** SHA-256 of the token, hexadecimal. */
    id: text().primaryKey(),
    kind: text({ enum: CHALLENGE_KINDS }).notNull(),
    userId: ofUser().notNull(),
    /** The new email address. */
    email: text(),
    expiresAt: instant('expires_at').notNull(),
  },
  (table) => [
    index('challenges_by_user').on(table.userId),
    index('challenges_by_end').on(table.expiresAt),
  ],
)

/** Counts of attempts in their current window, by limit (platform/db/rate-limits). */
export const rateLimits = sqliteTable(
  'attempts',
  {
    key: text().primaryKey(),
    count: integer().notNull(),
    endsAt: instant('ends_at').notNull(),
  },
  (table) => [index('attempts_by_end').on(table.endsAt)],
)

export type PasskeyRow = typeof passkeys.$inferSelect
export type OnboardingRow = typeof onboardings.$inferSelect
export type InvitationRow = typeof invitations.$inferSelect

/** The pages of rejected forms of the release before. It is empty, and the next release drops it. */
export const formerRejectedPages = sqliteTable('rejected_pages', {
  id: text().primaryKey(),
  page: text().notNull(),
  endsAt: instant('ends_at').notNull(),
})
