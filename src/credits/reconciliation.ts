// Reconciles open reservations with the jobs in D1: a crash may have prevented the insert of a job or
// the settling of its credit.
import { inArray } from 'drizzle-orm'
import { isFinal, type JobStatus } from '../domain/job.ts'
import { jobs } from '../platform/db/schema.ts'
import { jobsDatabase } from '../platform/db/database.ts'
import { log } from '../platform/log.ts'
import { record } from '../platform/metrics.ts'
import type { Stores } from './stores.ts'

/** The age at which reservations are reconciled, ms. */
export const RECONCILE_AFTER_MS = 5 * 60_000
const PAGE_SIZE = 90 // D1 binds at most 100 values to a statement

/**
 * Settles every reservation whose last check is older than `RECONCILE_AFTER_MS`. Logs those that a crash
 * left behind.
 */
export async function reconcile({ env, stores }: { env: Env; stores: Stores }): Promise<void> {
  const before = Date.now() - RECONCILE_AFTER_MS
  let after = ''
  for (;;) {
    const open = stores.find()?.ledger.openSince(before, PAGE_SIZE, after) ?? []
    if (open.length === 0) return
    const statuses = await jobStatuses(env, open)
    const current = stores.find() // `destroy` may have run during the read of D1
    if (!current) return
    const { ledger, idempotency } = current
    // A replay may have renewed a reservation during the read of D1. Its status is then outdated.
    const unchanged = new Set(ledger.openSince(before, PAGE_SIZE, after))
    after = open.at(-1) ?? after
    const settled: { jobId: string; status: string }[] = []
    stores.transaction(() => {
      for (const jobId of open) {
        if (!unchanged.has(jobId)) continue
        const status = statuses.get(jobId)
        if (status !== undefined && !isFinal(status)) {
          ledger.renewReservation(jobId)
          continue
        }
        if (status === 'completed') ledger.capture(jobId)
        else ledger.release(jobId)
        if (status === undefined) idempotency.delete(jobId)
        settled.push({ jobId, status: status ?? 'not stored' })
      }
    })
    for (const fields of settled) log.warn('reservation left to the alarm', fields)
    if (settled.length > 0) record(env, 'sweep', { kind: 'reservations' }, settled.length)
  }
}

/**
 * The statuses of jobs of one organisation by id, without jobs that do not exist. Their ids name its
 * shard.
 * @throws Error when the shard is not bound: the jobs would count as not stored
 * @param jobIds at most 100, the limit of values that D1 binds to a statement
 */
export async function jobStatuses(env: Env, jobIds: string[]): Promise<Map<string, JobStatus>> {
  const [first] = jobIds
  if (first === undefined) return new Map()
  const rows = await jobsDatabase(env, first)
    .select({ id: jobs.id, status: jobs.status })
    .from(jobs)
    .where(inArray(jobs.id, jobIds))
  return new Map(rows.map(({ id, status }) => [id, status]))
}

/** When the oldest open reservation has to be reconciled, ms since 1970; Infinity without any. */
export function nextReconciliation(stores: Stores): number {
  const oldest = stores.find()?.ledger.oldestCheck() ?? null
  return oldest === null ? Infinity : oldest + RECONCILE_AFTER_MS
}
