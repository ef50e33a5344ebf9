// The audit log: who did what in an organisation, and when. Append-only. An entry is written in the
// same D1 batch as the change that it records (`audited`), if that change is in the same database, so that
// both or none are stored. `recorded` is for changes in a jobs database.
import { and, desc, eq, inArray, lt, or, sql, type SQL } from 'drizzle-orm'
import type { RunnableQuery } from 'drizzle-orm/runnable-query'
import { database, IF_CHANGED, insertWhere, rowValues } from '../platform/db/database.ts'
import { members } from '../platform/db/auth-schema.ts'
import { apiKeys, AUDIT_EMAIL, auditLog } from '../platform/db/schema.ts'
import type { Actor, UserActor } from '../domain/actor.ts'
import type { AuditAction } from '../domain/audit-actions.ts'
import { snakeCase } from '../domain/text.ts'
import { newId } from '../platform/ids.ts'
import { pageOf } from '../domain/page.ts'
import { requirePermission, type OrganisationRequest } from './authorisation.ts'

/** Replaces the email address of a user whose account is deleted. */
const DELETED_USER = 'deleted user'

export interface AuditEntry extends OrganisationRequest {
  action: AuditAction
  /** The id of the object of the action. */
  target?: string
  /** Never a secret, a key or a signed URL. */
  details?: Record<string, string | number | boolean | null>
}

/**
 * The statement that records an action, for the batch that makes the change.
 * @param when a condition: nothing is recorded where it is false at that point of the batch
 */
export const auditInsert = (entry: AuditEntry, when: SQL = sql`true`) =>
  insertWhere(entry.env, auditLog, auditRow(entry), when)

/**
 * Makes a change to the database of accounts, and records it in the same transaction if it changed anything.
 * @returns whether it changed anything
 */
export async function audited(entry: AuditEntry, change: RunnableQuery<D1Result, 'sqlite'>) {
  const [{ meta }] = await database(entry.env).batch([change, auditInsert(entry, IF_CHANGED)])
  return meta.changes > 0
}

/**
 * Makes a change to a jobs database, with its entry in the database of accounts. The entry comes first: a
 * crash can leave an entry of a change that was not made, but no change without its entry.
 * @param change if it throws, the outcome is unknown and the entry remains
 * @param isMade whether it changed anything, by default whether it returned true. If it did not, the entry is deleted
 * @returns what the change returned
 */
export async function recorded<T>(
  entry: AuditEntry,
  change: () => PromiseLike<T>,
  isMade = (result: T) => result === true,
): Promise<T> {
  const { env } = entry
  const row = auditRow(entry)
  await insertWhere(env, auditLog, row, sql`true`)
  const result = await change()
  if (!isMade(result)) await database(env).delete(auditLog).where(eq(auditLog.id, row.id))
  return result
}

/**
 * The statement that records an action once for each row of `from`.
 * @param from a table with its condition, at most 99,999,999 rows
 * @param each what differs between the entries, as expressions over a row
 */
export function auditInsertEach(
  entry: AuditEntry,
  from: SQL,
  each: Partial<Record<'organisationId' | 'target' | 'details', SQL>>,
) {
  const row = auditRow(entry)
  // Digits are valid in an id, and its last eight characters are random: each row gets its own id.
  const id = sql`${row.id.slice(0, -8)} || printf('%08d', row_number() over ())`
  return database(entry.env)
    .insert(auditLog)
    .select(sql`select ${rowValues(auditLog, { ...row, ...each, id })} from ${from}`)
}

/**
 * The statement that records an action of a user in each of their organisations.
 * @param when a condition: nothing is recorded where it is false at that point of the batch
 */
export const auditInsertForUser = (
  entry: Omit<AuditEntry, 'organisationId' | 'actor'> & { actor: UserActor },
  when: SQL = sql`true`,
) =>
  auditInsertEach(
    { ...entry, organisationId: '' },
    sql`${members} where ${members.userId} = ${entry.actor.userId} and ${when}`,
    { organisationId: sql`${members.organisationId}` },
  )

/** Looks up the id of an API key in the statement: a request has only the hash of its key. */
function auditRow({ organisationId, actor, action, target, details }: AuditEntry) {
  const keyId =
    actor.type === 'api_key'
      ? sql`(select ${apiKeys.id} from ${apiKeys}
          where ${apiKeys.organisationId} = ${organisationId} and ${apiKeys.hash} = ${actor.keyHash})`
      : null
  const isUser = actor.type === 'user'
  return {
    id: newId('aud'),
    organisationId,
    at: new Date(),
    actorType: actor.type,
    actorId: isUser ? actor.userId : keyId,
    actorEmail: isUser ? actor.email : null,
    action,
    target,
    details,
    ipAddress: actor.type === 'system' ? null : actor.ipAddress,
  }
}

/**
 * The details of a change: `name_old` and `name_new` for each field that differs.
 * @returns undefined when nothing differs
 */
export function changedDetails<T extends object>(before: T, change: Partial<T>) {
  const differing = (Object.keys(change) as (keyof T & string)[]).filter(
    (field) => change[field] !== before[field],
  )
  if (differing.length === 0) return undefined
  return Object.fromEntries(
    differing.flatMap((field) => {
      const name = snakeCase(field)
      return [
        [`${name}_old`, detailOf(before[field])],
        [`${name}_new`, detailOf(change[field])],
      ]
    }),
  )
}

const MAX_DETAIL_LENGTH = 200

/** A value for an entry. The query of a URL is removed, since it can contain a token. */
function detailOf(value: unknown): string | number | boolean | null {
  if (typeof value === 'number' || typeof value === 'boolean') return value
  if (typeof value !== 'string') return null
  const shown = /^https?:/i.test(value) ? value.replace(/\?.*$/s, '?…') : value
  return shown.length > MAX_DETAIL_LENGTH ? `${shown.slice(0, MAX_DETAIL_LENGTH)}…` : shown
}

export interface AuditFilter {
  action?: AuditAction | undefined
  /** The user or API key that acted, or all actors of a type. */
  actor?: { id: string } | { type: Actor['type'] } | undefined
}

interface AuditPage {
  limit: number
  /** The last entry of the previous page. */
  beforeId?: string | undefined
  filter?: AuditFilter
}

/**
 * A page of an organisation's audit log, newest first. For owners.
 * @throws AppError not_found
 */
export async function readAuditLog(request: OrganisationRequest & AuditPage) {
  await requirePermission(request, 'administer')
  const { env, organisationId, limit } = request
  const entries = await listAuditEntries(env, organisationId, { ...request, limit: limit + 1 })
  return pageOf(entries, limit)
}

/** An organisation's entries, newest first. */
export const listAuditEntries = (
  env: Env,
  organisationId: string,
  { limit, beforeId, filter: { action, actor } = {} }: AuditPage,
) =>
  database(env)
    .select()
    .from(auditLog)
    .where(
      and(
        eq(auditLog.organisationId, organisationId),
        action && eq(auditLog.action, action),
        actor &&
          ('id' in actor ? eq(auditLog.actorId, actor.id) : eq(auditLog.actorType, actor.type)),
        beforeId === undefined ? undefined : lt(auditLog.id, beforeId),
      ),
    )
    .orderBy(desc(auditLog.id))
    .limit(limit)

/** Deletes up to 1,000 entries of an organisation. @returns how many */
export async function deleteAuditEntries(env: Env, organisationId: string): Promise<number> {
  const db = database(env)
  const page = db
    .select({ id: auditLog.id })
    .from(auditLog)
    .where(eq(auditLog.organisationId, organisationId))
    .limit(1_000)
  const { meta } = await db.delete(auditLog).where(inArray(auditLog.id, page))
  return meta.changes
}

/**
 * Statements that remove a user's email address and IP addresses from all entries. The addresses are in the
 * details of the user's own entries and of those about the user.
 */
export function anonymiseAuditEntries(env: Env, user: { id: string; emails: string[] }) {
  const db = database(env)
  const isOwn = eq(auditLog.actorId, user.id)
  return [
    db.update(auditLog).set({ actorEmail: DELETED_USER, ipAddress: null }).where(isOwn),
    ...user.emails.map((email) => {
      const address = JSON.stringify(email)
      // Both conditions have an index. Reading all entries would take long.
      const isAbout = sql`(${AUDIT_EMAIL} is not null and ${AUDIT_EMAIL} = ${email})`
      return db
        .update(auditLog)
        .set({
          details: sql`replace(${auditLog.details}, ${address}, ${JSON.stringify(DELETED_USER)})`,
        })
        .where(and(or(isOwn, isAbout), sql`instr(${auditLog.details}, ${address}) > 0`))
    }),
  ] as const
}
