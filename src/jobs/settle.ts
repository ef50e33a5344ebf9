// What follows from the end of a job: its credit and its webhook. All of it may be repeated; what a
// crash leaves out, the Organisation's alarm and the sweep make good.
import type { JobRow } from '../db/schema.ts'
import { eventIdOf } from '../ids.ts'
import { log } from '../log.ts'
import { organisationStub } from '../organisation/stub.ts'
import { endJob } from './store.ts'
import type { Ending } from './store.ts'

/**
 * Ends a processing job, then settles it. When somebody else ended it first, that end stands.
 * @returns whether this was the end
 * @throws when a step failed; calling again, or `settleEnded`, completes it
 */
export async function settleJob(env: Env, job: JobRow, ending: Ending): Promise<boolean> {
  // A picture is a picture, whoever made it; but only who still has the job may call it failed.
  const required = ending.status === 'failed' ? { dueAt: job.dueAt } : {}
  const { ended } = await endJob(env, job.id, 'processing', ending, required)
  if (!ended) return false
  log.info('job ended', {
    jobId: job.id,
    organisationId: job.organisationId,
    status: ended.status,
    errorCode: ended.errorCode,
    durationMs: ended.durationMs,
    engine: ended.engine,
  })
  await settleEnded(env, [ended])
  return true
}

/** Credits and webhooks of jobs that are over, all of one organisation. */
export async function settleEnded(env: Env, jobs: JobRow[]): Promise<void> {
  const [first] = jobs
  if (!first) return
  // The two do not depend on each other: one failing must not keep back the other.
  const results = await Promise.allSettled([
    settleCredits(env, first.organisationId, jobs),
    announce(env, jobs),
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

async function announce(env: Env, jobs: JobRow[]): Promise<void> {
  const messages = jobs
    .filter(({ webhookUrl }) => webhookUrl !== null)
    .map(({ id }) => ({ body: { eventId: eventIdOf(id) } }))
  if (messages.length === 1 && messages[0]) await env.WEBHOOKS.send(messages[0].body)
  else if (messages.length > 0) await env.WEBHOOKS.sendBatch(messages)
}
