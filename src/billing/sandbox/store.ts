// The SQL of the sandbox's objects. A write replaces the version that was read; everything that belongs
// to it is written in the same transaction, only if it has succeeded.
import { and, asc, eq, gt, gte, inArray, isNotNull, lt, lte, sql } from 'drizzle-orm'
import type { SQL } from 'drizzle-orm'
import type { z } from 'zod'
import { database, insertWhere } from '../../db/client.ts'
import { sandboxObjects } from '../../db/billing-schema.ts'
import { firstIdSince, newId, suffixOf } from '../../ids.ts'
import type { ProviderEvent } from '../provider.ts'
import {
  CustomerData,
  EventData,
  PaymentData,
  PortalData,
  SubscriptionData,
  UNPAID_RETENTION_MS,
} from './objects.ts'
import type { ObjectData, Payment, SandboxObject, Subscription } from './objects.ts'

/** The work of one run: objects with due changes, deleted objects. */
const DUE_LIMIT = 50
const DELETE_LIMIT = 500
/** The size of a page of events. */
const EVENT_LIMIT = 1_000

type Row = typeof sandboxObjects.$inferSelect
type Versioned = Extract<ObjectData, { version: string }>

/** An object to write, with the time of its next due change. */
export interface Put<Data extends ObjectData = ObjectData> {
  id: string
  organisationId: string
  data: Data
  dueAt: number | null
}

/** What belongs to a write. */
export interface Also {
  /** Further objects to insert or replace. */
  puts?: Put[]
  customer?: { id: string; change: Partial<CustomerData> }
  /** Announces the change. */
  event?: Omit<EventData, 'type'>
}

/** @returns null also for the id of an object of another kind: ids come from addresses of pages */
async function find<Data extends ObjectData>(
  env: Env,
  schema: z.ZodType<Data>,
  ids: RegExp,
  id: string,
): Promise<SandboxObject<Data> | null> {
  if (!ids.test(id)) return null
  const [row] = await database(env).select().from(sandboxObjects).where(eq(sandboxObjects.id, id))
  return row ? parse(schema, row) : null
}

const parse = <Data extends ObjectData>(schema: z.ZodType<Data>, row: Row) => ({
  id: row.id,
  organisationId: row.organisationId,
  createdAt: row.createdAt,
  data: schema.parse(row.data),
})

export const findPaymentObject = (env: Env, id: string) => find(env, PaymentData, /^(ch|in)_/, id)
export const findSubscriptionObject = (env: Env, id: string) =>
  find(env, SubscriptionData, /^sub_/, id)
export const findCustomer = (env: Env, id: string) => find(env, CustomerData, /^cus_/, id)
export const findPortalObject = (env: Env, id: string) => find(env, PortalData, /^bps_/, id)

/** Inserts an object that has no version, if it does not exist. */
export async function insertObject(env: Env, put: Put): Promise<void> {
  await database(env).insert(sandboxObjects).values(rowOf(put)).onConflictDoNothing()
}

/**
 * Inserts an object.
 * @returns false when it exists already; then nothing is written
 */
export async function insertVersioned(
  env: Env,
  put: Put<Versioned>,
  also: Also = {},
): Promise<boolean> {
  const inserted = database(env)
    .insert(sandboxObjects)
    .values(rowOf(put))
    .onConflictDoNothing()
    .returning({ id: sandboxObjects.id })
  const [rows] = await database(env).batch([inserted, ...belonging(env, put, also)])
  return rows.length > 0
}

/**
 * Replaces the version of an object that was read.
 * @param without nothing is written if this object exists
 * @returns false when another write was first; then nothing is written
 */
export async function replaceObject(
  env: Env,
  read: SandboxObject<Versioned>,
  put: Put<Versioned>,
  also: Also = {},
  without?: string,
): Promise<boolean> {
  const { data, dueAt } = rowOf(put)
  const updated = database(env)
    .update(sandboxObjects)
    .set({ data, dueAt })
    .where(
      and(
        hasVersion(read.id, read.data.version),
        without === undefined ? undefined : sql`not ${exists(eq(sandboxObjects.id, without))}`,
      ),
    )
    .returning({ id: sandboxObjects.id })
  const [rows] = await database(env).batch([updated, ...belonging(env, put, also)])
  return rows.length > 0
}

/** The statements of what belongs to a write. They have no effect if it has failed. */
function belonging(env: Env, main: Put<Versioned>, { puts = [], customer, event }: Also) {
  const succeeded = exists(hasVersion(main.id, main.data.version))
  const inserts = puts.map((put) =>
    insertWhere(env, sandboxObjects, rowOf(put), succeeded).onConflictDoUpdate({
      target: sandboxObjects.id,
      set: { data: sql`excluded.data`, dueAt: sql`excluded.due_at` },
    }),
  )
  const patch = customer && [patchCustomer(env, customer.id, customer.change, succeeded)]
  const events = event && [
    insertWhere(env, sandboxObjects, rowOf(eventPut(main.organisationId, event)), succeeded),
  ]
  return [...inserts, ...(patch ?? []), ...(events ?? [])]
}

/** Keeps what a concurrent write has changed in other fields. */
const patchCustomer = (env: Env, id: string, change: Partial<CustomerData>, condition?: SQL) =>
  database(env)
    .update(sandboxObjects)
    .set({ data: sql`json_patch(${sandboxObjects.data}, ${JSON.stringify(change)})` })
    .where(and(eq(sandboxObjects.id, id), condition))

/** Changes a customer and announces it. */
export async function changeCustomer(
  env: Env,
  { id, organisationId }: Pick<Row, 'id' | 'organisationId'>,
  change: Partial<CustomerData>,
  event: Omit<EventData, 'type'> | null,
): Promise<void> {
  const db = database(env)
  await db.batch([
    patchCustomer(env, id, change),
    ...(event ? [db.insert(sandboxObjects).values(rowOf(eventPut(organisationId, event)))] : []),
  ])
}

const eventPut = (organisationId: string, event: Omit<EventData, 'type'>): Put => ({
  id: `ev_${suffixOf(newId('evt'))}`,
  organisationId,
  data: { type: 'event', ...event },
  dueAt: Date.now() + UNPAID_RETENTION_MS,
})

const rowOf = ({ dueAt, ...put }: Put): Row => ({
  ...put,
  createdAt: new Date(),
  dueAt: dueAt === null ? null : new Date(dueAt),
})

const hasVersion = (id: string, version: string): SQL =>
  sql`${sandboxObjects.id} = ${id} and ${sandboxObjects.data} ->> '$.version' = ${version}`

const exists = (where: SQL): SQL => sql`exists (select 1 from ${sandboxObjects} where ${where})`

/**
 * Deletes payments that were never paid, events and portal pages, 30 days after their end.
 * @returns the number of deleted rows, at most 500
 */
export async function deleteOldSandboxObjects(env: Env): Promise<number> {
  const db = database(env)
  const due = db
    .select({ id: sandboxObjects.id })
    .from(sandboxObjects)
    .where(and(isDue(Date.now()), IS_DELETED_WHEN_DUE))
    .limit(DELETE_LIMIT)
  const { meta } = await db.delete(sandboxObjects).where(inArray(sandboxObjects.id, due))
  return meta.changes
}

/** Repeats the condition of the partial index. */
const isDue = (now: number) =>
  and(isNotNull(sandboxObjects.dueAt), lte(sandboxObjects.dueAt, new Date(now)))

/** The objects whose `dueAt` is the end of their retention. */
const IS_DELETED_WHEN_DUE = sql`(${sandboxObjects.data} ->> '$.type' in ('event', 'portal')
  or (${sandboxObjects.data} ->> '$.type' = 'payment'
    and ${sandboxObjects.data} ->> '$.status' in ('expired', 'failed')))`

/** The ids of objects with due changes, the longest overdue first. */
export async function dueIds(env: Env, now: number): Promise<string[]> {
  const rows = await database(env)
    .select({ id: sandboxObjects.id })
    .from(sandboxObjects)
    .where(and(isDue(now), sql`not ${IS_DELETED_WHEN_DUE}`))
    .orderBy(asc(sandboxObjects.dueAt))
    .limit(DUE_LIMIT)
  return rows.map(({ id }) => id)
}

/** The payments of a subscription since an instant, oldest first. */
export async function paymentsOfSubscription(
  env: Env,
  { id, organisationId }: Pick<Subscription, 'id' | 'organisationId'>,
  since: Date,
): Promise<Payment[]> {
  const rows = await database(env)
    .select()
    .from(sandboxObjects)
    .where(
      and(
        eq(sandboxObjects.organisationId, organisationId),
        // Payments start with `ch_` or `in_`.
        gte(sandboxObjects.id, 'ch_'),
        lt(sandboxObjects.id, 'in`'),
        sql`${sandboxObjects.data} ->> '$.subscriptionId' = ${id}`,
        sql`${sandboxObjects.data} ->> '$.type' = 'payment'`,
        gte(sandboxObjects.createdAt, since),
      ),
    )
    .orderBy(asc(sandboxObjects.createdAt))
  return rows.map((row) => parse(PaymentData, row))
}

/** The subscriptions of a customer whose last renewal failed. */
export async function unpaidSubscriptionIds(
  env: Env,
  { id, organisationId }: Pick<Row, 'id' | 'organisationId'>,
): Promise<string[]> {
  const rows = await database(env)
    .select({ id: sandboxObjects.id })
    .from(sandboxObjects)
    .where(
      and(
        eq(sandboxObjects.organisationId, organisationId),
        gte(sandboxObjects.id, 'sub_'),
        lt(sandboxObjects.id, 'sub`'),
        sql`${sandboxObjects.data} ->> '$.customerId' = ${id}`,
        sql`${sandboxObjects.data} ->> '$.status' = 'past_due'`,
      ),
    )
  return rows.map((row) => row.id)
}

/** A page of the events since an instant, oldest first. Their ids sort by time. */
export async function listEvents(
  env: Env,
  since: Date,
  afterId: string | undefined,
): Promise<ProviderEvent[]> {
  const rows = await database(env)
    .select()
    .from(sandboxObjects)
    .where(
      and(
        afterId === undefined
          ? gte(sandboxObjects.id, `ev_${suffixOf(firstIdSince('evt', since.getTime()))}`)
          : gt(sandboxObjects.id, afterId),
        lt(sandboxObjects.id, 'ev`'),
      ),
    )
    .orderBy(asc(sandboxObjects.id))
    .limit(EVENT_LIMIT)
  return rows.map((row) => {
    const { data, id, createdAt, organisationId } = parse(EventData, row)
    const { paymentId, subscriptionId, reference } = data
    return { id, createdAt, organisationId, paymentId, subscriptionId, reference }
  })
}
