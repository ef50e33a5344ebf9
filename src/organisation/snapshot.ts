// What /v1 has to know of an organisation at each request: its row, keys and active workspaces.
// The truth is D1; this is a copy, at most 30 seconds old and dropped at once by `refresh`.
import { and, asc, eq, gt, isNull, or } from 'drizzle-orm'
import { database } from '../db/client.ts'
import { apiKeys, organisations, workspaces } from '../db/schema.ts'
import type { OrganisationRow, WorkspaceRow } from '../db/schema.ts'
import { DAY_MS } from '../domain/limits.ts'
import type { Mode } from '../domain/job.ts'

const MAX_AGE_MS = 30_000
const REVOKED_KEYS_MS = 90 * DAY_MS

/** Keys that were revoked before this are no longer loaded: they answer `invalid_api_key`. */
export const revokedKeysSince = (): Date => new Date(Date.now() - REVOKED_KEYS_MS)

export interface OrganisationSnapshot {
  organisation: OrganisationRow
  /** By the key's hash: the active ones, and those revoked in the last 90 days. */
  keys: Map<string, { mode: Mode; revoked: boolean }>
  /** Active ones, oldest first. */
  workspaces: WorkspaceRow[]
}

/** Whether submissions and reads of single jobs are refused: suspended, or scheduled for deletion. */
export const isSuspended = ({
  status,
  deleteAfter,
}: Pick<OrganisationRow, 'status' | 'deleteAfter'>): boolean =>
  status === 'suspended' || deleteAfter !== null

/** Whether the grace period is over. What is left of the organisation is being deleted. */
export const isDeleted = ({ deleteAfter }: Pick<OrganisationRow, 'deleteAfter'>): boolean =>
  deleteAfter !== null && deleteAfter.getTime() <= Date.now()

export class SnapshotCache {
  readonly #env: Env
  #copy: { loading: Promise<OrganisationSnapshot | null>; loadedAt: number } | undefined

  constructor(env: Env) {
    this.#env = env
  }

  /** @returns null when there is no such organisation, which is remembered just as long */
  current(organisationId: string): Promise<OrganisationSnapshot | null> {
    if (this.#copy && Date.now() - this.#copy.loadedAt < MAX_AGE_MS) return this.#copy.loading
    // Requests that arrive meanwhile share this load. One that began before `drop` is no longer
    // `#copy` when it ends, so an outdated answer is never kept.
    const copy = { loading: load(this.#env, organisationId), loadedAt: Date.now() }
    this.#copy = copy
    copy.loading.catch(() => {
      if (this.#copy === copy) this.#copy = undefined
    })
    return copy.loading
  }

  drop(): void {
    this.#copy = undefined
  }
}

async function load(env: Env, organisationId: string): Promise<OrganisationSnapshot | null> {
  const db = database(env)
  const [[organisation], keyRows, workspaceRows] = await db.batch([
    db.select().from(organisations).where(eq(organisations.id, organisationId)),
    db
      .select({ hash: apiKeys.hash, mode: apiKeys.mode, revokedAt: apiKeys.revokedAt })
      .from(apiKeys)
      .where(
        and(
          eq(apiKeys.organisationId, organisationId),
          or(isNull(apiKeys.revokedAt), gt(apiKeys.revokedAt, revokedKeysSince())),
        ),
      ),
    db
      .select()
      .from(workspaces)
      .where(and(eq(workspaces.organisationId, organisationId), eq(workspaces.status, 'active')))
      .orderBy(asc(workspaces.id)),
  ])
  if (!organisation) return null
  return {
    organisation,
    keys: new Map(
      keyRows.map((key) => [key.hash, { mode: key.mode, revoked: key.revokedAt !== null }]),
    ),
    workspaces: workspaceRows,
  }
}
