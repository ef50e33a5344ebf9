// The audit log: who did what in an organisation, and when. Append-only. An entry is written in the
// same D1 batch as the change that it records wherever there is one, so that neither exists alone.
import { and, desc, eq, getTableColumns, inArray, lt, sql } from 'drizzle-orm'
import type { SQL } from 'drizzle-orm'
import { database } from '../db/client.ts'
import { auditLog } from '../db/schema.ts'
import type { AuditRow } from '../db/schema.ts'
import { newId } from '../ids.ts'

export interface UserActor {
  type: 'user'
  userId: string
  email: string
  ipAddress: string | null
}

/** Who acts. Use cases that change something take one. */
export type Actor = UserActor | { type: 'operator'; ipAddress: string | null } | { type: 'system' }

export const SYSTEM: Actor = { type: 'system' }

/** Stands in entries for the email address of a person whose account is deleted. */
const DELETED_USER = 'deleted user'

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

/**
 * The same for a change that depends on a condition. Put it before the change, so that both see the
 * condition alike.
 */
export function auditInsertIf(env: Env, entry: AuditEntry, condition: SQL) {
  const row = rowOf(entry)
  const columns = getTableColumns(auditLog)
  const values = Object.entries(columns).map(
    ([name, column]) => sql`${sql.param(row[name as keyof AuditRow], column)}`,
  )
  return database(env)
    .insert(auditLog)
    .select(sql`select ${sql.join(values, sql`, `)} where ${condition}`)
}

function rowOf({ organisationId, actor, action, target, details }: AuditEntry): AuditRow {
  const isUser = actor.type === 'user'
  return {
    id: newId('aud'),
    organisationId,
    at: new Date(),
    actorType: actor.type,
    actorId: isUser ? actor.userId : null,
    actorEmail: isUser ? actor.email : null,
    action,
    target: target ?? null,
    details: details ?? null,
    ipAddress: actor.type === 'system' ? null : actor.ipAddress,
  }
}

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

/** Deletes up to 1,000 entries of one organisation. @returns how many */
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

/** Removes a person's email address and IP addresses from every entry, and keeps the rest. */
export function anonymiseAuditEntries(env: Env, user: { id: string; email: string }) {
  const db = database(env)
  const address = JSON.stringify(user.email)
  return [
    db
      .update(auditLog)
      .set({ actorEmail: DELETED_USER, ipAddress: null })
      .where(eq(auditLog.actorId, user.id)),
    db
      .update(auditLog)
      .set({
        details: sql`replace(${auditLog.details}, ${address}, ${JSON.stringify(DELETED_USER)})`,
      })
      .where(sql`instr(${auditLog.details}, ${address}) > 0`),
  ] as const
}
