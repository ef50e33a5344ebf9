// Deletes data by age, in independent steps with bounded work per cron run. The retention periods are
// in domain/limits and documented in docs/retention.md.
import { UPLOAD_GRACE_MS, UPLOAD_TTL_SECONDS } from '../domain/limits.ts'
import { firstIdSince } from '../platform/ids.ts'
import { log } from '../platform/log.ts'
import { purgeOrganisations } from './job-retention.ts'
import { cutoff, ROW_STEPS, SLICES, type Step } from './retention-store.ts'

/** The maximum number of R2 list calls per run, each with up to 1,000 objects. */
const LISTS_PER_RUN = 5
const MINUTE_MS = 60_000
const UPLOAD_STORED_MS = UPLOAD_TTL_SECONDS * 1_000 + UPLOAD_GRACE_MS

const STEPS: Record<string, Step> = {
  jobs: purgeOrganisations,
  inputs: (env) => deleteObjects(env, 'inputs', firstIdSince('job', cutoff('inputs'))),
  uploads: (env) =>
    deleteObjects(env, 'uploads', firstIdSince('upl', Date.now() - UPLOAD_STORED_MS)),
  ...ROW_STEPS,
}

/**
 * Deletes data whose retention is over. A step that fails does not stop the others.
 * @throws the first failure, after all steps; the next run repeats it
 */
export async function runRetention(env: Env): Promise<void> {
  const slice = Math.floor(Date.now() / MINUTE_MS) % SLICES
  const deleted: Record<string, number> = {}
  const failures: unknown[] = []
  for (const [step, run] of Object.entries(STEPS)) {
    try {
      const count = await run(env, slice)
      if (count > 0) deleted[step] = count
    } catch (error) {
      log.error('retention step failed', error, { step })
      failures.push(error)
    }
  }
  if (Object.keys(deleted).length > 0) log.info('retention', deleted)
  if (failures.length > 0) throw failures[0]
}

/** Deletes objects whose keys contain an id before `firstId`. R2 lists keys in order, oldest first. */
async function deleteObjects(env: Env, folder: string, firstId: string): Promise<number> {
  const cutoffKey = `${folder}/${firstId}`
  let count = 0
  for (let list = 0; list < LISTS_PER_RUN; list++) {
    const { objects, truncated } = await env.IMAGES.list({ prefix: `${folder}/` })
    const old = objects.map(({ key }) => key).filter((key) => key < cutoffKey)
    if (old.length > 0) await env.IMAGES.delete(old)
    count += old.length
    if (!truncated || old.length < objects.length) break
  }
  return count
}
