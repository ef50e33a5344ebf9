// Compares credits and job statuses with a small model of the expected behaviour.
import * as fc from 'fast-check'
import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { FaultInjector } from '../faults/fault-injector.ts'
import { CDN, HOOK, Harness } from '../faults/harness.ts'
import { factsOf } from '../support/facts.ts'

type Mode = 'live' | 'test'

type Step =
  | { do: 'submit'; mode: Mode; key: number | null; fails: boolean }
  | { do: 'process' | 'cancel' | 'withdraw'; job: number }
  | { do: 'grant'; reference: number; amount: number }
  | { do: 'reverse'; reference: number; credits: number }
  | { do: 'suspend' | 'resume' | 'evict' | 'reconcile' }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('submit' as const),
      mode: fc.constantFrom<Mode>('live', 'live', 'test'),
      key: fc.option(fc.nat(2), { freq: 2 }),
      fails: fc.boolean(),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom('process' as const, 'process', 'cancel', 'withdraw'),
      job: fc.nat(7),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('grant' as const),
      reference: fc.nat(3),
      amount: fc.integer({ min: 1, max: 3 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('reverse' as const),
      reference: fc.nat(3),
      credits: fc.integer({ min: 1, max: 4 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom('suspend' as const, 'resume', 'resume', 'evict', 'evict', 'reconcile'),
    }),
  },
)

interface ModelJob {
  id: string
  mode: Mode
  fails: boolean
  status: string
}

const CREDITS = 3

/** The expected behaviour of the service. */
class Model {
  balance = CREDITS
  granted = CREDITS
  suspended = false
  readonly jobs: ModelJob[] = []
  readonly keys = new Map<string, ModelJob>()
  /** By reference. */
  readonly grants = new Map<number, { amount: number; reversed: number }>()

  /** @returns the expected status, and the earlier job of a repeated key */
  submit({ mode, key, fails }: Extract<Step, { do: 'submit' }>) {
    if (this.suspended) return { status: 403 }
    const earlier = key === null ? undefined : this.keys.get(`${mode} ${key}`)
    if (earlier) return earlier.fails === fails ? { status: 202, earlier } : { status: 422 }
    if (mode === 'live' && this.balance <= 0) return { status: 402 }
    return { status: 202 }
  }

  accept(id: string, { mode, key, fails }: Extract<Step, { do: 'submit' }>): void {
    const job = { id, mode, fails, status: 'pending' }
    this.jobs.push(job)
    if (key !== null) this.keys.set(`${mode} ${key}`, job)
    if (mode === 'live') this.balance--
  }

  process(job: ModelJob): void {
    if (job.status !== 'pending') return
    this.end(job, this.suspended ? 'cancelled' : job.fails ? 'failed' : 'completed')
  }

  /** @returns whether the job was pending */
  stop(job: ModelJob, status: string): boolean {
    if (job.status !== 'pending') return false
    this.end(job, status)
    return true
  }

  end(job: ModelJob, status: string): void {
    job.status = status
    if (job.mode === 'live' && status !== 'completed') this.balance++
  }

  grant(reference: number, amount: number): void {
    if (this.grants.has(reference)) return
    this.grants.set(reference, { amount, reversed: 0 })
    this.granted += amount
    this.balance += amount
  }

  /** @param credits the total that is taken back */
  reverse(reference: number, credits: number): void {
    const grant = this.grants.get(reference)
    if (!grant) return
    const reversed = Math.max(grant.reversed, Math.min(credits, grant.amount))
    this.granted -= reversed - grant.reversed
    this.balance -= reversed - grant.reversed
    grant.reversed = reversed
  }

  totals() {
    const live = this.jobs.filter(({ mode }) => mode === 'live')
    const count = (status: string) => live.filter((job) => job.status === status).length
    return {
      granted: this.granted,
      balance: this.balance,
      reserved: count('pending'),
      consumed: count('completed'),
    }
  }
}

const noFaults = () => new FaultInjector()

/** The expected and the actual result of a step. */
type Comparison = { expected: unknown; got: unknown }
const NOTHING: Comparison = { expected: null, got: null }

/** Runs a step in the service and in the model. */
async function runStep(harness: Harness, model: Model, step: Step): Promise<Comparison> {
  const operate = (path: string, body?: object, method = 'POST') =>
    harness.request(noFaults(), env.OPERATOR_TOKEN, method, `/operator${path}`, body && { body })
  const organisation = `/organisations/${harness.shop.orgId}`
  switch (step.do) {
    case 'submit': {
      const expected = model.submit(step)
      const garment = step.mode === 'test' ? 'https://test.invalid/fail/' : `${CDN}/missing`
      const reply = await harness.request(
        noFaults(),
        harness.shop.keys[step.mode],
        'POST',
        '/v1/tryon',
        {
          body: {
            model_image_url: `${CDN}/model`,
            garment_image_url: step.fails ? garment + FAILURE[step.mode] : `${CDN}/garment`,
            webhook_url: HOOK,
          },
          ...(step.key !== null && { headers: { 'Idempotency-Key': `key-${step.key}` } }),
        },
      )
      const jobId = String(reply?.body['job_id'])
      if (expected.status === 202 && !expected.earlier) model.accept(jobId, step)
      const got = { status: reply?.status, jobId: expected.earlier ? jobId : undefined }
      return { expected: { status: expected.status, jobId: expected.earlier?.id }, got }
    }
    case 'process':
    case 'cancel':
    case 'withdraw': {
      const job = model.jobs.at(step.job % Math.max(1, model.jobs.length))
      return job ? runOnJob(harness, model, step.do, job) : NOTHING
    }
    case 'grant': {
      const body = { amount: step.amount, reason: 'Bought', reference: `invoice ${step.reference}` }
      model.grant(step.reference, step.amount)
      const reply = await operate(`${organisation}/credits`, body)
      return { expected: model.balance, got: reply?.body['credits'] }
    }
    case 'reverse': {
      const { credits } = step
      const reference = `invoice ${step.reference}`
      model.reverse(step.reference, credits)
      const account = env.ORGANISATION.getByName(harness.shop.orgId)
      const totals = await account.reverse({ reference, credits, reason: 'Refunded' })
      return { expected: model.balance, got: totals.balance }
    }
    case 'suspend':
      await operate(organisation, { status: 'suspended' }, 'PATCH')
      model.suspended = true
      for (const job of model.jobs) model.stop(job, 'cancelled')
      return NOTHING
    case 'resume':
      await operate(organisation, { status: 'active' }, 'PATCH')
      model.suspended = false
      return NOTHING
    case 'evict':
      await harness.evict()
      return NOTHING
    case 'reconcile':
      harness.advance(6 * 60_000)
      await harness.alarm()
      return NOTHING
  }
}

const FAILURE = { live: '', test: 'generation_failed' }

async function runOnJob(
  harness: Harness,
  model: Model,
  action: 'process' | 'cancel' | 'withdraw',
  job: ModelJob,
): Promise<Comparison> {
  if (action === 'process') {
    const body = { jobId: job.id }
    await harness.consume(noFaults(), {
      queue: 'tryon-jobs',
      id: 0,
      body,
      attempts: 1,
      visibleAt: 0,
    })
    model.process(job)
    return NOTHING
  }
  const [token, method, path, status] =
    action === 'cancel'
      ? [harness.shop.keys[job.mode], 'DELETE', `/v1/jobs/${job.id}`, 'refunded']
      : [env.OPERATOR_TOKEN, 'POST', `/operator/jobs/${job.id}/withdraw`, 'cancelled']
  const reply = await harness.request(noFaults(), token, method, path)
  return { expected: model.stop(job, status) ? 200 : 409, got: reply?.status }
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

describe('credits and job states', () => {
  it('match the model after every step, including evictions', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        const harness = await Harness.open({ credits: CREDITS })
        const model = new Model()
        for (const each of steps) {
          const { expected, got } = await runStep(harness, model, each)
          expect(got).toEqual(expected)
          const facts = await factsOf(harness.shop.orgId)
          expect(facts.totals).toEqual(model.totals())
          expect(new Map(facts.jobs.map(({ id, status }) => [id, status]))).toEqual(
            new Map(model.jobs.map(({ id, status }) => [id, status])),
          )
        }
        await harness.finishAllWork()
        expect(await harness.violations()).toEqual([])
      }),
      { numRuns: 15 },
    )
  }, 60_000)
})
