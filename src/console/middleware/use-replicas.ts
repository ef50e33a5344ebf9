// With `D1_READ_REPLICATION`, pages read from replicas (docs/adr/0038-replicas-for-the-console.md). The first read of
// the accounts, which is that of the session, runs on the primary, and the others of the request see at least its
// state: sign-outs, roles and forms take effect at once. For the databases of jobs, a cookie has the
// bookmarks of the forms that the browser has sent.
import { getCookie, setCookie } from 'hono/cookie'
import { ANY, PRIMARY, readNearby, withBookmarks } from '../../platform/db/read-sessions.ts'
import { jobsBindings } from '../../platform/db/database.ts'
import { settingsOf } from '../../platform/settings.ts'
import { signer, verify } from '../../platform/signing/hmac.ts'
import { createMiddleware, type ConsoleContext } from '../console-context.ts'
import { cookieOptions } from '../cookies.ts'

const COOKIE = 'try-on.bookmarks'
/** Replicas are seconds behind. */
const COOKIE_SECONDS = 10 * 60
/** A browser stores at least 4 kB per cookie. A bookmark has about 60 characters. */
const MAX_DATABASES = 16
/** Bookmarks contain no spaces. */
const SEPARATOR = ' '

/** The latest bookmark of each shard, oldest write first. */
type ShardBookmarks = Map<number, D1SessionBookmark>

export const useReplicas = createMiddleware(async (c, next) => {
  if (!settingsOf(c.env).readReplication) return next()
  const shards = jobsBindings(c.env)
  const known = readBookmarks(c)
  if (c.req.method === 'GET' || c.req.method === 'HEAD') {
    return readNearby((binding) => {
      const shard = shards.indexOf(binding)
      if (shard === -1 || known === null) return PRIMARY
      return known.get(shard) ?? ANY
    }, next)
  }
  const written = await withBookmarks(next)
  const bookmarks = new Map(known)
  shards.forEach((binding, shard) => {
    const bookmark = written.get(binding)
    if (!bookmark) return
    bookmarks.delete(shard)
    bookmarks.set(shard, bookmark)
  })
  if (bookmarks.size > 0) writeBookmarks(c, bookmarks)
})

/** @returns null for a cookie that is malformed, or of another session */
function readBookmarks(c: ConsoleContext): ShardBookmarks | null {
  const cookie = getCookie(c, COOKIE)
  if (cookie === undefined) return new Map()
  const end = cookie.lastIndexOf('.')
  const [entries, signature] = [cookie.slice(0, end), cookie.slice(end + 1)]
  const session = sessionOf(c)
  if (session === undefined) return null
  if (!verify(c.env, 'bookmark', signedText(session, entries), signature)) return null
  return new Map(
    entries.split(SEPARATOR).map((entry) => {
      const at = entry.indexOf(':')
      return [Number(entry.slice(0, at)), entry.slice(at + 1)]
    }),
  )
}

function writeBookmarks(c: ConsoleContext, bookmarks: ShardBookmarks): void {
  const session = sessionOf(c)
  // Without a session, the form wrote no jobs.
  if (session === undefined) return
  const entries = [...bookmarks]
    .slice(-MAX_DATABASES)
    .map(([shard, bookmark]) => `${shard}:${bookmark}`)
    .join(SEPARATOR)
  const signature = signer(c.env, 'bookmark')(signedText(session, entries))
  setCookie(c, COOKIE, `${entries}.${signature}`, cookieOptions(c, COOKIE_SECONDS))
}

const signedText = (session: string, entries: string) => `${session} ${entries}`

/** The session cookie of better-auth, which has a prefix on https. */
const sessionOf = (c: ConsoleContext): string | undefined =>
  Object.entries(getCookie(c)).find(([name]) => name.endsWith('try-on.session_token'))?.[1]
