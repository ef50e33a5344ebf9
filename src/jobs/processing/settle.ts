// The effects of a job's end (jobs/processing/end): its credit, its webhook events and its pictures. Credit
// and events may be settled again; the Organisation's alarm and the sweep complete what a crash interrupts.
import type { JobRow } from '../../platform/db/schema.ts'
import { errorDocsPath } from '../../domain/docs.ts'
import { eventIdOf } from '../../platform/ids.ts'
import { log, logError } from '../../platform/log.ts'
import { record } from '../../platform/metrics.ts'
import { organisationStub } from '../../credits/organisation-stub.ts'
import { sendAll } from '../../platform/queues/batches.ts'
import { deletePictures } from '../pictures.ts'
import { deleteInputs } from './inputs.ts'

/**
 * Settles a job that has been processed, and deletes its pictures unless they are its output.
 * @param before the job before its end, which shows the copies that may be stored
 * @throws when a step failed; `settleAgain` completes it
 */
export async function settleProcessed(
  env: Env,
  { job, before, addedEventIds }: { job: JobRow; before: JobRow; addedEventIds: string[] },
): Promise<void> {
  log.info('job ended', {
    jobId: job.id,
    organisationId: job.organisationId,
    status: job.status,
    errorCode: job.errorCode,
    ...(job.errorCode && { docsUrl: errorDocsPath(job.errorCode) }),
    reason: job.failureReason,
    durationMs: job.durationMs,
    engine: job.engine,
    requestId: job.requestId,
  })
  await settle(env, { jobs: [job], addedEventIds })
  if (job.mode === 'test' || job.status === 'completed') return deleteInputs(env, before)
  // An attempt may have stored an output and crashed. Best effort: retention deletes what remains.
  await deletePictures(env, [job.id]).catch(logError('pictures not deleted', { jobId: job.id }))
}

/**
 * Settles credits and webhooks, and counts the ends. Call it once, where the status changes.
 * @param ended the jobs of one organisation that one transaction has ended, and their events of added endpoints
 * @throws when a step failed; `settleAgain` completes it
 */
export async function settle(env: Env, ended: { jobs: JobRow[]; addedEventIds: string[] }) {
  const { jobs, addedEventIds } = ended
  for (const { mode, status, errorCode, engine, durationMs, organisationId } of jobs)
    record(env, 'job', { mode, status, errorCode, engine }, durationMs ?? 0, organisationId)
  await settleAgain(env, jobs, addedEventIds)
}

/**
 * Settles credits and webhooks of ended jobs of one organisation. May be repeated.
 * @param addedEventIds a repetition does not know them: the sweep queues those whose message was lost
 */
export async function settleAgain(env: Env, jobs: JobRow[], addedEventIds: string[] = []) {
  const [first] = jobs
  if (!first) return
  const own = jobs.filter(({ webhookUrl }) => webhookUrl !== null).map(({ id }) => eventIdOf(id))
  // A failure of one must not prevent the other.
  const results = await Promise.allSettled([
    settleCredits(env, first.organisationId, jobs),
    wakeWaiters(env, first.organisationId, jobs),
    queueEvents(env, first.organisationId, [...own, ...addedEventIds]),
  ])
  for (const result of results) if (result.status === 'rejected') throw result.reason
}

async function settleCredits(env: Env, organisationId: string, jobs: JobRow[]): Promise<void> {
  const live = jobs.filter(({ mode }) => mode === 'live')
  const organisation = organisationStub(env, organisationId)
  const released = live.filter(({ status }) => status !== 'completed')
  const charged = released.filter(({ status, engine }) => status === 'failed' && mayCharge(engine))
  if (released.length > 0) await organisation.release(idsOf(released), idsOf(charged))
  for (const job of live) if (job.status === 'completed') await organisation.capture(job.id)
}

const idsOf = (jobs: JobRow[]) => jobs.map(({ id }) => id)

/** Whether a provider may have charged for a failed job. The embedded engine costs nothing. */
const mayCharge = (engine: string | null) => engine !== null && engine !== 'compositor'

/** Test jobs have no credits to settle. A lost signal only delays the response to a waiting request. */
async function wakeWaiters(env: Env, organisationId: string, jobs: JobRow[]): Promise<void> {
  const tests = jobs.filter(({ mode }) => mode === 'test').map(({ id }) => id)
  if (tests.length === 0) return
  await Promise.resolve(organisationStub(env, organisationId).jobsEnded(tests)).catch(
    (error: unknown) =>
      log.warn('waiting requests not woken', { organisationId, reason: String(error) }),
  )
}

async function queueEvents(env: Env, organisationId: string, eventIds: string[]): Promise<void> {
  const messages = eventIds.map((eventId) => ({ eventId, organisationId }))
  if (messages.length === 1) await env.WEBHOOKS.send(messages[0])
  else await sendAll(env.WEBHOOKS, messages)
}
