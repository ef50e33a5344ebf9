// The SQL of the list of deliveries with its filters. There is no index for the filters, since each
// would cost a row written for every event. A page reads at most `MAX_SCANNED` events instead, along the
// index of the organisation's events.
import { and, asc, desc, eq, gt, gte, isNull, lt, type SQL } from 'drizzle-orm'
import { inWorkspaces, type WorkspaceIds } from '../../organisations/workspace-rights.ts'
import { jobsDatabase, type Database } from '../../platform/db/database.ts'
import { jobs } from '../../platform/db/schema.ts'
import {
  webhookAttempts,
  webhookEvents,
  type WebhookAttemptRow,
  type WebhookEventRow,
} from '../../platform/db/webhook-schema.ts'
import type { Mode } from '../../domain/job.ts'
import { DEFAULT_ENDPOINT, type EventStatus, type EventType } from '../../domain/webhook.ts'
import { eventIdOf } from '../../platform/ids.ts'
import { hasEndpoint } from '../endpoints/endpoint-store.ts'

/** The events that one page reads at most. */
export const MAX_SCANNED = 5_000
/** The events that one click sends again at most. */
export const MAX_RESENT = 1_000
/** Most pages need to read no more than this. */
const FIRST_SCAN = 500

export interface DeliveryFilter {
  /** Both modes without it. */
  mode?: Mode | undefined
  status?: EventStatus | undefined
  type?: EventType | undefined
  /** The id of an added endpoint, or `default` for the default URL and the URLs of jobs. */
  endpoint?: string | undefined
  /** Only the events of this job. */
  jobId?: string | undefined
  /** Only the events of jobs in these workspaces; null or undefined for all. */
  workspaceIds?: WorkspaceIds
}

/** An event, and the outcome of its latest attempt. */
export interface Delivery extends Pick<
  WebhookEventRow,
  'id' | 'jobId' | 'type' | 'url' | 'status' | 'attempts' | 'dueAt' | 'createdAt' | 'endpointId'
> {
  responseStatus: WebhookAttemptRow['responseStatus']
  error: WebhookAttemptRow['error']
}

/** Where a page starts: at the newest event, or next to an event. */
export type PageStart = { before?: string | undefined; after?: undefined } | { after: string }

export interface Scan {
  /** At most `limit`, newest first. */
  deliveries: Delivery[]
  /** Where the next page in the same direction starts; null at the end. */
  continueAt: string | null
  /** Whether the scan ended before it found `limit` events or the end. */
  isPartial: boolean
}

interface ScanQuery {
  filter: DeliveryFilter
  start: PageStart
  limit: number
}

/** Reads a page, newest first. */
export async function scanDeliveries(env: Env, organisationId: string, query: ScanQuery) {
  const first = await scan(env, organisationId, query, FIRST_SCAN)
  return first.isPartial ? scan(env, organisationId, query, MAX_SCANNED) : first
}

async function scan(
  env: Env,
  organisationId: string,
  { filter, start, limit }: ScanQuery,
  maxScanned: number,
): Promise<Scan> {
  const db = jobsDatabase(env, organisationId)
  const isForwards = start.after !== undefined
  const inDirection = isForwards ? asc : desc
  const range = rangeOf(organisationId, filter, start)
  const scanned = scannedEvents(db, range, inDirection(webhookEvents.id), maxScanned)
  const [rows, [last]] = await db.batch([
    db
      .select({
        id: scanned.id,
        jobId: scanned.jobId,
        type: scanned.type,
        url: scanned.url,
        status: scanned.status,
        attempts: scanned.attempts,
        dueAt: scanned.dueAt,
        createdAt: scanned.createdAt,
        endpointId: scanned.endpointId,
        responseStatus: webhookAttempts.responseStatus,
        error: webhookAttempts.error,
      })
      .from(scanned)
      .innerJoin(jobs, eq(jobs.id, scanned.jobId))
      .leftJoin(
        webhookAttempts,
        and(eq(webhookAttempts.eventId, scanned.id), eq(webhookAttempts.number, scanned.attempts)),
      )
      .where(conditionsOf(scanned, filter))
      .orderBy(inDirection(scanned.id))
      .limit(limit + 1),
    db
      .select({ id: webhookEvents.id })
      .from(webhookEvents)
      .where(range)
      .orderBy(inDirection(webhookEvents.id))
      .limit(1)
      .offset(maxScanned - 1),
  ])
  const page = rows.slice(0, limit)
  const hasMore = rows.length > limit
  const continueAt = hasMore ? page.at(-1)?.id : last?.id
  return {
    deliveries: isForwards ? page.toReversed() : page,
    continueAt: continueAt ?? null,
    isPartial: !hasMore && last !== undefined,
  }
}

/** The ids of the failed events of a filter: at most `MAX_RESENT` of the latest `MAX_SCANNED`. */
export async function findFailedEvents(env: Env, organisationId: string, filter: DeliveryFilter) {
  const rows = await selectFailed(env, organisationId, filter).limit(MAX_RESENT)
  return rows.map(({ id }) => id)
}

/** How many events `findFailedEvents` finds, without its limit. */
export const countFailedEvents = async (env: Env, organisationId: string, filter: DeliveryFilter) =>
  jobsDatabase(env, organisationId).$count(selectFailed(env, organisationId, filter))

function selectFailed(env: Env, organisationId: string, filter: DeliveryFilter) {
  const db = jobsDatabase(env, organisationId)
  const range = rangeOf(organisationId, filter, {})
  const scanned = scannedEvents(db, range, desc(webhookEvents.id), MAX_SCANNED)
  const isFailed = conditionsOf(scanned, { ...filter, status: 'failed' })
  return db
    .select({ id: scanned.id })
    .from(scanned)
    .innerJoin(jobs, eq(jobs.id, scanned.jobId))
    .where(and(isFailed, hasEndpoint(organisationId, scanned.endpointId)))
    .orderBy(desc(scanned.id))
}

const rangeOf = (organisationId: string, { jobId }: DeliveryFilter, start: PageStart) =>
  and(
    eq(webhookEvents.organisationId, organisationId),
    start.after === undefined ? undefined : gt(webhookEvents.id, start.after),
    'before' in start && start.before !== undefined
      ? lt(webhookEvents.id, start.before)
      : undefined,
    // The ids of all events of a job begin with that of its own event.
    jobId === undefined ? undefined : gte(webhookEvents.id, eventIdOf(jobId)),
    jobId === undefined ? undefined : lt(webhookEvents.id, `${eventIdOf(jobId)}\``),
  )

const scannedEvents = (db: Database, range: SQL | undefined, order: SQL, limit: number) =>
  db.select().from(webhookEvents).where(range).orderBy(order).limit(limit).as('scanned')
type Scanned = ReturnType<typeof scannedEvents>

const conditionsOf = (
  scanned: Scanned,
  { mode, status, type, endpoint, workspaceIds }: DeliveryFilter,
) =>
  and(
    mode === undefined ? undefined : eq(jobs.mode, mode),
    status === undefined ? undefined : eq(scanned.status, status),
    type === undefined ? undefined : eq(scanned.type, type),
    endpoint === undefined
      ? undefined
      : endpoint === DEFAULT_ENDPOINT
        ? isNull(scanned.endpointId)
        : eq(scanned.endpointId, endpoint),
    inWorkspaces(workspaceIds),
  )
