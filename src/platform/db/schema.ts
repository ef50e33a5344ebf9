// The tables of D1, except those of users (auth-schema.ts), webhooks (webhook-schema.ts) and billing
// (billing-schema.ts).
// `npm run db:generate` writes their SQL to migrations/.
// Instants are stored as milliseconds since 1970; the API uses ISO 8601.
import { sql } from 'drizzle-orm'
import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { ACTOR_TYPES } from '../../domain/actor.ts'
import { FAILURE_AUDIENCES } from '../../domain/failure.ts'
import { IMAGE_FORMATS } from '../../domain/image.ts'
import { JOB_ERROR_CODES, JOB_STATUSES, MODES } from '../../domain/job.ts'
import { KEY_ACCESS } from '../../domain/key-limits.ts'
import { DEFAULT_RETENTION_DAYS } from '../../domain/limits.ts'
import {
  ORGANISATION_STATUSES,
  PLANS,
  REGIONS,
  WORKSPACE_STATUSES,
} from '../../domain/organisation.ts'

/**
 * The conditions of the partial indexes of jobs. SQLite uses such an index only for a query with the same
 * text, without bound values.
 */
export const IS_FINAL = sql`status in ('completed', 'failed', 'cancelled', 'refunded')`
/** A job is in this index from its submission until its end, which sets NO_SWEEP. */
export const IS_IN_SWEEP_INDEX = sql`sweep_at > 0`
/**
 * Excludes the few finished jobs in that index: those that the version before it ended after the migration. A
 * query with IS_IN_SWEEP_INDEX needs it, unless it selects one status.
 */
export const IS_UNFINISHED = sql`status in ('pending', 'processing')`

export const instant = (name: string) => integer(name, { mode: 'timestamp_ms' })

/** An instant that is 0 in a row that does not set it. */
export const instantOrZero = (name: string) =>
  instant(name)
    .notNull()
    .default(sql`0`)

export const organisations = sqliteTable(
  'organisations',
  {
    id: text().primaryKey(),
    name: text().notNull(),
    status: text({ enum: ORGANISATION_STATUSES }).notNull().default('active'),
    /** Shown to its members while it is suspended. */
    suspensionReason: text('suspension_reason'),
    plan: text({ enum: PLANS }).notNull(),
    /** Determines the currency. Never changes. */
    regionCode: text('region_code', { enum: REGIONS }).notNull(),
    /** Requests per minute. Follows the plan unless `rateLimitOverridden`. */
    rateLimitPerMinute: integer('rate_limit_per_minute').notNull(),
    /** Whether an operator has set the rate limit. */
    rateLimitOverridden: integer('rate_limit_overridden', { mode: 'boolean' })
      .notNull()
      .default(false),
    /**
     * This column and the next three belong to the release before the default endpoints. They are only copied
     * to these (webhooks/endpoints/default-endpoint). The next release drops them.
     */
    defaultWebhookUrl: text('default_webhook_url'),
    webhookSecret: text('webhook_secret').notNull(),
    webhookSecretPrevious: text('webhook_secret_previous'),
    webhookSecretPreviousUntil: instant('webhook_secret_previous_until'),
    autoReloadEnabled: integer('auto_reload_enabled', { mode: 'boolean' }).notNull().default(false),
    /** A payment starts when the balance is below this, credits. Null: the default. */
    autoReloadThreshold: integer('auto_reload_threshold'),
    /** The credits that one payment buys. Null: the default. */
    autoReloadPack: integer('auto_reload_pack'),
    /** The maximum of all automatic payments in a calendar month (UTC), minor units. Null: the default. */
    autoReloadMonthlyMax: integer('auto_reload_monthly_max'),
    /** The highest monthly maximum that owners can set, minor units. Operators set it. Null: the default. */
    autoReloadCeiling: integer('auto_reload_ceiling'),
    /** Days for which pictures and the URLs of their jobs are stored: 1 to 365. */
    outputRetentionDays: integer('output_retention_days').notNull().default(DEFAULT_RETENTION_DAYS),
    /** When retention processes this organisation next. */
    retentionDueAt: instantOrZero('retention_due_at'),
    /** Pictures and URLs of jobs up to this id are deleted. */
    picturesPurgedTo: text('pictures_purged_to'),
    /** Test jobs up to this id are deleted. */
    testJobsPurgedTo: text('test_jobs_purged_to'),
    /** The end of the grace period, while the organisation is scheduled for deletion. */
    deleteAfter: instant('delete_after'),
    /** When cron last tried to delete it; null before the first try. */
    deletionTriedAt: instant('deletion_tried_at'),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [
    index('organisations_by_retention').on(table.retentionDueAt),
    index('organisations_by_deletion')
      .on(table.deleteAfter)
      .where(sql`delete_after is not null`),
  ],
)

export const ofOrganisation = () =>
  text('organisation_id')
    .notNull()
    .references(() => organisations.id)

export const workspaces = sqliteTable(
  'workspaces',
  {
    id: text().primaryKey(),
    organisationId: ofOrganisation(),
    name: text().notNull(),
    status: text({ enum: WORKSPACE_STATUSES }).notNull().default('active'),
    createdAt: instant('created_at').notNull(),
    /** The maximum of credits in a calendar month (UTC); null for none. */
    monthlyCredits: integer('monthly_credits'),
  },
  (table) => [index('workspaces_by_organisation').on(table.organisationId, table.id)],
)

export const apiKeys = sqliteTable(
  'api_keys',
  {
    id: text().primaryKey(),
    organisationId: ofOrganisation(),
    mode: text({ enum: MODES }).notNull(),
    name: text().notNull(),
    /** SHA-256 of the key, hexadecimal. The key itself is not stored. */
    hash: text().notNull(),
    lastFour: text('last_four').notNull(),
    /** The user who created it; null for an operator. */
    createdBy: text('created_by'),
    createdAt: instant('created_at').notNull(),
    /** In the future for a key that expires or is being replaced: it is active until then. */
    revokedAt: instant('revoked_at'),
    /** Accurate to five minutes; null when the key was never used. */
    lastUsedAt: instant('last_used_at'),
    access: text({ enum: KEY_ACCESS }).notNull().default('full'),
    /** The only workspace that the key reaches; null for all. */
    workspaceId: text('workspace_id'),
    /** The maximum of credits in a calendar month (UTC); null for none. */
    monthlyCredits: integer('monthly_credits'),
    /** The key that counts for the limit: the first one that this key replaces; null for this key. */
    countId: text('count_id'),
  },
  (table) => [index('api_keys_by_organisation').on(table.organisationId, table.id)],
)

/**
 * One row per submission. `credits_consumed` and `output_url` of the API are derived from the status.
 * No foreign keys: each would add a lookup to the most frequent insert, and the Organisation has
 * checked both ids.
 */
export const jobs = sqliteTable(
  'jobs',
  {
    id: text().primaryKey(),
    organisationId: text('organisation_id').notNull(),
    workspaceId: text('workspace_id').notNull(),
    mode: text({ enum: MODES }).notNull(),
    status: text({ enum: JOB_STATUSES }).notNull(),
    /** This URL and the next two are null once the job's pictures are deleted. */
    modelImageUrl: text('model_image_url'),
    garmentImageUrl: text('garment_image_url'),
    webhookUrl: text('webhook_url'),
    /** The origin of the client's request. Links that are created outside a request start with it. */
    baseUrl: text('base_url').notNull(),
    /**
     * The id of the API key that submitted the job, or `console`. Null for jobs that are older than this
     * column.
     */
    apiKeyId: text('api_key_id'),
    createdAt: instant('created_at').notNull(),
    startedAt: instant('started_at'),
    completedAt: instant('completed_at'),
    /** When the client cancelled the job or the service withdrew it; null for every other end. */
    cancelledAt: instant('cancelled_at'),
    durationMs: integer('duration_ms'),
    /** The latest failure; shown to the client once the job's status is failed. */
    errorCode: text('error_code', { enum: JOB_ERROR_CODES }),
    outputFormat: text('output_format', { enum: IMAGE_FORMATS }),
    /**
     * The engine that generated the picture. Until then, the paid engine of the latest start, which is
     * written before the start, so that it is known after a crash.
     */
    engine: text(),
    /** The handle of the work while it runs at the engine. */
    engineHandle: text('engine_handle'),
    /**
     * Starts at paid engines whose outcome is unknown and that may have been charged. A start is
     * counted before it is made, until its outcome is known (jobs/processing/claimed-job).
     */
    ambiguousStarts: integer('ambiguous_starts').notNull().default(0),
    /** The number of attempts that have started. */
    attempts: integer().notNull().default(0),
    /** When any consumer can claim the job. While processing, this is the end of the consumer's lease. */
    dueAt: instant('due_at').notNull(),
    /**
     * While unfinished: when the sweep requeues a pending job; 0 after the end. A claim does not change it,
     * since that would write the index again: `due_at` delays the sweep of a processing job.
     */
    sweepAt: instantOrZero('sweep_at'),
    /**
     * Why the latest failure happened: at most 300 bytes without URLs and secrets; null once the job's
     * pictures are deleted. Never in `/v1` or webhooks.
     */
    failureReason: text('failure_reason'),
    /** Who may read `failureReason`. */
    failureAudience: text('failure_audience', { enum: FAILURE_AUDIENCES }),
    /**
     * For a test event of the console, the only receiver of its event: the id of an added endpoint, or
     * `default`. Null for every other job.
     */
    testEventFor: text('test_event_for'),
    /**
     * The id of the request that submitted the job, for the log and the console. Null for jobs that are
     * older than this column. Never in `/v1` or webhooks.
     */
    requestId: text('request_id'),
  },
  (table) => [
    // One index per combination of filters, so that a list reads only the rows of its page.
    index('jobs_by_organisation').on(table.organisationId, table.id),
    index('jobs_by_workspace').on(table.organisationId, table.workspaceId, table.id),
    // Jobs enter the indexes of statuses at their end, and leave the index of unfinished jobs. A claim
    // writes no index: no indexed column changes, and no condition contains a column that changes.
    index('jobs_by_status').on(table.organisationId, table.status, table.id).where(IS_FINAL),
    index('jobs_by_workspace_status')
      .on(table.organisationId, table.workspaceId, table.status, table.id)
      .where(IS_FINAL),
    index('jobs_unfinished').on(table.organisationId, table.id).where(IS_IN_SWEEP_INDEX),
  ],
)

/** The address of the member or guest whom an entry is about. An index has the same expression. */
export const AUDIT_EMAIL = sql`details ->> 'email'`

/** Who did what, and when. Rows are deleted after 400 days; only deleting an account updates them. */
export const auditLog = sqliteTable(
  'audit_log',
  {
    id: text().primaryKey(),
    organisationId: text('organisation_id').notNull(),
    at: instant('at').notNull(),
    actorType: text('actor_type', { enum: ACTOR_TYPES }).notNull(),
    /** The id of the user or the API key; null for an operator and for the service itself. */
    actorId: text('actor_id'),
    /** The user's email address at that time. */
    actorEmail: text('actor_email'),
    /** Such as `api_key.created`. */
    action: text().notNull(),
    /** The id of the object of the action. */
    target: text(),
    /** A JSON object; never a secret. */
    details: text({ mode: 'json' }).$type<Record<string, string | number | boolean | null>>(),
    ipAddress: text('ip_address'),
  },
  (table) => [
    index('audit_log_by_organisation').on(table.organisationId, table.id),
    index('audit_log_by_action').on(table.organisationId, table.action, table.id),
    // The actor comes first, so that deleting an account finds its entries in all organisations.
    index('audit_log_by_actor').on(table.actorId, table.organisationId, table.id),
    index('audit_log_by_email')
      .on(AUDIT_EMAIL)
      .where(sql`${AUDIT_EMAIL} is not null`),
  ],
)

/** Claims of free credits: one row per registrable domain, or per address without one. */
export const freeCreditClaims = sqliteTable('free_credit_claims', {
  claimant: text().primaryKey(),
  organisationId: text('organisation_id').notNull(),
  createdAt: instant('created_at').notNull(),
})

/** The accounting record of a deleted organisation, required by law. Contains no personal data. */
export const closedOrganisations = sqliteTable('closed_organisations', {
  id: text().primaryKey(),
  name: text().notNull(),
  regionCode: text('region_code', { enum: REGIONS }).notNull(),
  plan: text({ enum: PLANS }).notNull(),
  createdAt: instant('created_at').notNull(),
  closedAt: instant('closed_at').notNull(),
  /** Credits over its lifetime. */
  granted: integer().notNull(),
  consumed: integer().notNull(),
  /** Every grant with its time, amount, reference and reason. */
  grants: text({ mode: 'json' })
    .$type<{ at: string; amount: number; reference: string | null; reason: string | null }[]>()
    .notNull(),
})

export type AuditRow = typeof auditLog.$inferSelect
export type OrganisationRow = typeof organisations.$inferSelect
export type WorkspaceRow = typeof workspaces.$inferSelect
export type ApiKeyRow = typeof apiKeys.$inferSelect
export type JobRow = typeof jobs.$inferSelect
