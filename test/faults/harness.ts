// Where a case is played: one organisation, queues and a clock of its own, an outside world, and
// the Worker's doors, called directly so that each invocation has its own wrapped bindings.
import { createExecutionContext } from 'cloudflare:test'
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { vi } from 'vitest'
import { compositor } from '../../src/engines/compositor.ts'
import type { Progress } from '../../src/engines/engine.ts'
import worker from '../../src/index.ts'
import { sweep } from '../../src/scheduled.ts'
import { organisationStub } from '../../src/organisation/stub.ts'
import { runRetention } from '../../src/retention/run.ts'
import { BASE } from '../support/client.ts'
import { violationsOf } from '../support/facts.ts'
import { png } from '../support/picture.ts'
import { newOrganisation } from '../support/world.ts'
import type { TestOrganisation } from '../support/world.ts'
import { bindingsFor, interceptObject } from './bindings.ts'
import { Queues } from './queues.ts'
import type { Answer, QueuedMessage } from './queues.ts'
import { Invocation, invocations, OBJECT, FaultInjector } from './fault-injector.ts'

const MINUTE_MS = 60_000
/** Far longer than any lease, deadline or schedule in use here takes to run out. */
const MAX_MINUTES = 60

export const CDN = 'https://cdn.test'
export const HOOK = 'https://hooks.test/try-on'

export interface Reply {
  status: number
  body: Record<string, unknown>
}

export class Stage {
  readonly shop: TestOrganisation
  readonly queues = new Queues()
  /** Event ids of the deliveries that the receiver accepted. */
  readonly received: string[] = []
  /** Of the receiver: how many deliveries it refuses before it takes one. */
  refusals = 0
  /** Of the receiver: how many deliveries time out before it answers one. */
  timeouts = 0
  /** Of the picture server: how many downloads never end. */
  hangingDownloads = 0
  /** Of the engine: what it does at its next starts, before it succeeds. */
  engineFailures: Error[] = []
  /** How often the engine was started for each job. */
  readonly engineStarts = new Map<string, number>()
  /** What overtakes or joins an invocation; a second one of the same unless something else is given. */
  rival: (() => Promise<unknown>) | undefined
  /** What the Organisation's own calls go through, while they are spoilt. */
  #ofObject: Invocation | undefined

  private constructor(shop: TestOrganisation) {
    this.shop = shop
  }

  /** To be called in a test: what it replaces, the end of the test puts back. */
  static async open(order: object = {}): Promise<Stage> {
    const stage = new Stage(await newOrganisation({ credits: 100, ...order }))
    vi.spyOn(globalThis, 'fetch').mockImplementation((input, init) =>
      stage.#outward('fetch', () => stage.#outside(new Request(input, init))),
    )
    vi.spyOn(compositor, 'start').mockImplementation(({ jobId }) =>
      stage.#outward('engine.start', () => stage.#generate(jobId)),
    )
    interceptObject({
      call: (name, perform) => stage.#ofObject?.call(`${OBJECT}${name}`, perform) ?? perform(),
    })
    return stage
  }

  /** A request as a client makes it. @returns undefined when no answer came */
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

  /** Gives a message to the Worker, and lets the queue deal with what comes of it. */
  async consume(faultInjector: FaultInjector, message: QueuedMessage): Promise<void> {
    const settle = (answer: Answer) => this.queues.settle(message, answer)
    const handOver = (bindings: Env, invocation: Invocation) =>
      this.#handOver(message, bindings, invocation)
    settle(await this.invoke<Answer>(faultInjector, handOver, settle))
  }

  /** Gives a message to the Worker and kills whatever goes on once it has settled the message. */
  async consumeAndKill(message: QueuedMessage): Promise<void> {
    const invocation = new Invocation(new FaultInjector(), {
      evict: () => this.evict(),
      repeat: () => Promise.reject(new Error('A killed invocation is not repeated.')),
    })
    const bindings = bindingsFor(this.queues, invocation)
    const answer = await invocations.run(invocation, () =>
      this.#handOver(message, bindings, invocation, () => {}),
    )
    this.queues.settle(message, answer)
  }

  /** The first half of what cron runs. */
  async sweep(faultInjector = new FaultInjector()): Promise<void> {
    await this.invoke(faultInjector, (bindings) => sweep(bindings))
  }

  /** The second half of what cron runs. */
  async retention(faultInjector = new FaultInjector()): Promise<void> {
    await this.invoke(faultInjector, (bindings) => runRetention(bindings))
  }

  /** The Organisation's alarm, if its time has come. */
  async alarm(): Promise<void> {
    const stub = organisationStub(env, this.shop.orgId)
    const at = await runInDurableObject(stub, (_, state) => state.storage.getAlarm())
    if (at !== null && at <= Date.now()) await runDurableObjectAlarm(stub)
  }

  /** Makes the Organisation forget what it holds in memory. */
  async evict(): Promise<void> {
    const organisation = organisationStub(env, this.shop.orgId)
    await organisation.totals() // only what runs can be evicted
    await evictDurableObject(organisation)
  }

  /** Counts the Organisation's own calls while something is done, and spoils the one. */
  async withObjectSpoilt<T>(faultInjector: FaultInjector, act: () => Promise<T>): Promise<T> {
    this.#ofObject = new Invocation(faultInjector, {
      evict: () => this.evict(),
      repeat: () => Promise.reject(new Error('An object does nothing twice.')),
    })
    try {
      return await act()
    } finally {
      this.#ofObject = undefined
    }
  }

  /** Everything that is due, and what it causes at once. */
  async drain(): Promise<void> {
    for (let message = this.queues.take(); message; message = this.queues.take()) {
      await this.consume(new FaultInjector(), message)
    }
  }

  /** Moves the clock and lets queues, cron and alarm work until nothing is left to do. */
  async quiet(): Promise<void> {
    for (let minute = 0; minute < MAX_MINUTES; minute++) {
      await this.drain()
      if (this.queues.nextAt() === undefined && !(await this.#hasWork())) return
      this.pass(MINUTE_MS)
      await this.sweep()
      await this.alarm()
    }
    throw new Error(`There is work left after ${MAX_MINUTES} minutes.`)
  }

  /** The most that any job's engine was started. */
  get mostStarts(): number {
    return Math.max(0, ...this.engineStarts.values())
  }

  pass(ms: number): void {
    vi.setSystemTime(Date.now() + ms)
  }

  /** What is wrong now that all is quiet. */
  violations(): Promise<string[]> {
    return violationsOf(this.shop.orgId, { received: this.received })
  }

  /**
   * Runs one invocation.
   * @param onCopy is given the result when a fault made a second one of it
   * @returns undefined when the isolate died or the invocation failed
   */
  async invoke<T>(
    faultInjector: FaultInjector,
    run: (bindings: Env, invocation: Invocation) => Promise<T>,
    onCopy: (result: T | undefined) => void = () => {},
  ): Promise<T | undefined> {
    const invocation = new Invocation(faultInjector, {
      evict: () => this.evict(),
      repeat: async () => {
        if (this.rival) await this.rival()
        else onCopy(await this.invoke(new FaultInjector(), run))
      },
    })
    const bindings = bindingsFor(this.queues, invocation)
    try {
      const result = await invocations.run(invocation, () => run(bindings, invocation))
      return invocation.dead ? undefined : result
    } catch {
      return undefined
    } finally {
      await invocation.arrived()
    }
  }

  async #handOver(
    { id, queue, body, attempts }: QueuedMessage,
    bindings: Env,
    invocation: Invocation,
    waitUntil?: (work: Promise<unknown>) => void,
  ): Promise<Answer> {
    let answer: Answer
    const say = (said: Answer) => {
      if (invocation.tell(`message.${said?.kind}`)) answer = said
    }
    const retry = ({ delaySeconds = 0 }: QueueRetryOptions = {}) =>
      say({ kind: 'retry', delaySeconds })
    const ack = () => say({ kind: 'ack' })
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
    return answer
  }

  #outward<T>(name: string, perform: () => Promise<T>): Promise<T> {
    const invocation = invocations.getStore()
    return invocation ? invocation.call(name, perform) : perform()
  }

  async #outside(request: Request): Promise<Response> {
    if (request.url.startsWith(`${CDN}/missing`)) return new Response('gone', { status: 404 })
    if (request.url.startsWith(CDN) && this.hangingDownloads-- > 0) return new Promise(() => {})
    if (request.url.startsWith(CDN)) return new Response(png())
    if (request.url !== HOOK) throw new TypeError(`unforeseen request to ${request.url}`)
    await request.text()
    if (this.timeouts-- > 0) throw new DOMException('The operation timed out', 'TimeoutError')
    if (this.refusals-- > 0) return new Response('not now', { status: 503 })
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
    const rows = await env.DB.prepare(
      `SELECT 1 FROM jobs WHERE organisation_id = ?1 AND status IN ('pending', 'processing')
       UNION ALL
       SELECT 1 FROM webhook_events
       WHERE organisation_id = ?1 AND status IN ('pending', 'retrying') LIMIT 1`,
    )
      .bind(this.shop.orgId)
      .all()
    if (rows.results.length > 0) return true
    return (await organisationStub(env, this.shop.orgId).totals()).reserved > 0
  }
}
