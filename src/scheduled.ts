// The tasks that cron runs each minute: the sweep, retention, deletions, the statistics of finished days,
// the encryption of stored secrets, and lost messages of the payment provider. The sweep requeues jobs
// and webhook events whose `sweepAt` has passed, in case their message was lost. Consumers accept
// duplicate messages.
import type { Database } from './db/client.ts'
import { forEachShard } from './db/shards.ts'
import { reencryptTotpSecrets } from './accounts/reencrypt-totp-secrets.ts'
import { runDeletions } from './accounts/run-deletions.ts'
import { catchUpEvents } from './billing/catch-up-events.ts'
import { runRetention } from './retention/run.ts'
import { log, withLogFields } from './log.ts'
import { record } from './metrics.ts'
import { MODES } from './domain/job.ts'
import type { Mode } from './domain/job.ts'
import { reencryptWebhookSecrets } from './webhooks/reencrypt-secrets.ts'
import { takeSweptEvents } from './webhooks/store.ts'
import { countFinishedDay } from './jobs/daily-statistics.ts'
import { messageOf, queueOf } from './jobs/queue.ts'
import { batchesOf } from './queues/batches.ts'
import { takeSweptJobs } from './jobs/store.ts'

/** The maximum number of rows of each kind per run, in all shards. The next run processes the rest. */
const MAX_ROWS = 20_000
const PAGE_ROWS = 1_000
/** If a queue has more messages than this, a pending job probably still has its message there. */
const LONG_BACKLOG = 100

/**
 * Runs every task, even if an earlier one fails. Each task logs its failures, and the next run
 * continues it.
 * @throws the first failure
 */
export async function runScheduledTasks(env: Env): Promise<void> {
  const failures: unknown[] = []
  const tasks = {
    sweep,
    countFinishedDay,
    runRetention,
    runDeletions,
    reencryptWebhookSecrets,
    reencryptTotpSecrets,
    catchUpEvents,
  }
  for (const [name, task] of Object.entries(tasks)) {
    const error = await withLogFields({ task: name }, () => runTask(env, name, task))
    if (error !== undefined) failures.push(error)
  }
  if (failures.length > 0) throw failures[0]
}

/** Runs a task and writes its log line. @returns its failure, if any */
async function runTask(
  env: Env,
  name: string,
  task: (env: Env) => Promise<unknown>,
): Promise<unknown> {
  const startedAt = Date.now()
  let failure: unknown
  await task(env).catch((error: unknown) => (failure = error ?? new Error('unknown')))
  const ms = Date.now() - startedAt
  const outcome = failure === undefined ? 'done' : 'failed'
  log.info('task', { outcome, ms })
  record(env, 'task', { task: name, outcome }, ms)
  return failure
}

/**
 * Requeues overdue jobs and webhook events. A failure of one kind does not stop the other.
 * @throws when one of the two failed; rows without a message are swept again after 15 minutes
 */
export async function sweep(env: Env): Promise<void> {
  const results = await Promise.allSettled([sweepJobs(env), sweepEvents(env)])
  const failures = results.filter((result) => result.status === 'rejected')
  for (const { reason } of failures) log.error('sweep failed', reason)
  if (failures[0]) throw failures[0].reason
}

async function sweepJobs(env: Env): Promise<void> {
  const queued = await modesWithBacklog(env)
  const budget = { left: MAX_ROWS }
  await forEachShard(env, 'sweep jobs', (db) => sweepJobsOf({ env, db, queued, budget }))
}

async function sweepJobsOf({
  env,
  db,
  queued,
  budget,
}: {
  env: Env
  db: Database
  queued: Mode[]
  budget: Budget
}): Promise<void> {
  let sent = 0
  await takePages(budget, async (limit) => {
    const { taken, toSend } = await takeSweptJobs({ db, queued, limit })
    for (const mode of MODES) {
      const messages = toSend.filter((job) => job.mode === mode).map(messageOf)
      await sendAll(
        queueOf(env, mode),
        messages.map((message) => ({ ...message, swept: true })),
      )
    }
    sent += toSend.length
    return taken
  })
  record(env, 'sweep', { kind: 'jobs' }, sent)
  if (sent > 0) log.warn('overdue jobs requeued', { jobs: sent })
}

async function sweepEvents(env: Env): Promise<void> {
  const budget = { left: MAX_ROWS }
  await forEachShard(env, 'sweep webhook events', (db) => sweepEventsOf(env, db, budget))
}

async function sweepEventsOf(env: Env, db: Database, budget: Budget): Promise<void> {
  let sent = 0
  await takePages(budget, async (limit) => {
    const events = await takeSweptEvents(db, limit)
    await sendAll(
      env.WEBHOOKS,
      events.map(({ id, organisationId }) => ({ eventId: id, organisationId })),
    )
    sent += events.length
    return events.length
  })
  record(env, 'sweep', { kind: 'events' }, sent)
  if (sent > 0) log.warn('overdue webhook events requeued', { events: sent })
}

/** How many rows of a kind a run may still take. The shards share it, so that a backlog may be in one. */
interface Budget {
  left: number
}

/** Takes the pages of one shard. @param takePage returns how many rows it took */
async function takePages(
  budget: Budget,
  takePage: (limit: number) => Promise<number>,
): Promise<void> {
  while (budget.left > 0) {
    const limit = Math.min(PAGE_ROWS, budget.left)
    budget.left -= limit
    const taken = await takePage(limit)
    budget.left += limit - taken
    if (taken < limit) return
  }
}

/** The modes whose queue is long. A queue whose length is unknown counts as short. */
async function modesWithBacklog(env: Env): Promise<Mode[]> {
  const backlogOf = async (mode: Mode) => {
    try {
      return (await queueOf(env, mode).metrics()).backlogCount
    } catch (error) {
      log.error('backlog unknown', error, { mode })
      return 0
    }
  }
  const backlogs = await Promise.all(MODES.map(backlogOf))
  return MODES.filter((_, at) => (backlogs[at] ?? 0) > LONG_BACKLOG)
}

async function sendAll(queue: Queue, bodies: object[]): Promise<void> {
  for (const batch of batchesOf(bodies)) await queue.sendBatch(batch.map((body) => ({ body })))
}
