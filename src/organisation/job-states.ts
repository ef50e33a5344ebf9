// The statuses of jobs in D1, for reconciliation.
import { inArray } from 'drizzle-orm'
import { jobsDatabase, requireShard } from '../db/shards.ts'
import { jobs } from '../db/schema.ts'
import type { JobStatus } from '../domain/job.ts'

/**
 * The statuses of jobs of one organisation by id, without jobs that do not exist. Their ids name its
 * shard.
 * @throws Error when the shard is not bound: the jobs would count as not stored
 * @param jobIds at most 100, the limit of values that D1 binds to a statement
 */
export async function jobStatuses(env: Env, jobIds: string[]): Promise<Map<string, JobStatus>> {
  const [first] = jobIds
  if (first === undefined) return new Map()
  requireShard(env, first)
  const rows = await jobsDatabase(env, first)
    .select({ id: jobs.id, status: jobs.status })
    .from(jobs)
    .where(inArray(jobs.id, jobIds))
  return new Map(rows.map(({ id, status }) => [id, status]))
}
