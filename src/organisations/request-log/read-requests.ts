// Reads the request log of an organisation.
import { eq } from 'drizzle-orm'
import { requireUnlimited, type OrganisationRequest } from '../authorisation.ts'
import { database } from '../../platform/db/database.ts'
import { apiKeys, type ApiKeyRow } from '../../platform/db/schema.ts'
import { AppError } from '../../domain/errors.ts'
import {
  keyReference,
  type RequestEntry,
  type RequestFilter,
  type RequestQuery,
} from '../../credits/request-log.ts'
import { organisationStub } from '../../credits/organisation-stub.ts'

/** The maximum number of calls per page; each reads at most 1 MB of the log. */
const MAX_CALLS = 8
/** A search for an ID reads the whole log. */
const MAX_CALLS_FOR_ID = 100

export type RequestPage = Awaited<ReturnType<typeof readRequestLog>>

type LogKey = Pick<ApiKeyRow, 'id' | 'name' | 'mode' | 'lastFour' | 'revokedAt'>

/** An entry with its API key; null for a key that the organisation does not have. */
export type RequestWithKey = ReturnType<typeof withKey>

/** The keys of an organisation by their reference in the log. */
async function keysOf(env: Env, organisationId: string): Promise<Map<string, LogKey>> {
  const { id, name, mode, lastFour, revokedAt, hash } = apiKeys
  const rows = await database(env)
    .select({ id, name, mode, lastFour, revokedAt, hash })
    .from(apiKeys)
    .where(eq(apiKeys.organisationId, organisationId))
  return new Map(rows.map(({ hash, ...key }) => [keyReference(hash), key]))
}

const withKey = (keys: Map<string, LogKey>, { key, ...entry }: RequestEntry) => ({
  ...entry,
  apiKey: (key !== null && keys.get(key)) || null,
})

/**
 * A page of the log, by default the newest. Requests appear within a few seconds.
 * @param request.keyId an API key; a key of another organisation has no requests
 * @param request.before or `after`: a position from a page
 * @returns `requests`: newest first; `olderThan`, `newerThan`: positions beyond which further requests may
 *   follow; `isPartial`: whether the search ended before the page was full or the log was read
 * @throws AppError not_found
 */
export async function readRequestLog(
  request: OrganisationRequest & {
    keyId?: string | undefined
    filter: Omit<RequestFilter, 'key'>
    limit: number
    before?: string | undefined
    after?: string | undefined
  },
) {
  await requireUnlimited(request, 'jobs')
  const { env, organisationId, keyId, filter, limit } = request
  let { before, after } = request
  const keys = await keysOf(env, organisationId)
  // No entry has this reference.
  const key = keyId && ([...keys].find(([, { id }]) => id === keyId)?.[0] ?? 'unknown')
  const scan = () =>
    scanLog(env, organisationId, {
      filter: { ...filter, key: key || undefined },
      // One more than the page shows that there are more.
      limit: limit + 1,
      direction: after === undefined ? 'older' : 'newer',
      from: after ?? before,
    })
  let result = await scan()
  // At the newest page: shows it in full.
  if (after !== undefined && result.from === undefined && result.found.length <= limit) {
    before = undefined
    after = undefined
    result = await scan()
  }
  const { found, from } = result
  const hasMore = found.length > limit
  const page = found.slice(0, limit)
  const lastPosition = hasMore ? page.at(-1)?.position : from
  const firstPosition = page[0]?.position
  const [olderThan, newerThan] =
    after === undefined
      ? [lastPosition, before === undefined ? undefined : (firstPosition ?? before)]
      : [firstPosition ?? after, lastPosition]
  return {
    requests: (after === undefined ? page : page.toReversed()).map((entry) => withKey(keys, entry)),
    olderThan,
    newerThan,
    isPartial: from !== undefined && !hasMore,
    keys: [...keys.values()],
  }
}

/**
 * One request. Several requests can have the same ID, since clients may choose it.
 * @param position selects one of them; by default the latest
 * @throws AppError not_found
 */
export async function readRequest(
  request: OrganisationRequest & { requestId: string; position: string | undefined },
): Promise<RequestWithKey> {
  const { env, organisationId, requestId, position } = request
  await requireUnlimited(request, 'jobs')
  const latest = { filter: { id: requestId }, limit: 1, direction: 'older' } as const
  const entry =
    position === undefined
      ? (await scanLog(env, organisationId, latest)).found[0]
      : await organisationStub(env, organisationId).requestAt(position)
  if (entry?.requestId !== requestId) throw new AppError('not_found')
  return withKey(await keysOf(env, organisationId), entry)
}

/**
 * Reads the log until `limit` entries match, in a bounded number of calls.
 * @returns `from`: where the log continues; undefined at its end
 */
async function scanLog(env: Env, organisationId: string, { limit, ...query }: RequestQuery) {
  const found: RequestEntry[] = []
  let { from } = query
  let calls = query.filter.id === undefined ? MAX_CALLS : MAX_CALLS_FOR_ID
  do {
    const scan = await organisationStub(env, organisationId).readRequests({
      ...query,
      limit: limit - found.length,
      from,
    })
    found.push(...scan.entries)
    from = scan.continueFrom
  } while (from !== undefined && found.length < limit && --calls > 0)
  return { found, from }
}
