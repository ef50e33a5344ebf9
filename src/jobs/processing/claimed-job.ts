// A claimed job and its state in memory. The methods that return a promise write the state to D1; the
// other methods change it only in memory.
//
// It counts the paid starts whose outcome is unknown. No provider recognises a repeated start, so each of them may
// have been charged. Invariant: after an ambiguous start, a job makes at most one more start that may be charged.
// A paid start is counted as ambiguous in D1 before it is made, and the count is corrected when the outcome is
// known, so a start that is interrupted by a crash remains counted.
import type { JobRow } from '../../platform/db/schema.ts'
import type { JobFailure, ProviderWork } from '../../domain/failure.ts'
import { settingsOf } from '../../platform/settings.ts'
import { LEASE_MS, saveClaim, START_LEASE_MS } from './claims.ts'
import { recordOf, type FailureRecord } from './failure-record.ts'

/** The maximum number of attempts per job, equal to the deliveries of one queue message. */
const MAX_ATTEMPTS = 6

/** The ambiguous start and its one repetition. */
const MAX_AMBIGUOUS_STARTS = 2

/**
 * The outcome of a paid start.
 * - `rejected`: nothing runs and nothing is charged.
 * - `known`: the work was accepted, and its handle or its end is known.
 * - `unknown`: the work may run, or its picture is not stored yet.
 */
type StartOutcome = 'rejected' | 'known' | 'unknown'

/** The count after a paid start. @param before the count before that start */
function ambiguousStartsAfter(before: number, outcome: StartOutcome): number {
  if (outcome === 'rejected') return before
  // A known start is not ambiguous itself, but it uses up the repetition of an earlier one.
  if (outcome === 'known' && before === 0) return 0
  return before + 1
}

/** A start's lease ends at most this long after the deadline, so that the sweep can fail the job, ms. */
const AFTER_DEADLINE_MS = 10_000

/** The lease ended during the work, and another consumer has claimed the job. */
export class ClaimLost extends Error {
  override readonly name = 'ClaimLost'
}

type Change = Partial<Pick<JobRow, 'engine' | 'ambiguousStarts' | 'attempts'>>

export class ClaimedJob {
  readonly #env: Env
  #row: Readonly<JobRow>
  /** The count of ambiguous starts before the paid start whose outcome is not recorded yet. */
  #startsBefore: number | undefined

  /** The engine that was started or polled last under this claim, for the log. */
  latestEngine: string | undefined

  /** @param row as returned by the claim */
  constructor(env: Env, row: Readonly<JobRow>) {
    this.#env = env
    this.#row = row
  }

  /** The current state. */
  get row(): Readonly<JobRow> {
    return this.#row
  }

  get id(): string {
    return this.#row.id
  }

  /** Milliseconds until the deadline, at least 0. It counts from the first claim, for all attempts together. */
  get msLeft(): number {
    const startedAtMs = this.#row.startedAt?.getTime() ?? Date.now()
    return Math.max(0, startedAtMs + settingsOf(this.#env).jobDeadlineMs - Date.now())
  }

  /** Whether the job may make another paid start. */
  get mayStartPaid(): boolean {
    return this.#row.ambiguousStarts < MAX_AMBIGUOUS_STARTS
  }

  get canAttemptAgain(): boolean {
    return this.#row.attempts < MAX_ATTEMPTS
  }

  countAttempt(): void {
    this.#change({ attempts: this.#row.attempts + 1 })
  }

  /** Nothing was started, so the attempt does not count. */
  uncountAttempt(): void {
    this.#change({ attempts: this.#row.attempts - 1 })
  }

  /** The latest failure, which clients see only when the job fails. */
  recordFailure(failure: JobFailure): void {
    this.#change(recordOf(failure))
  }

  /**
   * Records the intent of a paid start, and extends the lease for its duration.
   * @throws ClaimLost
   */
  async recordIntent(engine: string): Promise<void> {
    const before = this.#row.ambiguousStarts
    const leaseMs = Math.min(START_LEASE_MS, this.msLeft + AFTER_DEADLINE_MS)
    await this.#renew({ engine, ambiguousStarts: ambiguousStartsAfter(before, 'unknown') }, leaseMs)
    this.#startsBefore = before
  }

  /** A start failed. @param work the known state of the work */
  recordFailedStart(work: ProviderWork | undefined): void {
    if (work === 'refused' || work === undefined) this.#recordOutcome('rejected')
    else this.#recordOutcome(work === 'over' ? 'known' : 'unknown')
  }

  /** The picture exists. Until it is stored, the start that generated it remains ambiguous. */
  recordPicture(engine: string | null): void {
    this.#recordOutcome('unknown')
    this.#change({ engine })
  }

  /** The engine accepted the work. */
  recordHandle(engine: string, engineHandle: string): void {
    this.#recordOutcome('known')
    this.#change({ engine, engineHandle })
  }

  /** A poll returned a new handle for the same work. */
  replaceHandle(engineHandle: string): void {
    this.#change({ engineHandle })
  }

  /** The work ended without a picture. */
  clearHandle(failure: JobFailure): void {
    this.#change({ engineHandle: null, ...recordOf(failure) })
  }

  /** Starts another attempt under the same claim. @throws ClaimLost */
  async beginAttempt(): Promise<void> {
    await this.#renew({ attempts: this.#row.attempts + 1 }, LEASE_MS)
  }

  /**
   * Writes the state and releases the lease: the job can be claimed again from `dueAt` on.
   * @returns false when the claim has been lost
   */
  async release(dueAt: Date, failure?: FailureRecord): Promise<boolean> {
    const save = () => saveClaim({ env: this.#env, job: this.#row, dueAt, failure })
    // One retry, because paid work is lost with its handle.
    return save().catch(save)
  }

  #recordOutcome(outcome: StartOutcome): void {
    if (this.#startsBefore === undefined) return
    this.#change({ ambiguousStarts: ambiguousStartsAfter(this.#startsBefore, outcome) })
    this.#startsBefore = undefined
  }

  async #renew(change: Change, leaseMs: number): Promise<void> {
    const dueAt = new Date(Date.now() + leaseMs)
    const job = { ...this.#row, ...change }
    if (!(await saveClaim({ env: this.#env, job, dueAt }))) throw new ClaimLost(this.id)
    this.#change({ ...change, dueAt })
  }

  #change(change: Partial<JobRow>): void {
    this.#row = { ...this.#row, ...change }
  }
}
