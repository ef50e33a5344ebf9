// What is done to the service while one of its calls is spoilt. `prepare` and everything after
// `act` go undisturbed.
import { env } from 'cloudflare:workers'
import { JobFailure } from '../../src/domain/failure.ts'
import { count, DAY_MS, picturesOf, storeCopy } from '../support/retention.ts'
import { CDN, HOOK } from './harness.ts'
import type { Reply, Stage } from './harness.ts'
import { FaultInjector } from './fault-injector.ts'

export interface Scenario {
  name: string
  /** Sets the stage. @returns what `act` needs to know, such as a job's id */
  prepare?(stage: Stage): Promise<string>
  act(
    stage: Stage,
    faultInjector: FaultInjector,
    prepared: string,
  ): Promise<Reply | undefined | void>
  /** After the act, and once all is quiet: what its client would do, and what it may expect. */
  afterwards?(stage: Stage, reply: Reply | undefined, prepared: string): Promise<string[]>
}

const IMAGES = { model_image_url: `${CDN}/model`, garment_image_url: `${CDN}/garment` }
const TWO_SECONDS = { model_image_url: 'https://test.invalid/delay/2' }
const calm = () => new FaultInjector()

const submit = (
  stage: Stage,
  faultInjector: FaultInjector,
  body: object = {},
  headers = {},
  key = stage.shop.keys.live,
) =>
  stage.request(faultInjector, key, 'POST', '/v1/tryon', {
    body: { ...IMAGES, webhook_url: HOOK, ...body },
    headers,
  })

/** A job that was accepted, its message waiting. */
async function submitted(stage: Stage, body: object = {}, key?: string): Promise<string> {
  const reply = await submit(stage, calm(), body, {}, key)
  if (reply?.status !== 202) throw new Error(`The submission failed: ${JSON.stringify(reply)}`)
  return String(reply.body['job_id'])
}

/** A job that is over, its event waiting. */
async function completed(stage: Stage): Promise<string> {
  const jobId = await submitted(stage)
  await consumeOne(stage, calm(), 'tryon-jobs')
  return jobId
}

/** An event whose first attempt timed out, its second waiting. */
async function timedOutDelivery(stage: Stage): Promise<void> {
  stage.timeouts = 1
  await completed(stage)
  await consumeOne(stage, calm(), 'tryon-webhooks')
}

async function consumeOne(
  stage: Stage,
  faultInjector: FaultInjector,
  queue: string,
): Promise<void> {
  const message = stage.queues.take(queue)
  if (message) await stage.consume(faultInjector, message)
}

/** Every message of a queue until none is left, waiting for those that are delayed. */
async function consumeAll(
  stage: Stage,
  faultInjector: FaultInjector,
  queue: string,
): Promise<void> {
  for (let at = stage.queues.nextAt(queue); at !== undefined; at = stage.queues.nextAt(queue)) {
    stage.pass(Math.max(0, at - Date.now()))
    await consumeOne(stage, faultInjector, queue)
  }
}

const operate = (
  stage: Stage,
  faultInjector: FaultInjector,
  path: string,
  body?: object,
  method = 'POST',
) => stage.request(faultInjector, env.OPERATOR_TOKEN, method, `/operator${path}`, body && { body })

async function statusIs(stage: Stage, jobId: string, ...expected: string[]): Promise<string[]> {
  const reply = await stage.request(calm(), stage.shop.keys.live, 'GET', `/v1/jobs/${jobId}`)
  const status = String(reply?.body['status'])
  return expected.includes(status) ? [] : [`the job is ${status}, not ${expected.join(' or ')}`]
}

const ONCE = { 'Idempotency-Key': 'order-1' }

export const SCENARIOS: Scenario[] = [
  {
    name: 'submit',
    act: (stage, faultInjector) => submit(stage, faultInjector),
    async afterwards(stage, reply) {
      if (reply?.status !== 202) return []
      return statusIs(stage, String(reply.body['job_id']), 'completed')
    },
  },
  {
    name: 'submit with an Idempotency-Key',
    act: (stage, faultInjector) => submit(stage, faultInjector, {}, ONCE),
    async afterwards(stage, first) {
      const late = await submit(stage, calm(), {}, ONCE)
      await stage.quiet()
      const replies = [first, late, await submit(stage, calm(), {}, ONCE)]
      return sameJob(stage, replies)
    },
  },
  {
    name: 'submit with an Idempotency-Key, tried again at once',
    async act(stage, faultInjector) {
      const first = await submit(stage, faultInjector, {}, ONCE)
      const again = await submit(stage, calm(), {}, ONCE)
      if (again?.status !== 202) throw new Error(`The retry failed: ${JSON.stringify(again)}`)
      if (first?.status === 202 && first.body['job_id'] !== again.body['job_id']) {
        throw new Error('The retry gave another job')
      }
      return again
    },
    async afterwards(stage, again) {
      return sameJob(stage, [again, await submit(stage, calm(), {}, ONCE)])
    },
  },
  {
    name: 'cancel',
    prepare: (stage) => submitted(stage),
    act: (stage, faultInjector, jobId) =>
      stage.request(faultInjector, stage.shop.keys.live, 'DELETE', `/v1/jobs/${jobId}`),
    async afterwards(stage, reply, jobId) {
      if (reply?.status === 200) return statusIs(stage, jobId, 'refunded')
      return statusIs(stage, jobId, 'refunded', 'completed')
    },
  },
  {
    name: 'process to success',
    prepare: (stage) => submitted(stage),
    act: (stage, faultInjector) => consumeOne(stage, faultInjector, 'tryon-jobs'),
    // A picture that could not be fetched for once is the customer's server's fault.
    afterwards: (stage, _, jobId) => statusIs(stage, jobId, 'completed', 'failed'),
  },
  {
    name: 'process to failure',
    prepare: (stage) => submitted(stage, { garment_image_url: `${CDN}/missing` }),
    act: (stage, faultInjector) => consumeOne(stage, faultInjector, 'tryon-jobs'),
    afterwards: (stage, _, jobId) => statusIs(stage, jobId, 'failed'),
  },
  {
    name: 'process with a second try',
    prepare(stage) {
      stage.engineFailures = [new JobFailure('engine_unavailable', 'busy', { retriable: true })]
      return submitted(stage)
    },
    act: (stage, faultInjector) => consumeAll(stage, faultInjector, 'tryon-jobs'),
    afterwards: (stage, _, jobId) => statusIs(stage, jobId, 'completed', 'failed'),
  },
  {
    name: 'process for the last time',
    async prepare(stage) {
      const busy = () => new JobFailure('engine_unavailable', 'busy', { retriable: true })
      stage.engineFailures = Array.from({ length: 20 }, busy)
      const jobId = await submitted(stage)
      for (let tries = 0; tries < 5; tries++) {
        await consumeOne(stage, calm(), 'tryon-jobs')
        stage.pass(60_000)
      }
      return jobId
    },
    act: (stage, faultInjector) => consumeAll(stage, faultInjector, 'tryon-jobs'),
    afterwards: (stage, _, jobId) => statusIs(stage, jobId, 'failed'),
  },
  {
    name: 'process in steps, the engine being polled',
    prepare: (stage) => submitted(stage, TWO_SECONDS, stage.shop.keys.test),
    act: (stage, faultInjector) => consumeAll(stage, faultInjector, 'tryon-test-jobs'),
    afterwards: (stage, _, jobId) => statusIs(stage, jobId, 'completed'),
  },
  {
    name: 'give up a dead message',
    async prepare(stage) {
      const jobId = await submitted(stage)
      stage.queues.clear()
      stage.queues.put('tryon-jobs-dead', [{ body: { jobId } }])
      return jobId
    },
    act: (stage, faultInjector) => consumeOne(stage, faultInjector, 'tryon-jobs-dead'),
    // Until the message comes again the sweep may have given the job another chance.
    afterwards: (stage, _, jobId) => statusIs(stage, jobId, 'failed', 'completed'),
  },
  {
    name: 'deliver',
    prepare: completed,
    act: (stage, faultInjector) => consumeOne(stage, faultInjector, 'tryon-webhooks'),
  },
  {
    name: 'deliver with retries',
    prepare(stage) {
      stage.refusals = 2
      return completed(stage)
    },
    act: (stage, faultInjector) => consumeAll(stage, faultInjector, 'tryon-webhooks'),
  },
  {
    name: 'deliver to an endpoint that timed out',
    async prepare(stage) {
      await timedOutDelivery(stage)
      return completed(stage)
    },
    act: (stage, faultInjector) => consumeAll(stage, faultInjector, 'tryon-webhooks'),
  },
  {
    name: 'put off a delivery to an endpoint that is busy',
    async prepare(stage) {
      await timedOutDelivery(stage)
      await env.DB.prepare('UPDATE webhook_endpoints SET busy_until = ? WHERE organisation_id = ?')
        .bind(Date.now() + 60_000, stage.shop.orgId)
        .run()
      return completed(stage)
    },
    act: (stage, faultInjector) => consumeAll(stage, faultInjector, 'tryon-webhooks'),
  },
  {
    name: 'withdraw',
    prepare: (stage) => submitted(stage),
    act: (stage, faultInjector, jobId) => operate(stage, faultInjector, `/jobs/${jobId}/withdraw`),
    async afterwards(stage, reply, jobId) {
      if (reply?.status === 200) return statusIs(stage, jobId, 'cancelled')
      return statusIs(stage, jobId, 'cancelled', 'completed')
    },
  },
  {
    name: 'operator credit',
    act: (stage, faultInjector) => credit(stage, faultInjector),
    async afterwards(stage) {
      const reply = await credit(stage, calm())
      return reply?.body['credits'] === 150 ? [] : [`the credits are ${JSON.stringify(reply)}`]
    },
  },
  {
    name: 'create an organisation',
    prepare: async (stage) => `Twin of ${stage.shop.orgId}`,
    act: (stage, faultInjector, name) => operate(stage, faultInjector, '/organisations', { name }),
    async afterwards(stage, _, name) {
      const { results } = await env.DB.prepare('SELECT id FROM organisations WHERE name = ?')
        .bind(name)
        .all<{ id: string }>()
      const wrong = results.map(async ({ id }) => {
        const reply = await operate(stage, calm(), `/organisations/${id}`, undefined, 'GET')
        return reply?.body['credits'] === 100 ? [] : [`made with ${reply?.body['credits']} credits`]
      })
      return (await Promise.all(wrong)).flat()
    },
  },
  {
    name: 'suspend with a pending job',
    prepare: (stage) => submitted(stage),
    act: (stage, faultInjector) =>
      operate(stage, faultInjector, `/organisations/${stage.shop.orgId}`, SUSPENDED, 'PATCH'),
    async afterwards(stage, reply, jobId) {
      await operate(stage, calm(), `/organisations/${stage.shop.orgId}`, ACTIVE, 'PATCH')
      if (reply?.status === 200) return statusIs(stage, jobId, 'cancelled')
      return statusIs(stage, jobId, 'cancelled', 'completed')
    },
  },
  {
    name: 'schedule a deletion with a pending job, and cancel it',
    prepare: (stage) => submitted(stage),
    async act(stage, faultInjector) {
      const path = `/organisations/${stage.shop.orgId}`
      const reply = await operate(stage, faultInjector, path, undefined, 'DELETE')
      await operate(stage, faultInjector, `${path}/restore`)
      return reply
    },
    async afterwards(stage, reply, jobId) {
      const restored = await operate(stage, calm(), `/organisations/${stage.shop.orgId}/restore`)
      if (restored?.status !== 200) return [`restoring answered ${restored?.status}`]
      if (reply?.status === 202) return statusIs(stage, jobId, 'cancelled')
      return statusIs(stage, jobId, 'cancelled', 'completed')
    },
  },
  {
    name: 'reconcile',
    async prepare(stage) {
      await submitted(stage)
      const dies = new FaultInjector((_, call) =>
        call === 'Organisation.admit' ? 'died' : undefined,
      )
      await submit(stage, dies)
      stage.pass(6 * 60_000)
      return ''
    },
    act: (stage) => stage.alarm(),
  },
  {
    name: 'sweep',
    async prepare(stage) {
      const jobId = await submitted(stage)
      await completed(stage)
      stage.queues.clear()
      stage.pass(5 * 60_000)
      return jobId
    },
    act: (stage, faultInjector) => stage.sweep(faultInjector),
    afterwards: (stage, _, jobId) => statusIs(stage, jobId, 'completed'),
  },
  {
    name: 'retention',
    async prepare(stage) {
      const jobId = await completed(stage)
      await submitted(stage, { webhook_url: undefined }, stage.shop.keys.test)
      await stage.quiet()
      await storeCopy(jobId)
      stage.pass(31 * DAY_MS)
      // Other cases have left organisations behind.
      await env.DB.prepare('UPDATE organisations SET retention_due_at = ? WHERE id <> ?')
        .bind(Number.MAX_SAFE_INTEGER, stage.shop.orgId)
        .run()
      return jobId
    },
    act: (stage, faultInjector) => stage.retention(faultInjector),
    async afterwards(stage, _, jobId) {
      stage.pass(11 * 60_000)
      await stage.retention()
      const wrong = await picturesOf(jobId)
      const stored = await count('jobs', 'organisation_id = ?', stage.shop.orgId)
      if (stored !== 1) wrong.push(`${stored} jobs are stored, not the live one alone`)
      wrong.push(...(await withUrls(jobId)))
      return wrong
    },
  },
  {
    name: 'delete the pictures of a job',
    async prepare(stage) {
      const jobId = await completed(stage)
      await stage.quiet()
      await storeCopy(jobId)
      return jobId
    },
    act: (stage, faultInjector, jobId) => deleteOutput(stage, faultInjector, jobId),
    async afterwards(stage, reply, jobId) {
      const wrong = reply?.status === 204 ? await withUrls(jobId) : []
      const again = await deleteOutput(stage, calm(), jobId)
      if (again?.status !== 204) wrong.push(`the repetition was answered ${again?.status}`)
      return [...wrong, ...(await withUrls(jobId)), ...(await picturesOf(jobId))]
    },
  },
]

const deleteOutput = (stage: Stage, faultInjector: FaultInjector, jobId: string) =>
  stage.request(faultInjector, stage.shop.keys.live, 'DELETE', `/v1/jobs/${jobId}/output`)

/** @returns what is wrong with a job that lost its pictures */
async function withUrls(jobId: string): Promise<string[]> {
  const cleared = 'coalesce(model_image_url, garment_image_url, webhook_url, output_format) IS NULL'
  return (await count('jobs', `id = ? AND ${cleared}`, jobId)) === 1 ? [] : [`${jobId} has URLs`]
}

const SUSPENDED = { status: 'suspended' }
const ACTIVE = { status: 'active' }

const credit = (stage: Stage, faultInjector: FaultInjector) =>
  operate(stage, faultInjector, `/organisations/${stage.shop.orgId}/credits`, {
    amount: 50,
    reason: 'Bought',
    reference: 'invoice-1',
  })

async function sameJob(stage: Stage, replies: (Reply | undefined)[]): Promise<string[]> {
  const answered = replies.filter((reply) => reply?.status === 202)
  const ids = new Set(answered.map((reply) => reply?.body['job_id']))
  const stored = await env.DB.prepare('SELECT count(*) AS n FROM jobs WHERE organisation_id = ?')
    .bind(stage.shop.orgId)
    .first<number>('n')
  const faults: string[] = []
  if (ids.size !== 1) faults.push(`one Idempotency-Key gave ${[...ids].join(', ')}`)
  if (stored !== 1) faults.push(`one Idempotency-Key stored ${stored} jobs`)
  return faults
}
