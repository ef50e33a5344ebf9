// The tables of webhooks: events, delivery attempts, failing endpoints and added endpoints.
import { sql } from 'drizzle-orm'
import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { MODES } from '../domain/job.ts'
import { EVENT_STATUSES, EVENT_TYPES } from '../domain/webhook.ts'
import type { EventType } from '../domain/webhook.ts'

const instant = (name: string) => integer(name, { mode: 'timestamp_ms' })

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
    sweepAt: instant('sweep_at')
      .notNull()
      .default(sql`0`),
    createdAt: instant('created_at').notNull(),
    /** The added endpoint that receives the event; null for the URL of the job or the default URL. */
    addedEndpointId: text('added_endpoint_id'),
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

/** The endpoints that an organisation adds to its default URL. At most `MAX_ADDED_ENDPOINTS`. */
export const addedWebhookEndpoints = sqliteTable(
  'added_webhook_endpoints',
  {
    organisationId: text('organisation_id').notNull(),
    id: text().notNull(),
    name: text().notNull(),
    url: text().notNull(),
    /** The types of the events that it receives. */
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

/** Failing receivers, one row per origin (scheme, host, port). A successful delivery deletes the row. */
export const webhookEndpoints = sqliteTable(
  'webhook_endpoints',
  {
    organisationId: text('organisation_id').notNull(),
    origin: text().notNull(),
    /** The first failure since the last success. */
    failingSince: instant('failing_since').notNull(),
    /** Consecutive failures. */
    failures: integer().notNull(),
    /** Whether the latest attempt timed out. Deliveries are then made one at a time. */
    timedOut: integer('timed_out', { mode: 'boolean' }).notNull(),
    /** The end of the lease of the current delivery. */
    busyUntil: instant('busy_until')
      .notNull()
      .default(sql`0`),
    /** Set after days of failures: nothing is delivered to a disabled endpoint. */
    disabledAt: instant('disabled_at'),
    /** When members were informed that deliveries fail repeatedly. */
    reportedAt: instant('reported_at'),
  },
  (table) => [primaryKey({ columns: [table.organisationId, table.origin] })],
)

export type WebhookEndpointRow = typeof webhookEndpoints.$inferSelect
export type WebhookEventRow = typeof webhookEvents.$inferSelect
export type WebhookAttemptRow = typeof webhookAttempts.$inferSelect
export type AddedEndpointRow = typeof addedWebhookEndpoints.$inferSelect
