// The net under everything that hangs on a queue message: each minute, what should have been worked
// on by now is queued again. Messages may so come twice, which every consumer takes.
import { log } from '../log.ts'
import { overdueEvents } from '../webhooks/store.ts'
import { takeOverdueJobs } from './store.ts'

const OVERDUE_MS = 30_000
const PENDING_AGAIN_AFTER_MS = 5 * 60_000
/** Of each kind at one sweep; the next takes the rest. */
const LIMIT = 2_000
/** A queue takes at most 100 messages at once. */
const MESSAGES_PER_SEND = 100

/**
 * Queues overdue jobs and webhook events again. Neither keeps back the other.
 * @throws when one of the two failed; the next sweep takes it up
 */
export async function sweep(env: Env): Promise<void> {
  const results = await Promise.allSettled([sweepJobs(env), sweepEvents(env)])
  const failures = results.filter((result) => result.status === 'rejected')
  for (const { reason } of failures) log.error('sweep failed', reason)
  if (failures[0]) throw failures[0].reason
}

async function sweepJobs(env: Env): Promise<void> {
  const jobs = await takeOverdueJobs(env, {
    overdueMs: OVERDUE_MS,
    againAfterMs: PENDING_AGAIN_AFTER_MS,
    limit: LIMIT,
  })
  await sendAll(
    env.JOBS,
    jobs.map(({ id, mode }) => ({ jobId: id, mode, swept: true })),
  )
  if (jobs.length > 0) log.warn('overdue jobs queued again', { jobs: jobs.length })
}

async function sweepEvents(env: Env): Promise<void> {
  const eventIds = await overdueEvents(env, OVERDUE_MS, LIMIT)
  await sendAll(
    env.WEBHOOKS,
    eventIds.map((eventId) => ({ eventId })),
  )
  if (eventIds.length > 0) log.warn('overdue webhooks queued again', { events: eventIds.length })
}

async function sendAll(queue: Queue, bodies: object[]): Promise<void> {
  for (let at = 0; at < bodies.length; at += MESSAGES_PER_SEND) {
    await queue.sendBatch(bodies.slice(at, at + MESSAGES_PER_SEND).map((body) => ({ body })))
  }
}
