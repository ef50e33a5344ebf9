// client.jobs: reads, lists, awaits and cancels jobs, and deletes their pictures.
import { ApiError, TimeoutError } from './errors.ts'
import { Pages } from './pages.ts'
import type { JobPages, JobQuery } from './pages.ts'
import { pathTo } from './request.ts'
import type { Call, CallOptions, Requester } from './request.ts'
import { sleep, withTimeout } from './timing.ts'
import type { Cancelled, Job, JobList } from './types.ts'

/** The longest wait that the service grants to one request. */
export const MAX_WAIT_SECONDS = 30
/** The interval of reports to `onUpdate`. */
const UPDATE_SECONDS = 5
/** The shortest interval of requests while a job has not ended. */
const MIN_INTERVAL_MS = 2_000
export const DEFAULT_WAIT_MS = 300_000

/** Options of `jobs.get`. */
export interface GetJobOptions extends CallOptions {
  /** Waits for the end of the job, by at most this many seconds (up to 30). */
  waitSeconds?: number | undefined
}

/** Options of `jobs.wait` and `tryOn.run`. */
export interface WaitOptions extends CallOptions {
  /** The time limit of the whole call in milliseconds. Default: 300,000 (5 minutes). */
  timeoutMs?: number | undefined
  /** Receives the job when it is first read and after each change of its status. */
  onUpdate?: ((job: Job) => void) | undefined
}

/** Reads and changes jobs: `client.jobs`. */
export class Jobs {
  readonly #requester: Requester

  /** The client creates this object. */
  constructor(requester: Requester) {
    this.#requester = requester
  }

  /**
   * Reads a job. Each read creates a new `output_url`, which is valid for 1 hour.
   * @throws ApiError `job_not_found` or `forbidden`
   */
  async get(id: string, { waitSeconds, signal }: GetJobOptions = {}): Promise<Job> {
    const limited = waitSeconds && Math.min(Math.ceil(waitSeconds), MAX_WAIT_SECONDS)
    return this.#read(id, { waitSeconds: limited, signal })
  }

  #read(id: string, options: Partial<Call>): Promise<Job> {
    return this.#requester.send<Job>({ method: 'GET', path: pathOf(id), jobId: id, ...options })
  }

  /**
   * Waits until a job has ended. A network error, 408, 429 or 5xx does not end the wait.
   * @returns the job with any final status: `completed`, `failed`, `cancelled` or `refunded`
   * @throws TimeoutError with the job's id when the job has not ended in time
   */
  wait(id: string, options: WaitOptions = {}): Promise<Job> {
    const { timeoutMs = DEFAULT_WAIT_MS, signal, onUpdate } = options
    return withTimeout(
      timeoutMs,
      signal,
      (combined) => this.#untilFinal(id, combined, onUpdate),
      (cause) => new TimeoutError(`Job ${id} has not ended within ${timeoutMs} ms.`, id, { cause }),
    )
  }

  async #untilFinal(
    id: string,
    signal: AbortSignal,
    onUpdate: WaitOptions['onUpdate'],
  ): Promise<Job> {
    let status: string | undefined
    let waitSeconds = onUpdate ? 0 : MAX_WAIT_SECONDS
    for (;;) {
      const startedAt = Date.now()
      const job = await this.#read(id, { waitSeconds, signal, retriesUntilAborted: true })
      if (job.status !== status) onUpdate?.(job)
      if (isFinal(job)) return job
      status = job.status
      // A server that does not wait must not be polled in a tight loop.
      const elapsedMs = Date.now() - startedAt
      if (waitSeconds > 0 && elapsedMs < MIN_INTERVAL_MS) {
        await sleep(MIN_INTERVAL_MS - elapsedMs, signal)
      }
      waitSeconds = onUpdate ? UPDATE_SECONDS : MAX_WAIT_SECONDS
    }
  }

  /**
   * Cancels a pending job and refunds its credit.
   * @throws ApiError `job_not_cancellable` once processing has started
   */
  async cancel(id: string, { signal }: CallOptions = {}): Promise<Cancelled> {
    let mayBeCancelled = false
    try {
      return await this.#requester.send<Cancelled>({
        method: 'DELETE',
        path: pathOf(id),
        jobId: id,
        signal,
        onRetry(error) {
          mayBeCancelled ||= !(error instanceof ApiError && error.status === 429)
        },
      })
    } catch (error) {
      // The response to an attempt was lost. If that attempt cancelled the job, the next one gets 409.
      if (!(mayBeCancelled && error instanceof ApiError && error.status === 409)) throw error
      const job = await this.get(id, { signal })
      if (job.status !== 'refunded') throw error
      return { job_id: id, status: job.status, refunded_credits: job.mode === 'live' ? 1 : 0 }
    }
  }

  /**
   * Deletes the result of a finished job and every stored copy of its images, including the uploads that
   * it used: other jobs can no longer use them. Repeating it succeeds.
   * @throws ApiError `job_not_finished` while the job is pending or processing
   */
  async deleteOutput(id: string, { signal }: CallOptions = {}): Promise<void> {
    const path = `${pathOf(id)}/output`
    await this.#requester.send({ method: 'DELETE', path, jobId: id, signal })
  }

  /**
   * Lists jobs, newest first. Iterate over the result, or read a single page with `.page()`. A page is
   * requested when it is needed.
   */
  list(query: JobQuery = {}, options: CallOptions = {}): JobPages {
    const list = { requester: this.#requester, path: '/jobs', items: ({ jobs }: JobList) => jobs }
    return new Pages(list, query, options)
  }
}

/** A status that this version does not know is not final: a later version may have added a step. */
export const isFinal = ({ status }: Job): boolean =>
  ['completed', 'failed', 'cancelled', 'refunded'].includes(status)

const pathOf = (id: string): string => pathTo('/jobs', id, 'The id of a job is required.')
