// Counts the calls that an invocation of the Worker makes outside its isolate, and injects a fault into
// the planned one.
import { AsyncLocalStorage } from 'node:async_hooks'
import { InjectedError } from '../support/injected-error.ts'

export const FAULTS = [
  'request lost',
  'response lost',
  'killed',
  'evicted',
  'overtaken',
  'concurrent',
] as const

/**
 * What happens at the planned call.
 * - `request lost`: the call is not made, and the caller gets an error.
 * - `response lost`: the call is made, and the caller gets an error.
 * - `killed`: the call is made, and the isolate is killed: nothing happens after it.
 * - `evicted`: the Organisation is evicted just before the call.
 * - `overtaken`: a second, identical invocation runs completely just before the call.
 * - `concurrent`: a second, identical invocation starts with the call and runs concurrently.
 */
export type Fault = (typeof FAULTS)[number]

/** Returns the fault for a call, given its index and name. */
export type Plan = (at: number, name: string) => Fault | undefined

/** The prefix of the names of the Organisation's own calls. */
export const OBJECT = 'object '

/** Records the calls of all invocations, and returns the planned fault of each. */
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

/** The actions for faults that need more than the call. */
export interface FaultActions {
  evict(): Promise<void>
  /** Runs the invocation a second time. */
  repeat(): Promise<void>
}

/** One invocation of the Worker, until it ends or its isolate is killed. */
export class Invocation {
  readonly #faultInjector: FaultInjector
  readonly #actions: FaultActions
  readonly #inFlight = new Set<Promise<unknown>>()
  #isKilled = false

  constructor(faultInjector: FaultInjector, actions: FaultActions) {
    this.#faultInjector = faultInjector
    this.#actions = actions
  }

  get isKilled(): boolean {
    return this.#isKilled
  }

  /**
   * Makes a call, with the planned fault. In a killed invocation, every call fails without an effect. It
   * does not hang, because a killed isolate also releases its locks.
   */
  async call<T>(name: string, perform: () => Promise<T>): Promise<T> {
    this.#assertRunning()
    const fault = this.#faultInjector.faultAt(name)
    if (fault === 'request lost') throw new InjectedError('Network connection lost.')
    if (fault === 'evicted') await this.#actions.evict()
    if (fault === 'overtaken') await this.#actions.repeat()
    if (fault === 'concurrent') this.#inFlight.add(this.#actions.repeat())
    if (fault === 'killed') this.#isKilled = true
    const call = perform()
    this.#inFlight.add(call)
    await call.catch(() => {}) // the result is returned below
    this.#inFlight.delete(call)
    this.#assertRunning()
    if (fault === 'response lost') throw new InjectedError('Network connection lost.')
    return call
  }

  /** The same for a call without a result. @returns whether to make the call */
  mayCall(name: string): boolean {
    return !this.#isKilled && this.#faultInjector.faultAt(name) === undefined
  }

  /** Waits for calls that had not returned when the invocation ended. */
  async allReturned(): Promise<void> {
    await Promise.allSettled(this.#inFlight)
  }

  #assertRunning(): void {
    if (this.#isKilled) throw new InjectedError('The isolate was killed.')
  }
}

/** The current invocation, since all invocations of an isolate share `fetch`. */
export const invocations = new AsyncLocalStorage<Invocation>()
