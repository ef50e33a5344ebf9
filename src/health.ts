// GET /health, for monitors: whether the databases, the bucket, the Organisation namespace and the
// settings work. Public, so it names a failing check without details, which are in the log.
import type { Context } from 'hono'
import { pollUntil } from './concurrency/poll-until.ts'
import { withTimeout } from './concurrency/with-timeout.ts'
import { jobsBindings } from './db/shards.ts'
import type { App } from './http/context.ts'
import { log } from './log.ts'
import { perEnv, settingsOf } from './settings.ts'

const CHECK_TIMEOUT_MS = 3_000
/** For this time, an isolate reuses a result, so that requests for it cannot load the databases. */
const CACHE_MS = 5_000
/** Secrets of the console must have this length (accounts/auth). */
const MIN_SECRET_LENGTH = 32
/** An object and a key that do not exist. */
const PROBE = 'health'

interface Health {
  /** The names of the failing checks. */
  failing: string[]
  checkedAt: number
}

/** The latest result of this isolate, and when a check started that has no result yet. */
const stateOf = perEnv((): { latest?: Health; startedAt: number } => ({ startedAt: 0 }))

/** 200 if all checks pass, otherwise 503 with the names of those that fail. */
export async function health({ env, ...c }: Pick<Context<App>, 'env' | 'json'>): Promise<Response> {
  const { failing } = await currentHealth(env)
  const isOk = failing.length === 0
  const version = env.VERSION?.id ?? null
  const body = isOk ? { status: 'ok', version } : { status: 'failing', failing, version }
  return c.json(body, isOk ? 200 : 503, { 'Cache-Control': 'no-store' })
}

async function currentHealth(env: Env): Promise<Health> {
  const state = stateOf(env)
  const isFresh = () => state.latest !== undefined && Date.now() - state.latest.checkedAt < CACHE_MS
  const isBusy = () => Date.now() - state.startedAt < CHECK_TIMEOUT_MS
  // Waits while another request checks. If that one is killed, only the first of the others continues.
  while (!isFresh() && isBusy()) await pollUntil(() => isFresh() || !isBusy())
  if (isFresh() && state.latest) return state.latest
  state.startedAt = Date.now()
  const failing = await failingChecks(env)
  state.startedAt = 0
  return (state.latest = { failing, checkedAt: Date.now() })
}

async function failingChecks(env: Env): Promise<string[]> {
  const checks: [name: string, check: () => Promise<unknown>][] = [
    ['settings', async () => checkSettings(env)],
    ['DB', () => env.DB.prepare('SELECT 1').run()],
    ...jobsBindings(env).map((binding, shard): (typeof checks)[number] => [
      `JOBS_DB_${shard}`,
      () => binding.prepare('SELECT 1').run(),
    ]),
    ['IMAGES', () => env.IMAGES.head(PROBE)],
    // A call without effect. The object stores nothing, so it ceases to exist.
    ['ORGANISATION', async () => env.ORGANISATION.getByName(PROBE).totals()],
  ]
  const results = await Promise.all(
    checks.map(async ([name, check]) => {
      try {
        await withTimeout(check(), CHECK_TIMEOUT_MS, () => new Error('no result in time'))
        return []
      } catch (error) {
        log.error('health check failed', error, { check: name })
        return [name]
      }
    }),
  )
  return results.flat()
}

/** @throws Error for a setting that is missing or not valid */
function checkSettings(env: Env): void {
  const { authSecret = '' } = settingsOf(env)
  if (authSecret.length < MIN_SECRET_LENGTH) throw new Error('AUTH_SECRET is missing or too short')
}
