// The handle of work at a provider: a string stored with the job and returned to the adapter that
// created it. It contains no secrets.
import { z } from 'zod'
import { JobFailure } from '../domain/failure.ts'
import type { Progress } from './engine.ts'

/** The handle of work that is polled by its id. */
export const IdHandle = z.object({ id: z.string().min(1), startedAtMs: z.number() })
export type IdHandle = z.infer<typeof IdHandle>

/** @throws JobFailure for a handle that does not parse; not retriable, as it cannot become valid */
export function parseHandle<Handle>(
  provider: string,
  handle: string,
  schema: z.ZodType<Handle>,
): Handle {
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
