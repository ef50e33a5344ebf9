// The data of an organisation that requests to /v1 need: its row, keys, active workspaces and
// webhook endpoints. A cache of D1, at most 30 seconds old; `refresh` clears it.
import { and, asc, eq, gt, isNull, or } from 'drizzle-orm'
import { database, isBound, jobsDatabase } from '../platform/db/database.ts'
import {
  apiKeys,
  organisations,
  workspaces,
  type ApiKeyRow,
  type OrganisationRow,
  type WorkspaceRow,
} from '../platform/db/schema.ts'
import { webhookEndpoints } from '../platform/db/webhook-schema.ts'
import { DAY_MS } from '../domain/limits.ts'
import type { CreditLimit } from '../domain/credit-limit.ts'
import type { Mode } from '../domain/job.ts'
import { DEFAULT_ENDPOINT } from '../domain/webhook.ts'

const MAX_AGE_MS = 30_000
const REVOKED_KEYS_MS = 90 * DAY_MS

/**
 * An SQL condition: a key is not revoked, or was in the last 90 days. Others are not loaded, and requests with
 * them return `invalid_api_key`.
 */
export const isRecentKey = () =>
  or(isNull(apiKeys.revokedAt), gt(apiKeys.revokedAt, new Date(Date.now() - REVOKED_KEYS_MS)))

export interface OrganisationSnapshot {
  organisation: OrganisationRow
  /**
   * The active keys and those revoked in the last 90 days, by hash. A key with a time of revocation in the
   * future is active until then.
   */
  keys: Map<string, ApiKeyRow>
  /** The active workspaces, oldest first. */
  workspaces: WorkspaceRow[]
  /** The URL of jobs without a URL of their own. */
  defaultWebhookUrl: string | null
  /** The enabled added endpoints, for the storage allowance. */
  addedEndpoints: { mode: Mode | null; url: string }[]
}

/** Whether submissions and reads of single jobs are rejected. */
export const isSuspended = ({ status, deleteAfter }: OrganisationRow): boolean =>
  status === 'suspended' || deleteAfter !== null

/** Whether the grace period has ended, so that the organisation is being deleted. */
export const isDeleted = ({ deleteAfter }: Pick<OrganisationRow, 'deleteAfter'>): boolean =>
  deleteAfter !== null && deleteAfter.getTime() <= Date.now()

export class SnapshotCache {
  readonly #env: Env
  #cached: { loading: Promise<OrganisationSnapshot | null>; loadedAt: number } | undefined

  constructor(env: Env) {
    this.#env = env
  }

  /** @returns null when the organisation does not exist, which is cached as well */
  current(organisationId: string): Promise<OrganisationSnapshot | null> {
    if (this.#cached && Date.now() - this.#cached.loadedAt < MAX_AGE_MS) return this.#cached.loading
    // Concurrent requests share this load. `clear` discards a load in progress, so an outdated
    // snapshot is never cached.
    const cached = { loading: load(this.#env, organisationId), loadedAt: Date.now() }
    this.#cached = cached
    cached.loading.catch(() => {
      if (this.#cached === cached) this.#cached = undefined
    })
    return cached.loading
  }

  clear(): void {
    this.#cached = undefined
  }
}

async function load(env: Env, organisationId: string): Promise<OrganisationSnapshot | null> {
  const db = database(env)
  const { id, mode, url, enabled } = webhookEndpoints
  const [[[organisation], keyRows, workspaceRows], endpoints] = await Promise.all([
    db.batch([
      db.select().from(organisations).where(eq(organisations.id, organisationId)),
      db
        .select()
        .from(apiKeys)
        .where(and(eq(apiKeys.organisationId, organisationId), isRecentKey())),
      db
        .select()
        .from(workspaces)
        .where(and(eq(workspaces.organisationId, organisationId), eq(workspaces.status, 'active')))
        .orderBy(asc(workspaces.id)),
    ]),
    isBound(env, organisationId)
      ? jobsDatabase(env, organisationId)
          .select({ id, mode, url })
          .from(webhookEndpoints)
          .where(and(eq(webhookEndpoints.organisationId, organisationId), eq(enabled, true)))
      : null,
  ])
  if (!organisation) return null
  if (!endpoints) throw new Error(`The shard of ${organisationId} is not bound`)
  const defaultEndpoint = endpoints.find(({ id }) => id === DEFAULT_ENDPOINT)
  return {
    organisation,
    keys: new Map(keyRows.map((key) => [key.hash, key])),
    workspaces: workspaceRows,
    // Without a row, the URL is still that of the release before.
    defaultWebhookUrl: (defaultEndpoint?.url ?? organisation.defaultWebhookUrl) || null,
    addedEndpoints: endpoints.filter((endpoint) => endpoint !== defaultEndpoint),
  }
}

/** Whether a key reaches a workspace; the console, without a key, reaches all. */
export const isReachable = (key: ApiKeyRow | undefined, workspaceId: string): boolean =>
  !key?.workspaceId || key.workspaceId === workspaceId

/** The limits of credits of active keys and of workspaces. */
export const creditLimitsOf = (keys: ApiKeyRow[], workspaces: WorkspaceRow[]): CreditLimit[] => [
  ...keys
    .filter(({ revokedAt }) => revokedAt === null || revokedAt.getTime() > Date.now())
    .flatMap((key) => limitOf('API key', key, countIdOf(key))),
  ...workspaces.flatMap((workspace) => limitOf('workspace', workspace)),
]

const limitOf = (
  holder: CreditLimit['holder'],
  { id, name, monthlyCredits }: Pick<ApiKeyRow, 'id' | 'name' | 'monthlyCredits'>,
  countId = id,
): CreditLimit[] => (monthlyCredits === null ? [] : [{ holder, name, countId, monthlyCredits }])

/** A key counts together with those that it replaces. */
export const countIdOf = ({ id, countId }: Pick<ApiKeyRow, 'id' | 'countId'>): string =>
  countId ?? id
