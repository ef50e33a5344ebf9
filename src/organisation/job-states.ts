// The statuses of jobs in D1, for reconciliation.
import { inArray } from 'drizzle-orm'
import { database } from '../db/client.ts'
import { jobs } from '../db/schema.ts'
import type { JobStatus } from '../domain/job.ts'

/**
 * The statuses of jobs by id, without jobs that do not exist.
 * @param jobIds at most 100, the limit of values that D1 binds to a statement
 */
export async function jobStatuses(env: Env, jobIds: string[]): Promise<Map<string, JobStatus>> {
  const rows = await database(env)
    .select({ id: jobs.id, status: jobs.status })
    .from(jobs)
    .where(inArray(jobs.id, jobIds))
  return new Map(rows.map(({ id, status }) => [id, status]))
}
