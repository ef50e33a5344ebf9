// The harness of a fault test: one organisation, queues, a fake clock and fake servers. It calls the
// Worker's entry points directly, so that each invocation has its own wrapped bindings.
import {
  createExecutionContext,
  evictDurableObject,
  runDurableObjectAlarm,
  runInDurableObject,
} from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { vi } from 'vitest'
import { catchUpEvents } from '../../src/billing/receive-event.ts'
import { PaymentError } from '../../src/billing/payment-provider.ts'
import { compositor } from '../../src/engines/compositor.ts'
import type { Progress } from '../../src/engines/engine.ts'
import worker from '../../src/index.ts'
import { organisationStub } from '../../src/credits/organisation-stub.ts'
import { runRetention } from '../../src/privacy/run-retention.ts'
import { BASE } from '../support/client.ts'
import { violationsOf } from '../support/facts.ts'
import { fakePayments } from '../support/fake-payment-provider.ts'
import { hasUnfinishedPayments, paymentViolations } from '../support/payment-facts.ts'
import { png } from '../support/picture.ts'
import { sweep } from '../support/sweep.ts'
import { newEndpoint } from '../support/webhooks.ts'
import { newOrganisation, type TestOrganisation } from '../support/world.ts'
import { bindingsFor, interceptObject } from './bindings.ts'
import { Queues, type QueuedMessage, type Settlement } from './queues.ts'
import { Invocation, invocations, OBJECT, FaultInjector } from './fault-injector.ts'
import { jobsDb } from '../support/jobs-database.ts'

const MINUTE_MS = 60_000
/** Longer than every lease, deadline and schedule in these tests. */
const MAX_MINUTES = 60

export const CDN = 'https://cdn.test'
export const HOOK = 'https://hooks.test/try-on'

export interface Reply {
  status: number
  body: Record<string, unknown>
}

export class Harness {
  readonly shop: TestOrganisation
  readonly queues = new Queues()
  /** The event ids of the deliveries that the receiver accepted. */
  readonly received: string[] = []
  /** The number of deliveries that the receiver rejects before it accepts one. */
  rejections = 0
  /** The number of deliveries that time out before the receiver responds. */
  timeouts = 0
  /** The number of downloads that never end. */
  hangingDownloads = 0
  /** The errors of the engine's next starts. Further starts succeed. */
  engineFailures: Error[] = []
  /** The number of engine starts per job. */
  readonly engineStarts = new Map<string, number>()
  /** What runs for `overtaken` and `concurrent`; by default a second, identical invocation. */
  competitor: (() => Promise<unknown>) | undefined
  /** The added endpoints, which receive all events. */
  readonly addedEndpointIds: string[] = []
  /** The payment provider. Its calls can be faulted like those of the Worker. */
  readonly payments = fakePayments()
  /** Wraps the Organisation's own calls during `withObjectFaults`. */
  #objectInvocation: Invocation | undefined

  private constructor(shop: TestOrganisation) {
    this.shop = shop
  }

  /** Call this in a test. The mocks are restored after the test. */
  static async open(options: object = {}): Promise<Harness> {
    const harness = new Harness(await newOrganisation({ credits: 100, ...options }))
    vi.spyOn(globalThis, 'fetch').mockImplementation((input, init) =>
      harness.#callOutside('fetch', () => harness.#respond(new Request(input, init))),
    )
    vi.spyOn(compositor, 'start').mockImplementation(({ jobId }) =>
      harness.#callOutside('engine.start', () => harness.#generate(jobId)),
    )
    harness.payments.intercept = (name, perform) => harness.#callProvider(name, perform)
    interceptObject({
      call: (name, perform) =>
        harness.#objectInvocation?.call(`${OBJECT}${name}`, perform) ?? perform(),
    })
    return harness
  }

  /** Sends a client's request. @returns undefined without a response */
  async request(
    faultInjector: FaultInjector,
    token: string,
    method: string,
    path: string,
    { body, headers }: { body?: object; headers?: Record<string, string> } = {},
  ): Promise<Reply | undefined> {
    return this.invoke(faultInjector, async (bindings) => {
      const request = new Request(`${BASE}${path}`, {
        method,
        headers: { Authorization: `Bearer ${token}`, ...headers },
        ...(body && { body: JSON.stringify(body) }),
      })
      const response = await worker.fetch(request, bindings, createExecutionContext())
      const { status } = response
      return { status, body: status === 204 ? {} : await response.json() }
    })
  }

  /** Delivers a message to the Worker and settles it. */
  async consume(faultInjector: FaultInjector, message: QueuedMessage): Promise<void> {
    const settle = (settlement: Settlement) => this.queues.settle(message, settlement)
    const deliver = (bindings: Env, invocation: Invocation) =>
      this.#deliver(message, bindings, invocation)
    settle(await this.invoke<Settlement>(faultInjector, deliver, settle))
  }

  /** Delivers a message to the Worker and kills the work that continues after the acknowledgement. */
  async consumeAndKill(message: QueuedMessage): Promise<void> {
    const invocation = new Invocation(new FaultInjector(), {
      evict: () => this.evict(),
      repeat: () => Promise.reject(new Error('A killed invocation is not repeated.')),
    })
    const bindings = bindingsFor(this.queues, invocation)
    const settlement = await invocations.run(invocation, () =>
      this.#deliver(message, bindings, invocation, () => {}),
    )
    this.queues.settle(message, settlement)
  }

  /** Adds an endpoint that receives all events. */
  async addEndpoint(): Promise<void> {
    const { id } = await newEndpoint(this.shop.orgId, { url: HOOK })
    this.addedEndpointIds.push(id)
  }

  /** Runs the sweep. */
  async sweep(faultInjector = new FaultInjector()): Promise<void> {
    await this.invoke(faultInjector, (bindings) => sweep(bindings))
  }

  /** Applies the provider's lost messages. */
  async catchUp(faultInjector = new FaultInjector()): Promise<void> {
    await this.invoke(faultInjector, (bindings) => catchUpEvents(bindings))
  }

  /** Runs retention. */
  async retention(faultInjector = new FaultInjector()): Promise<void> {
    await this.invoke(faultInjector, (bindings) => runRetention(bindings))
  }

  /** Runs the Organisation's alarm if it is due. */
  async alarm(): Promise<void> {
    const stub = organisationStub(env, this.shop.orgId)
    const at = await runInDurableObject(stub, (_, state) => state.storage.getAlarm())
    if (at !== null && at <= Date.now()) await runDurableObjectAlarm(stub)
  }

  /** Evicts the Organisation, which loses its memory. */
  async evict(): Promise<void> {
    const organisation = organisationStub(env, this.shop.orgId)
    await organisation.totals() // only a running object can be evicted
    await evictDurableObject(organisation)
  }

  /** Applies faults to the Organisation's own calls while `run` runs. */
  async withObjectFaults<T>(faultInjector: FaultInjector, run: () => Promise<T>): Promise<T> {
    this.#objectInvocation = new Invocation(faultInjector, {
      evict: () => this.evict(),
      repeat: () => Promise.reject(new Error('Calls of an object are not repeated.')),
    })
    try {
      return await run()
    } finally {
      this.#objectInvocation = undefined
    }
  }

  /** Processes all due messages, including new ones. */
  async drain(): Promise<void> {
    for (let message = this.queues.take(); message; message = this.queues.take()) {
      await this.consume(new FaultInjector(), message)
    }
  }

  /** Advances the clock and runs queues, cron and alarm until no work is left. */
  async finishAllWork(): Promise<void> {
    for (let minute = 0; minute < MAX_MINUTES; minute++) {
      await this.drain()
      if (this.queues.nextAt() === undefined && !(await this.#hasWork())) return
      this.advance(MINUTE_MS)
      await this.sweep()
      await this.catchUp()
      await this.alarm()
    }
    throw new Error(`There is work left after ${MAX_MINUTES} minutes.`)
  }

  /** The highest number of engine starts of one job. */
  get mostStarts(): number {
    return Math.max(0, ...this.engineStarts.values())
  }

  advance(ms: number): void {
    vi.setSystemTime(Date.now() + ms)
  }

  /** The violated invariants. Call this when no work is left. */
  async violations(): Promise<string[]> {
    const { received, addedEndpointIds } = this
    return [
      ...(await violationsOf(this.shop.orgId, { received, addedEndpointIds })),
      ...(await paymentViolations(this.shop.orgId, this.payments)),
    ]
  }

  /**
   * Runs one invocation.
   * @param onCopy receives the result of a repeated invocation
   * @returns undefined when the invocation was killed or failed
   */
  async invoke<T>(
    faultInjector: FaultInjector,
    run: (bindings: Env, invocation: Invocation) => Promise<T>,
    onCopy: (result: T | undefined) => void = () => {},
  ): Promise<T | undefined> {
    const invocation = new Invocation(faultInjector, {
      evict: () => this.evict(),
      repeat: async () => {
        if (this.competitor) await this.competitor()
        else onCopy(await this.invoke(new FaultInjector(), run))
      },
    })
    const bindings = bindingsFor(this.queues, invocation)
    try {
      const result = await invocations.run(invocation, () => run(bindings, invocation))
      return invocation.isKilled ? undefined : result
    } catch {
      return undefined
    } finally {
      await invocation.allReturned()
    }
  }

  async #deliver(
    { id, queue, body, attempts }: QueuedMessage,
    bindings: Env,
    invocation: Invocation,
    waitUntil?: (work: Promise<unknown>) => void,
  ): Promise<Settlement> {
    let settlement: Settlement
    const settle = (next: Settlement) => {
      if (invocation.mayCall(`message.${next?.kind}`)) settlement = next
    }
    const retry = ({ delaySeconds = 0 }: QueueRetryOptions = {}) =>
      settle({ kind: 'retry', delaySeconds })
    const ack = () => settle({ kind: 'ack' })
    const message = { id: String(id), timestamp: new Date(), body, attempts, ack, retry }
    const background: Promise<unknown>[] = []
    await worker.queue(
      {
        queue,
        messages: [message],
        metadata: { metrics: { backlogCount: 1, backlogBytes: 1 } },
        ackAll: ack,
        retryAll: retry,
      },
      bindings,
      { waitUntil: waitUntil ?? ((work) => void background.push(work)) },
    )
    await Promise.all(background)
    return settlement
  }

  #callOutside<T>(name: string, perform: () => Promise<T>): Promise<T> {
    const invocation = invocations.getStore()
    return invocation ? invocation.call(name, perform) : perform()
  }

  /** A call of the payment provider, by the Worker or by the Organisation. */
  async #callProvider<T>(name: string, perform: () => Promise<T>): Promise<T> {
    try {
      if (invocations.getStore()) return await this.#callOutside(name, perform)
      return await (this.#objectInvocation?.call(`${OBJECT}${name}`, perform) ?? perform())
    } catch (error) {
      if (error instanceof PaymentError) throw error
      throw new PaymentError('unavailable', 'The connection was lost', { cause: error })
    }
  }

  async #respond(request: Request): Promise<Response> {
    if (request.url.startsWith(`${CDN}/missing`)) return new Response('gone', { status: 404 })
    if (request.url.startsWith(CDN) && this.hangingDownloads-- > 0) return new Promise(() => {})
    if (request.url.startsWith(CDN)) return new Response(png())
    if (request.url !== HOOK) throw new TypeError(`unexpected request to ${request.url}`)
    await request.text()
    if (this.timeouts-- > 0) throw new DOMException('The operation timed out', 'TimeoutError')
    if (this.rejections-- > 0) return new Response('not now', { status: 503 })
    this.received.push(request.headers.get('webhook-id') ?? '')
    return new Response('thanks')
  }

  async #generate(jobId: string): Promise<Progress> {
    this.engineStarts.set(jobId, (this.engineStarts.get(jobId) ?? 0) + 1)
    const failure = this.engineFailures.shift()
    if (failure) throw failure
    return { done: true, image: { bytes: png(), format: 'png' } }
  }

  async #hasWork(): Promise<boolean> {
    const rows = await jobsDb(this.shop.orgId)
      .prepare(
        `SELECT 1 FROM jobs WHERE organisation_id = ?1 AND status IN ('pending', 'processing')
       UNION ALL
       SELECT 1 FROM webhook_events
       WHERE organisation_id = ?1 AND status IN ('pending', 'retrying') LIMIT 1`,
      )
      .bind(this.shop.orgId)
      .all()
    if (rows.results.length > 0) return true
    if (await hasUnfinishedPayments(this.shop.orgId, this.payments)) return true
    return (await organisationStub(env, this.shop.orgId).totals()).reserved > 0
  }
}
