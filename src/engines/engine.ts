// The interface of every engine, which turns two checked images into one picture and does not know about job states,
// credits or queues; and the handle of work at a provider, a string that is stored with the job and returned to the
// adapter that created it. It contains no secrets.
import { z } from 'zod'
import type { ImageFile } from '../domain/image.ts'
import { JobFailure } from '../domain/failure.ts'

/** A customer's image after the checks: at most 10 MB, and its first bytes match `format`. */
export interface CheckedImage extends ImageFile {
  /** A signed URL of the input copy, valid for 1 hour, for engines that fetch the image. */
  url(): Promise<string>
}

export interface EngineInput {
  jobId: string
  organisationId: string
  /** Whether the organisation pays, or uses free credits. */
  isPaying: boolean
  model: CheckedImage
  garment: CheckedImage
}

/** The finished picture, or the handle to poll with after `pollAfterSeconds`. */
export type Progress =
  { done: true; image: ImageFile } | { done: false; handle: string; pollAfterSeconds: number }

export interface Engine {
  readonly name: string
  /** True when the provider charges for each start, so that starts must not be repeated carelessly. */
  readonly paid?: boolean
  /** Starts the work. @throws JobFailure; `retriable` is true when another attempt may succeed */
  start(input: EngineInput): Promise<Progress>
  /** Polls work that is still running. Missing when `start` always finishes the work. */
  poll?(handle: string): Promise<Progress>
  /** Asks the provider to stop the work. Best effort. */
  cancel?(handle: string): Promise<void>
}

/** Nothing was started and nothing is charged: another attempt or engine may succeed. */
export const refused = (reason: string, retryAfterSeconds?: number): JobFailure =>
  new JobFailure('engine_unavailable', reason, {
    retriable: true,
    work: 'refused',
    retryAfterSeconds,
  })

/** The handle of work that is polled by its id. */
export const IdHandle = z.object({ id: z.string().min(1), startedAtMs: z.number() })
export type IdHandle = z.infer<typeof IdHandle>

/** @throws JobFailure for a handle that does not parse; not retriable, as it cannot become valid */
export function parseHandle<Handle>(provider: string, handle: string, schema: z.ZodType<Handle>) {
  const parsed = schema.safeParse(parseJson(handle))
  if (parsed.success) return parsed.data
  throw new JobFailure('internal_error', `${provider}: invalid handle`, { work: 'over' })
}

/** Parses untrusted JSON. @returns undefined for malformed JSON, which every schema rejects */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The progress of work that is still running. */
export const running = <Handle extends { startedAtMs: number }>(handle: Handle): Progress => ({
  done: false,
  handle: JSON.stringify(handle),
  pollAfterSeconds: pollAfterSeconds(handle.startedAtMs),
})

/** The interval grows with the age of the work: from 2 s for fast models to 30 s for long queues. */
export function pollAfterSeconds(startedAtMs: number): number {
  const age = Date.now() - startedAtMs
  if (age < 10_000) return 2
  if (age < 60_000) return 5
  return age < 300_000 ? 15 : 30
}
