// client.tryOn: submits jobs.
import { JobError, TimeoutError } from './errors.ts'
import { DEFAULT_WAIT_MS, isFinal, MAX_WAIT_SECONDS } from './jobs.ts'
import type { Jobs, WaitOptions } from './jobs.ts'
import type { CallOptions, Requester } from './request.ts'
import { withTimeout } from './timing.ts'
import type { CompletedJob, Job, Submitted, TryOnRequest } from './types.ts'

/** The rest of the time limit after the service's wait, in which its response must arrive. */
const RESPONSE_SECONDS = 5

/** Options of `tryOn.submit`. */
export interface SubmitOptions extends CallOptions {
  /**
   * Makes a repeated call safe for 24 hours: the same key and request return the same job at no cost.
   * Default: a new key for each call, which the retries of the call share.
   */
  idempotencyKey?: string | undefined
}

/** Options of `tryOn.run`. */
export interface RunOptions extends SubmitOptions, WaitOptions {}

/** Submits jobs: `client.tryOn`. */
export class TryOn {
  readonly #requester: Requester
  readonly #jobs: Jobs

  /** The client creates this object. */
  constructor(requester: Requester, jobs: Jobs) {
    this.#requester = requester
    this.#jobs = jobs
  }

  /**
   * Submits a job and returns at once. Retries never create a second job.
   * @throws ApiError for example `validation_error` or `insufficient_credits`
   */
  async submit(request: TryOnRequest, options: SubmitOptions = {}): Promise<Submitted> {
    return this.#submit<Submitted>(request, options)
  }

  /**
   * Submits a job and waits until it is completed.
   * @returns the completed job; `output_url` is the address of the picture
   * @throws JobError when the job fails or is cancelled, which consumes no credit, and when the picture of a
   *   repeated submission was deleted
   * @throws TimeoutError when the job has not ended in time
   * @throws ApiError and ConnectionError; when `jobId` is not null, the job continues
   */
  async run(request: TryOnRequest, options: RunOptions = {}): Promise<CompletedJob> {
    const { timeoutMs = DEFAULT_WAIT_MS, signal, onUpdate } = options
    let jobId: string | null = null
    const submitAndWait = async (combined: AbortSignal): Promise<Job> => {
      const reply = await this.#submit<Submitted | Job>(
        request,
        { ...options, signal: combined },
        // With onUpdate, the job's id is reported before the wait.
        onUpdate ? 0 : waitSecondsWithin(timeoutMs),
      )
      jobId = reply.job_id
      if ('workspace_id' in reply && isFinal(reply)) return reply
      return this.#jobs.wait(reply.job_id, { timeoutMs: Infinity, signal: combined, onUpdate })
    }
    const onTimeout = (cause: unknown) =>
      new TimeoutError(
        `${jobId === null ? 'The submission' : `Job ${jobId}`} has not ended within ${timeoutMs} ms.`,
        jobId,
        { cause },
      )
    const job = await withTimeout(timeoutMs, signal, submitAndWait, onTimeout)
    if (!isCompleted(job)) throw new JobError(job)
    return job
  }

  async #submit<T>(
    request: TryOnRequest,
    { idempotencyKey = randomKey(), signal }: SubmitOptions,
    waitSeconds = 0,
  ): Promise<T> {
    return this.#requester.send<T>({
      method: 'POST',
      path: '/tryon',
      headers: { 'Content-Type': 'application/json', 'Idempotency-Key': idempotencyKey },
      body: JSON.stringify(request),
      waitSeconds,
      signal,
    })
  }
}

const isCompleted = (job: Job): job is CompletedJob =>
  job.status === 'completed' && job.output_url !== null

const waitSecondsWithin = (timeoutMs: number): number =>
  Math.max(0, Math.min(Math.floor(timeoutMs / 1_000) - RESPONSE_SECONDS, MAX_WAIT_SECONDS))

/** 128 random bits. `crypto.randomUUID` is missing on pages without HTTPS. */
const randomKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('')
