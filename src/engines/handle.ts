// The handle of work that runs at a provider: a string kept in our database and handed back to the
// adapter that made it. It never holds a key.
import { JobFailure } from '../domain/failure.ts'
import { z } from 'zod'
import { type Progress } from './engine.ts'
import { parseJson } from './json.ts'

/** The handle of work that is asked after by its id alone. */
export const IdHandle = z.object({ id: z.string().min(1), startedAtMs: z.number() })
export type IdHandle = z.infer<typeof IdHandle>

/** A handle that does not parse was not written by us: no retry can mend it. */
export function parseHandle<Handle>(
  provider: string,
  handle: string,
  schema: z.ZodType<Handle>,
): Handle {
  const parsed = schema.safeParse(parseJson(handle))
  if (parsed.success) return parsed.data
  throw new JobFailure('internal_error', `${provider}: a handle we did not write`, {
    work: 'over',
  })
}

/** Work that goes on, to be asked after with this handle. */
export const running = <Handle extends { startedAtMs: number }>(handle: Handle): Progress => ({
  done: false,
  handle: JSON.stringify(handle),
  pollAfterSeconds: pollAfterSeconds(handle.startedAtMs),
})

/** Often while somebody is likely to wait for a fast model, seldom for work stuck in a queue. */
export function pollAfterSeconds(startedAtMs: number): number {
  const age = Date.now() - startedAtMs
  if (age < 10_000) return 2
  if (age < 60_000) return 5
  return age < 300_000 ? 15 : 30
}
