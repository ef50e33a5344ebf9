// The checks of GET /health and of the alert on it: whether the databases, the bucket, the Organisation
// namespace, the settings and the evaluation of alerts work.
import { organisationStub } from '../../credits/organisation-stub.ts'
import { withTimeout } from '../../platform/concurrency/with-timeout.ts'
import { jobsBindings } from '../../platform/db/database.ts'
import { log } from '../../platform/log.ts'
import { settingsOf } from '../../platform/settings.ts'
import { alertChannels } from './alert-settings.ts'
import { readState } from './alert-state.ts'

/** The longest time that a check takes. */
export const CHECK_TIMEOUT_MS = 3_000
/** Secrets of the console must have this length (users/auth). */
const MIN_SECRET_LENGTH = 32
/** Cron evaluates the alerts each minute. */
const MAX_EVALUATION_AGE_MS = 10 * 60_000
/** An object and a key that do not exist. */
const PROBE = 'health'

export interface HealthChecks {
  /** The names of the failing checks. */
  failing: string[]
  /** Of the object that was called. */
  jurisdiction: string | null
  /** The size of the largest database, bytes. */
  largestDatabaseBytes: number
}

/** Runs all checks in parallel. Does not throw. The reasons of failures are in the log. */
export async function runHealthChecks(env: Env): Promise<HealthChecks> {
  let jurisdiction: string | null = null
  let largestDatabaseBytes = 0
  const query = async (binding: D1Database) => {
    const { meta } = await binding.prepare('SELECT 1').run()
    largestDatabaseBytes = Math.max(largestDatabaseBytes, meta.size_after)
  }
  const shards = jobsBindings(env).map(
    (binding, shard) => [`JOBS_DB_${shard}`, () => query(binding)] as const,
  )
  const checks: Record<string, () => Promise<unknown>> = {
    settings: async () => checkSettings(env),
    alerts: () => checkAlerts(env),
    DB: () => query(env.DB),
    ...Object.fromEntries(shards),
    IMAGES: () => env.IMAGES.head(PROBE),
    // A call without effect. The object stores nothing, so it ceases to exist.
    async ORGANISATION() {
      const stub = organisationStub(env, PROBE)
      await stub.totals()
      jurisdiction = stub.id.jurisdiction ?? null
    },
  }
  const results = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => {
      try {
        await withTimeout(check(), CHECK_TIMEOUT_MS, () => new Error('no result in time'))
        return []
      } catch (error) {
        log.error('health check failed', error, { check: name })
        return [name]
      }
    }),
  )
  return { failing: results.flat(), jurisdiction, largestDatabaseBytes }
}

/** @throws Error for a setting that is missing or not valid */
function checkSettings(env: Env): void {
  const { authSecret = '' } = settingsOf(env)
  if (authSecret.length < MIN_SECRET_LENGTH) throw new Error('AUTH_SECRET is missing or too short')
}

/** @throws Error when the settings of alerts are not valid, or when cron does not evaluate the alerts */
async function checkAlerts(env: Env): Promise<void> {
  if (alertChannels(env).length === 0) return
  const { evaluatedAt } = await readState(env)
  if (evaluatedAt && Date.now() - evaluatedAt.getTime() > MAX_EVALUATION_AGE_MS) {
    throw new Error(`the alerts were last evaluated at ${evaluatedAt.toISOString()}`)
  }
}
