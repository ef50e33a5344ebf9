// The transition table: illegal transitions do not compile, and no operation performs one.
import { env } from 'cloudflare:workers'
import { eq } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { jobsDatabase } from '../../src/platform/db/database.ts'
import { jobs, type JobRow } from '../../src/platform/db/schema.ts'
import { JOB_STATUSES, TRANSITIONS, type JobStatus, type Transition } from '../../src/domain/job.ts'
import { newId } from '../../src/platform/ids.ts'
import { claimJob } from '../../src/jobs/processing/claims.ts'
import { endJob, type EndingFrom, type JobEnd } from '../../src/jobs/processing/end.ts'
import { recordOf } from '../../src/jobs/processing/failure-record.ts'
import { holdOf } from '../../src/jobs/processing/hold.ts'
import { insertJob } from '../../src/jobs/job-store.ts'
import { newOrganisation } from '../support/world.ts'

const FAILED = { status: 'failed', ...recordOf(new Error('scripted by the test')) } as const
const ENDS: JobEnd[] = [
  { from: 'pending', ending: { status: 'refunded' } },
  { from: 'pending', ending: { status: 'cancelled' } },
  { from: 'processing', ending: { status: 'completed', outputFormat: 'png' } },
  { from: 'processing', ending: FAILED },
]
const isLegal = (from: JobStatus, to: JobStatus) =>
  (TRANSITIONS[from] as readonly JobStatus[]).includes(to)

const pairs = JOB_STATUSES.flatMap((from) => JOB_STATUSES.map((to) => [from, to] as const))

/** Inserts a job with a status and, unless it is pending, a valid lease. */
async function newJobWith(status: JobStatus) {
  const { orgId: organisationId, workspaceId } = await newOrganisation()
  const row = {
    id: newId('job'),
    organisationId,
    workspaceId,
    mode: 'test' as const,
    modelImageUrl: 'https://shop.test/model.jpg',
    garmentImageUrl: 'https://shop.test/garment.png',
    webhookUrl: null,
    baseUrl: 'https://try-on.test',
    apiKeyId: null,
    createdAt: new Date(),
    testEventFor: null,
    requestId: null,
  }
  await insertJob(env, row, holdOf(row))
  await jobsDatabase(env, row.id)
    .update(jobs)
    .set({ status, ...(status !== 'pending' && { dueAt: new Date(Date.now() + 60_000) }) })
    .where(eq(jobs.id, row.id))
  const read = async () =>
    (await jobsDatabase(env, row.id).select().from(jobs).where(eq(jobs.id, row.id)))[0]
  return { row, read }
}

/** Calls every operation that changes a job's status to `to`. */
async function attemptAll(jobId: string, to: JobStatus, row: Parameters<typeof insertJob>[1]) {
  if (to === 'pending') await insertJob(env, row, holdOf(row))
  if (to === 'processing') await claimJob({ env, jobId })
  for (const end of ENDS) if (end.ending.status === to) await endJob({ env, jobId, ...end })
}

describe('a status change', () => {
  it.each(pairs.filter(([from, to]) => !isLegal(from, to)))(
    'from %s to %s changes no row',
    async (from, to) => {
      const { row, read } = await newJobWith(from)
      const before = await read()
      await attemptAll(row.id, to, row)
      expect(await read()).toEqual(before)
    },
  )

  it.each(pairs.filter(([from, to]) => isLegal(from, to)))(
    'from %s to %s changes the row',
    async (from, to) => {
      const { row, read } = await newJobWith(from)
      await attemptAll(row.id, to, row)
      expect(await read()).toMatchObject({ status: to })
    },
  )
})

describe('the types', () => {
  it('reject transitions that the table does not contain', () => {
    // Never called: `npm run check` compiles it.
    const illegal = (row: JobRow) => [
      // @ts-expect-error a processing job cannot be refunded
      endJob({ env, jobId: row.id, from: 'processing', ending: { status: 'refunded' } }),
      // @ts-expect-error a processing job cannot be cancelled
      endJob({ env, jobId: row.id, from: 'processing', ending: { status: 'cancelled' } }),
      // @ts-expect-error a pending job cannot fail
      endJob({ env, jobId: row.id, from: 'pending', ending: FAILED }),
      // @ts-expect-error a final status has no successor
      endJob({ env, jobId: row.id, from: 'completed', ending: { status: 'refunded' } }),
      // @ts-expect-error only a pending job is refunded
      { status: 'refunded' } satisfies EndingFrom<'processing'>,
      // @ts-expect-error a pending job is claimed before it completes
      { from: 'pending', to: 'completed' } satisfies Transition,
      // @ts-expect-error a processing job does not return to pending
      { from: 'processing', to: 'pending' } satisfies Transition,
      // @ts-expect-error a final status has no successor
      { from: 'failed', to: 'processing' } satisfies Transition,
    ]
    expect(illegal).toBeTypeOf('function')
  })
})
