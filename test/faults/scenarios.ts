// The scenarios of the crash tests. Faults are injected only into `run`.
import { env } from 'cloudflare:workers'
import { JobFailure } from '../../src/domain/failure.ts'
import { count, DAY_MS, picturesOf, storeCopy } from '../support/retention.ts'
import { CDN, HOOK, type Reply, type Harness } from './harness.ts'
import { FaultInjector } from './fault-injector.ts'
import { jobsDb } from '../support/jobs-database.ts'

export interface Scenario {
  name: string
  /** Creates the preconditions. @returns a value for `run`, such as a job's id */
  prepare?(harness: Harness): Promise<string>
  run(
    harness: Harness,
    faultInjector: FaultInjector,
    prepared: string,
  ): Promise<Reply | undefined | void>
  /** Checks the result when no work is left. @returns the problems */
  afterwards?(harness: Harness, reply: Reply | undefined, prepared: string): Promise<string[]>
}

const IMAGES = { model_image_url: `${CDN}/model`, garment_image_url: `${CDN}/garment` }
const TWO_SECONDS = { model_image_url: 'https://test.invalid/delay/2' }
const noFaults = () => new FaultInjector()

const submit = (
  harness: Harness,
  faultInjector: FaultInjector,
  body: object = {},
  headers = {},
  key = harness.shop.keys.live,
) =>
  harness.request(faultInjector, key, 'POST', '/v1/tryon', {
    body: { ...IMAGES, webhook_url: HOOK, ...body },
    headers,
  })

/** Submits a job. Its message is not processed yet. */
export async function submitted(
  harness: Harness,
  body: object = {},
  key?: string,
): Promise<string> {
  const reply = await submit(harness, noFaults(), body, {}, key)
  if (reply?.status !== 202) throw new Error(`The submission failed: ${JSON.stringify(reply)}`)
  return String(reply.body['job_id'])
}

/** Completes a job. Its event is not delivered yet. */
async function completed(harness: Harness): Promise<string> {
  const jobId = await submitted(harness)
  await consumeOne(harness, noFaults(), 'tryon-jobs')
  return jobId
}

/** An event whose first attempt timed out. The second is not made yet. */
async function timedOutDelivery(harness: Harness): Promise<void> {
  harness.timeouts = 1
  await completed(harness)
  await consumeOne(harness, noFaults(), 'tryon-webhooks')
}

export async function consumeOne(
  harness: Harness,
  faultInjector: FaultInjector,
  queue: string,
): Promise<void> {
  const message = harness.queues.take(queue)
  if (message) await harness.consume(faultInjector, message)
}

/** Processes all messages of a queue, including delayed ones. */
export async function consumeAll(
  harness: Harness,
  faultInjector: FaultInjector,
  queue: string,
): Promise<void> {
  for (let at = harness.queues.nextAt(queue); at !== undefined; at = harness.queues.nextAt(queue)) {
    harness.advance(Math.max(0, at - Date.now()))
    await consumeOne(harness, faultInjector, queue)
  }
}

const operate = (
  harness: Harness,
  faultInjector: FaultInjector,
  path: string,
  body?: object,
  method = 'POST',
) =>
  harness.request(faultInjector, env.OPERATOR_TOKEN, method, `/operator${path}`, body && { body })

async function statusIs(harness: Harness, jobId: string, ...expected: string[]): Promise<string[]> {
  const reply = await harness.request(
    noFaults(),
    harness.shop.keys.live,
    'GET',
    `/v1/jobs/${jobId}`,
  )
  const status = String(reply?.body['status'])
  return expected.includes(status) ? [] : [`the job is ${status}, not ${expected.join(' or ')}`]
}

const ONCE = { 'Idempotency-Key': 'order-1' }

export const SCENARIOS: Scenario[] = [
  {
    name: 'submit',
    run: (harness, faultInjector) => submit(harness, faultInjector),
    async afterwards(harness, reply) {
      if (reply?.status !== 202) return []
      return statusIs(harness, String(reply.body['job_id']), 'completed')
    },
  },
  {
    name: 'submit with an Idempotency-Key',
    run: (harness, faultInjector) => submit(harness, faultInjector, {}, ONCE),
    async afterwards(harness, first) {
      const late = await submit(harness, noFaults(), {}, ONCE)
      await harness.finishAllWork()
      const replies = [first, late, await submit(harness, noFaults(), {}, ONCE)]
      return sameJob(harness, replies)
    },
  },
  {
    name: 'submit with an Idempotency-Key, retried immediately',
    async run(harness, faultInjector) {
      const first = await submit(harness, faultInjector, {}, ONCE)
      const again = await submit(harness, noFaults(), {}, ONCE)
      if (again?.status !== 202) throw new Error(`The retry failed: ${JSON.stringify(again)}`)
      if (first?.status === 202 && first.body['job_id'] !== again.body['job_id']) {
        throw new Error('The retry created another job')
      }
      return again
    },
    async afterwards(harness, again) {
      return sameJob(harness, [again, await submit(harness, noFaults(), {}, ONCE)])
    },
  },
  {
    name: 'cancel',
    prepare: (harness) => submitted(harness),
    run: (harness, faultInjector, jobId) =>
      harness.request(faultInjector, harness.shop.keys.live, 'DELETE', `/v1/jobs/${jobId}`),
    async afterwards(harness, reply, jobId) {
      if (reply?.status === 200) return statusIs(harness, jobId, 'refunded')
      return statusIs(harness, jobId, 'refunded', 'completed')
    },
  },
  {
    name: 'process to success',
    prepare: (harness) => submitted(harness),
    run: (harness, faultInjector) => consumeOne(harness, faultInjector, 'tryon-jobs'),
    // A failed download fails the job.
    afterwards: (harness, _, jobId) => statusIs(harness, jobId, 'completed', 'failed'),
  },
  {
    name: 'process to failure',
    prepare: (harness) => submitted(harness, { garment_image_url: `${CDN}/missing` }),
    run: (harness, faultInjector) => consumeOne(harness, faultInjector, 'tryon-jobs'),
    afterwards: (harness, _, jobId) => statusIs(harness, jobId, 'failed'),
  },
  {
    name: 'process with a second attempt',
    prepare(harness) {
      harness.engineFailures = [new JobFailure('engine_unavailable', 'busy', { retriable: true })]
      return submitted(harness)
    },
    run: (harness, faultInjector) => consumeAll(harness, faultInjector, 'tryon-jobs'),
    afterwards: (harness, _, jobId) => statusIs(harness, jobId, 'completed', 'failed'),
  },
  {
    name: 'process the last attempt',
    async prepare(harness) {
      const busy = () => new JobFailure('engine_unavailable', 'busy', { retriable: true })
      harness.engineFailures = Array.from({ length: 20 }, busy)
      const jobId = await submitted(harness)
      for (let tries = 0; tries < 5; tries++) {
        await consumeOne(harness, noFaults(), 'tryon-jobs')
        harness.advance(60_000)
      }
      return jobId
    },
    run: (harness, faultInjector) => consumeAll(harness, faultInjector, 'tryon-jobs'),
    afterwards: (harness, _, jobId) => statusIs(harness, jobId, 'failed'),
  },
  {
    name: 'process with polls of the engine',
    prepare: (harness) => submitted(harness, TWO_SECONDS, harness.shop.keys.test),
    run: (harness, faultInjector) => consumeAll(harness, faultInjector, 'tryon-test-jobs'),
    afterwards: (harness, _, jobId) => statusIs(harness, jobId, 'completed'),
  },
  {
    name: 'process a dead-lettered message',
    async prepare(harness) {
      const jobId = await submitted(harness)
      harness.queues.clear()
      harness.queues.put('tryon-jobs-dead', [{ body: { jobId } }])
      return jobId
    },
    run: (harness, faultInjector) => consumeOne(harness, faultInjector, 'tryon-jobs-dead'),
    // The sweep may requeue the job before the message is delivered again.
    afterwards: (harness, _, jobId) => statusIs(harness, jobId, 'failed', 'completed'),
  },
  {
    name: 'deliver',
    prepare: completed,
    run: (harness, faultInjector) => consumeOne(harness, faultInjector, 'tryon-webhooks'),
  },
  {
    name: 'deliver with retries',
    prepare(harness) {
      harness.rejections = 2
      return completed(harness)
    },
    run: (harness, faultInjector) => consumeAll(harness, faultInjector, 'tryon-webhooks'),
  },
  {
    name: 'deliver to an endpoint that timed out',
    async prepare(harness) {
      await timedOutDelivery(harness)
      return completed(harness)
    },
    run: (harness, faultInjector) => consumeAll(harness, faultInjector, 'tryon-webhooks'),
  },
  {
    name: 'delay a delivery to a busy endpoint',
    async prepare(harness) {
      await timedOutDelivery(harness)
      // For two delays: each more would repeat the same calls.
      await jobsDb(harness.shop.orgId)
        .prepare('UPDATE failing_receivers SET busy_until = ? WHERE organisation_id = ?')
        .bind(Date.now() + 4_000, harness.shop.orgId)
        .run()
      return completed(harness)
    },
    run: (harness, faultInjector) => consumeAll(harness, faultInjector, 'tryon-webhooks'),
  },
  {
    name: 'withdraw',
    prepare: (harness) => submitted(harness),
    run: (harness, faultInjector, jobId) =>
      operate(harness, faultInjector, `/jobs/${jobId}/withdraw`),
    async afterwards(harness, reply, jobId) {
      if (reply?.status === 200) return statusIs(harness, jobId, 'cancelled')
      return statusIs(harness, jobId, 'cancelled', 'completed')
    },
  },
  {
    name: 'grant credits',
    run: (harness, faultInjector) => credit(harness, faultInjector),
    async afterwards(harness) {
      const reply = await credit(harness, noFaults())
      return reply?.body['credits'] === 150 ? [] : [`the credits are ${JSON.stringify(reply)}`]
    },
  },
  {
    name: 'create an organisation',
    prepare: async (harness) => `Twin of ${harness.shop.orgId}`,
    run: (harness, faultInjector, name) =>
      operate(harness, faultInjector, '/organisations', { name }),
    async afterwards(harness, _, name) {
      const { results } = await env.DB.prepare('SELECT id FROM organisations WHERE name = ?')
        .bind(name)
        .all<{ id: string }>()
      const problems = results.map(async ({ id }) => {
        const reply = await operate(harness, noFaults(), `/organisations/${id}`, undefined, 'GET')
        return reply?.body['credits'] === 100
          ? []
          : [`created with ${reply?.body['credits']} credits`]
      })
      return (await Promise.all(problems)).flat()
    },
  },
  {
    name: 'suspend with a pending job',
    prepare: (harness) => submitted(harness),
    run: (harness, faultInjector) =>
      operate(harness, faultInjector, `/organisations/${harness.shop.orgId}`, SUSPENDED, 'PATCH'),
    async afterwards(harness, reply, jobId) {
      await operate(harness, noFaults(), `/organisations/${harness.shop.orgId}`, ACTIVE, 'PATCH')
      if (reply?.status === 200) return statusIs(harness, jobId, 'cancelled')
      return statusIs(harness, jobId, 'cancelled', 'completed')
    },
  },
  {
    name: 'schedule a deletion with a pending job, and cancel it',
    prepare: (harness) => submitted(harness),
    async run(harness, faultInjector) {
      const path = `/organisations/${harness.shop.orgId}`
      const reply = await operate(harness, faultInjector, path, undefined, 'DELETE')
      await operate(harness, faultInjector, `${path}/restore`)
      return reply
    },
    async afterwards(harness, reply, jobId) {
      const restored = await operate(
        harness,
        noFaults(),
        `/organisations/${harness.shop.orgId}/restore`,
      )
      if (restored?.status !== 200) return [`the restore returned ${restored?.status}`]
      if (reply?.status === 202) return statusIs(harness, jobId, 'cancelled')
      return statusIs(harness, jobId, 'cancelled', 'completed')
    },
  },
  {
    name: 'reconcile',
    async prepare(harness) {
      await submitted(harness)
      const kills = new FaultInjector((_, call) =>
        call === 'Organisation.admit' ? 'killed' : undefined,
      )
      await submit(harness, kills)
      harness.advance(6 * 60_000)
      return ''
    },
    run: (harness) => harness.alarm(),
  },
  {
    name: 'sweep',
    async prepare(harness) {
      const jobId = await submitted(harness)
      await completed(harness)
      harness.queues.clear()
      harness.advance(5 * 60_000)
      return jobId
    },
    run: (harness, faultInjector) => harness.sweep(faultInjector),
    afterwards: (harness, _, jobId) => statusIs(harness, jobId, 'completed'),
  },
  {
    name: 'retention',
    async prepare(harness) {
      const jobId = await completed(harness)
      await submitted(harness, { webhook_url: undefined }, harness.shop.keys.test)
      await harness.finishAllWork()
      await storeCopy(jobId)
      harness.advance(31 * DAY_MS)
      // Organisations of other tests are not due.
      await env.DB.prepare('UPDATE organisations SET retention_due_at = ? WHERE id <> ?')
        .bind(Number.MAX_SAFE_INTEGER, harness.shop.orgId)
        .run()
      return jobId
    },
    run: (harness, faultInjector) => harness.retention(faultInjector),
    async afterwards(harness, _, jobId) {
      harness.advance(11 * 60_000)
      await harness.retention()
      const problems = await picturesOf(jobId)
      const stored = await count('jobs', 'organisation_id = ?', harness.shop.orgId)
      if (stored !== 1) problems.push(`${stored} jobs are stored instead of only the live job`)
      problems.push(...(await remainingUrls(jobId)))
      return problems
    },
  },
  {
    name: 'delete the pictures of a job',
    async prepare(harness) {
      const jobId = await completed(harness)
      await harness.finishAllWork()
      await storeCopy(jobId)
      return jobId
    },
    run: (harness, faultInjector, jobId) => deleteOutput(harness, faultInjector, jobId),
    async afterwards(harness, reply, jobId) {
      const problems = reply?.status === 204 ? await remainingUrls(jobId) : []
      const again = await deleteOutput(harness, noFaults(), jobId)
      if (again?.status !== 204) problems.push(`the repetition returned ${again?.status}`)
      return [...problems, ...(await remainingUrls(jobId)), ...(await picturesOf(jobId))]
    },
  },
]

const deleteOutput = (harness: Harness, faultInjector: FaultInjector, jobId: string) =>
  harness.request(faultInjector, harness.shop.keys.live, 'DELETE', `/v1/jobs/${jobId}/output`)

/** Checks that the URLs of a job are deleted. */
async function remainingUrls(jobId: string): Promise<string[]> {
  const cleared = 'coalesce(model_image_url, garment_image_url, webhook_url, output_format) IS NULL'
  return (await count('jobs', `id = ? AND ${cleared}`, jobId)) === 1 ? [] : [`${jobId} has URLs`]
}

const SUSPENDED = { status: 'suspended' }
const ACTIVE = { status: 'active' }

const credit = (harness: Harness, faultInjector: FaultInjector) =>
  operate(harness, faultInjector, `/organisations/${harness.shop.orgId}/credits`, {
    amount: 50,
    reason: 'Bought',
    reference: 'invoice-1',
  })

async function sameJob(harness: Harness, replies: (Reply | undefined)[]): Promise<string[]> {
  const accepted = replies.filter((reply) => reply?.status === 202)
  const ids = new Set(accepted.map((reply) => reply?.body['job_id']))
  const stored = await jobsDb(harness.shop.orgId)
    .prepare('SELECT count(*) AS n FROM jobs WHERE organisation_id = ?')
    .bind(harness.shop.orgId)
    .first<number>('n')
  const problems: string[] = []
  if (ids.size !== 1) problems.push(`one Idempotency-Key created ${[...ids].join(', ')}`)
  if (stored !== 1) problems.push(`one Idempotency-Key stored ${stored} jobs`)
  return problems
}
