// With `D1_READ_REPLICATION`, GET requests of /v1 read from the nearest replica, and the other requests
// collect the bookmark of their writes for the Organisation (docs/adr/0031-read-replicas.md).
import type { MiddlewareHandler } from 'hono'
import { ANY, readNearby, withBookmarks } from '../db/sessions.ts'
import { jobsBinding } from '../db/shards.ts'
import { settingsOf } from '../settings.ts'
import type { ApiApp } from './context.ts'

export const useReplicas: MiddlewareHandler<ApiApp> = async (c, next) => {
  if (!settingsOf(c.env).readReplication) return next()
  if (c.req.method === 'GET') return readNearby(() => ANY, next)
  const bookmarks = await withBookmarks(next)
  const caller = c.get('caller')
  // Without a well-formed key, nothing was written.
  const bookmark = caller && bookmarks.get(jobsBinding(c.env, caller.organisationId))
  if (bookmark) c.set('bookmark', bookmark)
}
