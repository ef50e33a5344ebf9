// The tables of webhooks: endpoints, events, delivery attempts and failing receivers.
import { sql } from 'drizzle-orm'
import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { MODES } from '../../domain/job.ts'
import { EVENT_STATUSES, EVENT_TYPES, type EventType } from '../../domain/webhook.ts'
import { instant, instantOrZero } from './schema.ts'

/**
 * The default endpoint of each organisation (id `default`), created when it is first needed, and at most
 * `MAX_ADDED_ENDPOINTS` that it adds. The name of the table is older than the default endpoints in it:
 * migrations rename no table.
 */
export const webhookEndpoints = sqliteTable(
  'added_webhook_endpoints',
  {
    organisationId: text('organisation_id').notNull(),
    id: text().notNull(),
    name: text().notNull(),
    /** Empty for a default endpoint without a URL: its secret also signs for the URLs of jobs. */
    url: text().notNull(),
    /**
     * The types of the events that it receives for every job. Empty for the default endpoint, whose URL is
     * used by jobs without a URL of their own.
     */
    types: text({ mode: 'json' }).$type<EventType[]>().notNull(),
    /** The mode of the jobs whose events it receives; null for both. */
    mode: text({ enum: MODES }),
    enabled: integer({ mode: 'boolean' }).notNull().default(true),
    /** Signs its deliveries: `whsec_…`, encrypted if ENCRYPTION_KEY is set. */
    secret: text().notNull(),
    /** The secret before a rotation; also signs until `secretPreviousUntil`. */
    secretPrevious: text('secret_previous'),
    secretPreviousUntil: instant('secret_previous_until'),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.organisationId, table.id] })],
)

/**
 * One row per job that ended with a webhook URL, and one for each added endpoint that receives the end
 * of the job. Ids are derived from the job's (`eventIdOf`, `addedEventIdOf`).
 */
export const webhookEvents = sqliteTable(
  'webhook_events',
  {
    id: text().primaryKey(),
    organisationId: text('organisation_id').notNull(),
    jobId: text('job_id').notNull(),
    type: text({ enum: EVENT_TYPES }).notNull(),
    url: text().notNull(),
    status: text({ enum: EVENT_STATUSES }).notNull().default('pending'),
    attempts: integer().notNull().default(0),
    /** When the next attempt can start; during an attempt, the end of its lease. */
    dueAt: instant('due_at').notNull(),
    /** While undelivered: when the sweep requeues the event. */
    sweepAt: instantOrZero('sweep_at'),
    createdAt: instant('created_at').notNull(),
    /**
     * The added endpoint that receives the event. Null for the URL of the job or the default URL, which the
     * secret of the default endpoint signs.
     */
    endpointId: text('added_endpoint_id'),
  },
  (table) => [
    index('webhook_events_by_organisation').on(table.organisationId, table.id),
    index('webhook_events_undelivered')
      .on(table.sweepAt)
      .where(sql`status in ('pending', 'retrying')`),
  ],
)

export const webhookAttempts = sqliteTable(
  'webhook_attempts',
  {
    eventId: text('event_id').notNull(),
    number: integer().notNull(),
    at: instant('at').notNull(),
    /** HTTP status; null when there was no response. */
    responseStatus: integer('response_status'),
    durationMs: integer('duration_ms').notNull(),
    /** The first 1,024 bytes of the response body. */
    responseBody: text('response_body'),
    /** Why there was no response. */
    error: text(),
    /** The header webhook-signature. The rest of the request is derived from event, job and time. */
    signature: text(),
    /** The first headers of the response, up to 1 kB; only for the latest attempt of an event. */
    responseHeaders: text('response_headers', { mode: 'json' }).$type<[string, string][]>(),
  },
  (table) => [primaryKey({ columns: [table.eventId, table.number] })],
)

const failingOrigin = {
  organisationId: text('organisation_id').notNull(),
  /** Scheme, host and port. */
  origin: text().notNull(),
  /** The first failure since the last success. */
  failingSince: instant('failing_since').notNull(),
  /** Consecutive failures. */
  failures: integer().notNull(),
  /** Whether the latest attempt at the origin timed out. Its deliveries are then made one at a time. */
  timedOut: integer('timed_out', { mode: 'boolean' }).notNull(),
  /** The end of the lease of the current delivery. */
  busyUntil: instantOrZero('busy_until'),
  /** Set after days of failures: nothing is delivered to a disabled receiver. */
  disabledAt: instant('disabled_at'),
  /** When members were informed that deliveries fail repeatedly. */
  reportedAt: instant('reported_at'),
}

/**
 * Failing receivers: endpoints, and the origins of URLs that only jobs have. A successful delivery to the
 * receiver deletes its row. Receivers of one origin share `timedOut` and `busyUntil`.
 */
export const failingReceivers = sqliteTable(
  'failing_receivers',
  {
    ...failingOrigin,
    /** The id of the endpoint; the origin of a URL that only jobs have. */
    receiver: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.organisationId, table.receiver] })],
)

/** The tables of failing origins of the releases before, which the next release drops. */
const formerTable = <Name extends string>(name: Name) =>
  sqliteTable(name, failingOrigin, (table) => [
    primaryKey({ columns: [table.organisationId, table.origin] }),
  ])
export const formerFailingOrigins = formerTable('failing_origins')
export const formerWebhookEndpoints = formerTable('webhook_endpoints')

export type EndpointRow = typeof webhookEndpoints.$inferSelect
export type WebhookEventRow = typeof webhookEvents.$inferSelect
export type WebhookAttemptRow = typeof webhookAttempts.$inferSelect
export type FailingReceiverRow = typeof failingReceivers.$inferSelect
