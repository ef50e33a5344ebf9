// Claims and leases. A claim assigns a job to one consumer until its lease ends (`dueAt`). After that,
// any consumer may claim the job. If a conditional update returns no row, another writer was first.
import { and, eq, sql, type SQL } from 'drizzle-orm'
import { standingOf } from '../../organisations/closed-organisations.ts'
import { preparedBatch } from '../../platform/db/prepared-query.ts'
import { hasChanged, jobsBinding, jobsDatabase } from '../../platform/db/database.ts'
import { jobs, type JobRow } from '../../platform/db/schema.ts'
import type { Transition } from '../../domain/job.ts'
import type { JobMessage } from '../queue.ts'
import type { FailureRecord } from './failure-record.ts'

/** The lease of a claim, ms: longer than downloads, a poll and a composition take. */
export const LEASE_MS = 2 * 60_000
/** The lease of a paid start, ms: some providers respond only when the picture is ready. */
export const START_LEASE_MS = 200_000

const CLAIM = { from: 'pending', to: 'processing' } as const satisfies Transition

const value = (name: string): SQL => sql`${sql.placeholder(name)}`

const claimStatements = preparedBatch((db) => [
  db
    .update(jobs)
    .set({
      status: CLAIM.to,
      startedAt: sql`coalesce(${jobs.startedAt}, ${value('now')})`,
      // A claim that only polls an engine is not another attempt.
      attempts: sql`${jobs.attempts} + (${jobs.engineHandle} is null)`,
      dueAt: value('dueAt'),
    })
    .where(
      and(
        eq(jobs.id, value('jobId')),
        // The clock of the Organisation that created the job may be ahead of this one.
        sql`(${value('mayStart')} and ${jobs.status} = ${CLAIM.from}
              and ${jobs.dueAt} <= max(${value('now')}, ${jobs.createdAt})
             or ${jobs.status} = ${CLAIM.to} and ${jobs.dueAt} <= ${value('now')})`,
      ),
    )
    .returning(),
  db
    .select()
    .from(jobs)
    .where(eq(jobs.id, value('jobId'))),
])

/**
 * Claims a pending job, or takes over a processing job whose lease has ended. A pending job is not
 * claimed before it is due, or when its organisation is suspended or scheduled for deletion.
 * @param organisationId the job's organisation; read from the job if undefined, as in a message of an
 *   earlier version
 * @returns the claimed job, if any, the job as stored after the call, and whether its organisation pays
 */
export async function claimJob({ env, jobId, organisationId }: JobMessage & { env: Env }) {
  // Read before the claim: a job that is claimed just after the suspension was claimable just before.
  // If a crash follows, nothing has changed. The suspension withdraws what is still pending.
  const ownerId = organisationId ?? (await ownerOf(env, jobId))
  const { isOpen, isPaying } =
    ownerId === undefined ? { isOpen: false, isPaying: false } : await standingOf(env, ownerId)
  const now = Date.now()
  const [[claimed], [found]] = await claimStatements(jobsBinding(env, jobId), {
    jobId,
    now,
    mayStart: Number(isOpen),
    dueAt: now + LEASE_MS,
  })
  return { claimed, found, isPaying }
}

async function ownerOf(env: Env, jobId: string): Promise<string | undefined> {
  const [job] = await jobsDatabase(env, jobId)
    .select({ organisationId: jobs.organisationId })
    .from(jobs)
    .where(eq(jobs.id, jobId))
  return job?.organisationId
}

/**
 * Writes the progress of a claimed job. A `dueAt` in the future extends the lease or delays the next
 * claim; any other `dueAt` releases the lease immediately.
 * @param job the state to write; its own `dueAt` identifies the claim
 * @returns false, without a write, when the claim has been lost
 */
export async function saveClaim(progress: {
  env: Env
  job: Readonly<JobRow>
  dueAt: Date
  failure?: FailureRecord | undefined
}): Promise<boolean> {
  const { env, job, dueAt, failure } = progress
  const { engine, engineHandle, ambiguousStarts, attempts } = job
  // Each claim sets a different `dueAt`, so it identifies the claim.
  const isClaim = and(eq(jobs.id, job.id), eq(jobs.status, CLAIM.to), eq(jobs.dueAt, job.dueAt))
  const change = { engine, engineHandle, ambiguousStarts, attempts, ...failure, dueAt }
  return hasChanged(jobsDatabase(env, job.id).update(jobs).set(change).where(isClaim))
}
