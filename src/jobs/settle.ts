// The consequences of a job's end: its credit and its webhook. Every step may be repeated; the
// Organisation's alarm and the sweep complete what a crash interrupts.
import type { JobRow } from '../db/schema.ts'
import { errorDocsPath } from '../domain/docs.ts'
import { eventIdOf } from '../ids.ts'
import { log } from '../log.ts'
import { record } from '../metrics.ts'
import { organisationStub } from '../organisation/stub.ts'
import { batchesOf } from '../queues/batches.ts'
import { endJob } from './endings.ts'
import type { EndingFrom } from './endings.ts'

/**
 * Ends a processing job, then settles it. Does nothing when the job has ended already.
 * @returns whether this call ended the job
 * @throws when a step failed; calling again, or `settleEnded`, completes it
 */
export async function settleJob({
  env,
  job,
  ending,
}: {
  env: Env
  job: Readonly<JobRow>
  ending: EndingFrom<'processing'>
}): Promise<boolean> {
  // A lost claim does not prevent a job from completing, but it prevents it from failing.
  const required = ending.status === 'failed' ? { dueAt: job.dueAt } : {}
  const { ended, addedEventIds } = await endJob({
    env,
    jobId: job.id,
    from: 'processing',
    ending,
    required,
  })
  if (!ended) return false
  log.info('job ended', {
    jobId: job.id,
    organisationId: job.organisationId,
    status: ended.status,
    errorCode: ended.errorCode,
    ...(ended.errorCode && { docsUrl: errorDocsPath(ended.errorCode) }),
    reason: ended.failureReason,
    durationMs: ended.durationMs,
    engine: ended.engine,
    requestId: job.requestId,
  })
  recordEnd(env, ended)
  await settleEnded(env, [ended], addedEventIds)
  return true
}

/** Counts the end of a job. Call it once, where its status changes. */
export function recordEnd(env: Env, { mode, status, errorCode, engine, ...job }: JobRow): void {
  record(env, 'job', { mode, status, errorCode, engine }, job.durationMs ?? 0, job.organisationId)
}

/**
 * Settles credits and webhooks of ended jobs of one organisation.
 * @param addedEventIds their events of added endpoints, as the transaction that ended the jobs returned
 *   them. A repetition does not know them: the sweep queues those whose message was lost
 */
export async function settleEnded(
  env: Env,
  jobs: JobRow[],
  addedEventIds: string[] = [],
): Promise<void> {
  const [first] = jobs
  if (!first) return
  // A failure of one must not prevent the other.
  const results = await Promise.allSettled([
    settleCredits(env, first.organisationId, jobs),
    queueEvents(env, first.organisationId, [...ownEventIdsOf(jobs), ...addedEventIds]),
  ])
  for (const result of results) if (result.status === 'rejected') throw result.reason
}

async function settleCredits(env: Env, organisationId: string, jobs: JobRow[]): Promise<void> {
  const live = jobs.filter(({ mode }) => mode === 'live')
  const organisation = organisationStub(env, organisationId)
  const released = live.filter(({ status }) => status !== 'completed').map(({ id }) => id)
  if (released.length > 0) await organisation.release(released)
  for (const job of live) if (job.status === 'completed') await organisation.capture(job.id)
}

const ownEventIdsOf = (jobs: JobRow[]): string[] =>
  jobs.filter(({ webhookUrl }) => webhookUrl !== null).map(({ id }) => eventIdOf(id))

async function queueEvents(env: Env, organisationId: string, eventIds: string[]): Promise<void> {
  const messages = eventIds.map((eventId) => ({ body: { eventId, organisationId } }))
  if (messages.length === 1 && messages[0]) return void (await env.WEBHOOKS.send(messages[0].body))
  for (const batch of batchesOf(messages)) await env.WEBHOOKS.sendBatch(batch)
}
