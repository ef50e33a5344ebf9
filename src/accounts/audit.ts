// The audit log: who did what in an organisation, and when. Append-only. An entry is written in the
// same D1 batch as the change that it records wherever there is one, so that neither exists alone.
import { and, desc, eq, getTableColumns, lt, sql } from 'drizzle-orm'
import type { SQL } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { database } from '../db/client.ts'
import { auditLog } from '../db/schema.ts'
import type { AuditRow } from '../db/schema.ts'
import { newId } from '../ids.ts'

/** Who acts. Use cases that change something take one. */
export type Actor =
  | { type: 'user'; userId: string; email: string; ipAddress: string | null }
  | { type: 'operator'; ipAddress: string | null }
  | { type: 'system' }

export const SYSTEM: Actor = { type: 'system' }

export const AUDIT_ACTIONS = [
  'session.created',
  'account.deletion_scheduled',
  'account.deletion_cancelled',
  'account.deleted',
  'api_key.created',
  'api_key.revoked',
  'webhook_secret.revealed',
  'webhook_secret.rotated',
  'webhook_endpoint.disabled',
  'webhook_endpoint.enabled',
  'invitation.created',
  'invitation.withdrawn',
  'member.joined',
  'member.role_changed',
  'member.removed',
  'member.left',
  'workspace.created',
  'workspace.updated',
  'organisation.created',
  'organisation.updated',
  'organisation.exported',
  'organisation.deletion_scheduled',
  'organisation.deletion_cancelled',
  'credits.granted',
  'job.withdrawn',
  'job.output_deleted',
] as const
export type AuditAction = (typeof AUDIT_ACTIONS)[number]

export interface AuditEntry {
  organisationId: string
  actor: Actor
  action: AuditAction
  /** The id of what the action was done to. */
  target?: string
  /** Facts that help a reader, never a secret, a key or a signed URL. */
  details?: Record<string, string | number | boolean | null>
}

/** The statement that records an action; run it in the batch that makes the change. */
export const auditInsert = (env: Env, entry: AuditEntry) =>
  database(env).insert(auditLog).values(rowOf(entry))

/** The same for a change that may not happen: records the action if `where` holds for a row. */
export function auditInsertIf(
  env: Env,
  entry: AuditEntry,
  from: SQLiteTable,
  where: SQL | undefined,
) {
  const db = database(env)
  const columns = getTableColumns(auditLog)
  const values = Object.entries(rowOf(entry)).map(([key, value]) => {
    const column = columns[key as keyof AuditRow]
    return [key, sql`${value === null ? null : sql.param(value, column)}`.as(column.name)]
  })
  const row = Object.fromEntries(values) as Record<keyof AuditRow, SQL.Aliased>
  return db.insert(auditLog).select(db.select(row).from(from).where(where).limit(1))
}

const rowOf = ({ organisationId, actor, action, target, details }: AuditEntry): AuditRow => ({
  id: newId('aud'),
  organisationId,
  at: new Date(),
  actorType: actor.type,
  actorId: actor.type === 'user' ? actor.userId : null,
  actorEmail: actor.type === 'user' ? actor.email : null,
  action,
  target: target ?? null,
  details: details ?? null,
  ipAddress: actor.type === 'system' ? null : actor.ipAddress,
})

/** Entries of one organisation, newest first, those before `beforeId` only. */
export const listAuditEntries = (
  env: Env,
  organisationId: string,
  page: { limit: number; beforeId?: string | undefined },
): Promise<AuditRow[]> =>
  database(env)
    .select()
    .from(auditLog)
    .where(
      and(
        eq(auditLog.organisationId, organisationId),
        page.beforeId === undefined ? undefined : lt(auditLog.id, page.beforeId),
      ),
    )
    .orderBy(desc(auditLog.id))
    .limit(page.limit)
