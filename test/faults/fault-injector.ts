// Counts the calls that an invocation of the Worker makes to the world outside its isolate, and
// spoils the one it was told to.
import { AsyncLocalStorage } from 'node:async_hooks'

export const FAULTS = ['lost', 'unanswered', 'died', 'evicted', 'overtaken', 'joined'] as const

/**
 * What happens at the chosen call.
 * - `lost`: it never happens, and the caller is told of an error.
 * - `unanswered`: it happens, and the caller is told of an error.
 * - `died`: it happens, and the isolate ends there: nothing after it does.
 * - `evicted`: just before it the Organisation loses its memory.
 * - `overtaken`: just before it a second invocation of the same runs from its start to its end.
 * - `joined`: at the same time a second invocation of the same begins and runs alongside.
 */
export type Fault = (typeof FAULTS)[number]

/** Says what is to happen at a call, given its number (from 0) and its name. */
export type Plan = (at: number, name: string) => Fault | undefined

/** What the names of the Organisation's own calls begin with. */
export const OBJECT = 'its '

/** Keeps the list of calls over all invocations of an act, and knows the plan. */
export class FaultInjector {
  readonly calls: string[] = []
  readonly #plan: Plan

  constructor(plan: Plan = () => undefined) {
    this.#plan = plan
  }

  faultAt(name: string): Fault | undefined {
    return this.#plan(this.calls.push(name) - 1, name)
  }
}

/** What the stage lends for faults that need more than the call itself. */
export interface Means {
  evict(): Promise<void>
  /** Runs the same invocation a second time. */
  repeat(): Promise<void>
}

/** One invocation of the Worker, from its event to its end or its isolate's death. */
export class Invocation {
  readonly #faultInjector: FaultInjector
  readonly #means: Means
  readonly #inFlight = new Set<Promise<unknown>>()
  #dead = false

  constructor(faultInjector: FaultInjector, means: Means) {
    this.#faultInjector = faultInjector
    this.#means = means
  }

  get dead(): boolean {
    return this.#dead
  }

  /**
   * Lets a call out, spoilt if it is the one. After a death every call fails and has no effect; it
   * fails, and does not hang, since in truth the locks that the dead code holds die with it.
   */
  async call<T>(name: string, perform: () => Promise<T>): Promise<T> {
    this.#mustLive()
    const fault = this.#faultInjector.faultAt(name)
    if (fault === 'lost') throw new Error('Network connection lost.')
    if (fault === 'evicted') await this.#means.evict()
    if (fault === 'overtaken') await this.#means.repeat()
    if (fault === 'joined') this.#inFlight.add(this.#means.repeat())
    if (fault === 'died') this.#dead = true
    const call = perform()
    this.#inFlight.add(call)
    await call.catch(() => {}) // what it answers is looked at below
    this.#inFlight.delete(call)
    this.#mustLive()
    if (fault === 'unanswered') throw new Error('Network connection lost.')
    return call
  }

  /** The same for a call that answers nothing. @returns whether it is to happen */
  tell(name: string): boolean {
    return !this.#dead && this.#faultInjector.faultAt(name) === undefined
  }

  /** Waits for calls that were on their way when the invocation ended. */
  async arrived(): Promise<void> {
    await Promise.allSettled(this.#inFlight)
  }

  #mustLive(): void {
    if (this.#dead) throw new Error('The isolate is dead.')
  }
}

/** `fetch` is one for the whole isolate; this tells which invocation calls it. */
export const invocations = new AsyncLocalStorage<Invocation>()
