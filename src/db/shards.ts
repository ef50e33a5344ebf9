// The D1 databases of jobs, webhook events and attempts: `JOBS_DB_0`, `JOBS_DB_1`, … An organisation's id
// carries the number of its shard, and so do the ids of its jobs and events, so that one statement
// reaches the right database. Accounts are in `DB`. All databases have the same migrations.
import { drizzle } from 'drizzle-orm/d1'
import { MAX_SHARD, shardOf } from '../ids.ts'
import { perEnv } from '../settings.ts'
import type { Database } from './client.ts'
import { connection } from './sessions.ts'

/** The bindings of all shards, by number. The numbers have no gaps. */
export const jobsBindings = perEnv((env): readonly D1Database[] => {
  const found: D1Database[] = []
  for (let shard = 0; shard <= MAX_SHARD; shard++) {
    const binding: D1Database | undefined = Reflect.get(env, `JOBS_DB_${shard}`)
    if (!binding) break
    found.push(binding)
  }
  return found
})

/**
 * The database of an organisation's jobs.
 * @param id of the organisation, or of one of its jobs or events. An id that names no shard, such as an
 *   invented one, belongs to shard 0, which does not have it.
 */
export const jobsBinding = (env: Env, id: string): D1Database =>
  jobsBindings(env)[shardOf(id)] ?? env.JOBS_DB_0

/** A Drizzle client for `jobsBinding`. */
export const jobsDatabase = (env: Env, id: string): Database =>
  drizzle(connection(jobsBinding(env, id)))
