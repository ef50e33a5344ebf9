// Cancels work at engines when its job no longer needs it. Best effort.
import type { JobRow } from '../platform/db/schema.ts'
import { enginesOf } from '../engines/choose-engine.ts'
import type { Engine, Progress } from '../engines/engine.ts'
import { log } from '../platform/log.ts'

/** Cancels the work that a job's handle names. */
export async function cancelWorkOf(env: Env, { id, engine: name, engineHandle }: Readonly<JobRow>) {
  const engine = name === null ? undefined : enginesOf(env).named(name)
  if (engine && engineHandle !== null) await cancelWork(id, engine, engineHandle)
}

/** Cancels a start that succeeds after the deadline. */
export async function cancelLateStart(jobId: string, engine: Engine, work: Promise<Progress>) {
  const progress = await work.catch(() => undefined) // without a handle there is nothing to cancel
  if (!progress || progress.done) return
  await cancelWork(jobId, engine, progress.handle)
}

async function cancelWork(jobId: string, engine: Engine, handle: string) {
  try {
    await engine.cancel?.(handle)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    log.warn('work not cancelled', { jobId, engine: engine.name, reason })
  }
}
