// The D1 sessions of a request of the console (docs/adr/0038-replicas-for-the-console.md). Every statement
// uses `connection`. Outside of such a request, as in /v1, queues, cron and alarms, and without
// `D1_READ_REPLICATION`, it is the binding itself, which runs everything on the primary.
import { AsyncLocalStorage } from 'node:async_hooks'
import { perObject } from '../per-object.ts'

/** What a read must see: any state, the state of the primary, or at least that of a bookmark. */
export type Freshness = D1SessionConstraint | D1SessionBookmark

export const ANY = 'first-unconstrained' satisfies D1SessionConstraint
export const PRIMARY = 'first-primary' satisfies D1SessionConstraint

interface Scope {
  mayReadReplicas: boolean
  sessionOf(binding: D1Database): D1DatabaseSession
}

const scopes = new AsyncLocalStorage<Scope | undefined>()

/** The latest bookmark of each database. */
export type Bookmarks = ReadonlyMap<D1Database, D1SessionBookmark>

/**
 * Runs a request that only reads, with one session per database. Its statements may run on replicas.
 * @param first what the first read of a database must see. Later ones see at least the same state
 */
export const readNearby = <T>(first: (binding: D1Database) => Freshness, work: () => T): T => {
  const sessionOf = perObject((binding: D1Database) => binding.withSession(first(binding)))
  return scopes.run({ mayReadReplicas: true, sessionOf }, work)
}

/**
 * Runs a request that writes. All its statements run on the primary.
 * @returns the bookmarks, which include its writes
 */
export async function withBookmarks(work: () => Promise<unknown>): Promise<Bookmarks> {
  const sessions: { binding: D1Database; session: D1DatabaseSession }[] = []
  // Only the first statement of a session is certain to run on the primary.
  const sessionOf = (binding: D1Database) => {
    const session = binding.withSession(PRIMARY)
    sessions.push({ binding, session })
    return session
  }
  await scopes.run({ mayReadReplicas: false, sessionOf }, work)
  const latest = new Map<D1Database, D1SessionBookmark>()
  for (const { binding, session } of sessions) {
    const bookmark = session.getBookmark() ?? ''
    // Bookmarks sort by time (developers.cloudflare.com/d1/reference/glossary).
    if (bookmark > (latest.get(binding) ?? '')) latest.set(binding, bookmark)
  }
  return latest
}

/** Runs statements on the primary. */
export const atPrimary = <T>(work: () => PromiseLike<T>): Promise<T> =>
  // Awaits inside, because a Drizzle query runs when it is awaited.
  scopes.run(undefined, async () => await work())

/** Repeats a read on the primary if a replica did not have the row. */
export async function findNearby<Row>(find: () => Promise<Row | undefined>) {
  return (await find()) ?? (readsNearby() ? atPrimary(find) : undefined)
}

/** Whether the current request may read from replicas. */
export const readsNearby = (): boolean => scopes.getStore()?.mayReadReplicas ?? false

/**
 * The database as statements must use it. One object for the life of the isolate, which selects the session
 * of the current request at each statement, so that clients and queries may be cached.
 */
export const connection = perObject((binding: D1Database): D1Database => {
  const current = () => scopes.getStore()?.sessionOf(binding) ?? binding
  return new Proxy(binding, {
    get: (_, key) => {
      if (key === 'prepare') return (sql: string) => current().prepare(sql)
      if (key === 'batch') return (list: D1PreparedStatement[]) => current().batch(list)
      return Reflect.get(binding, key)
    },
  })
})
