// GET /health, for monitors: whether the databases, the bucket, the Organisation namespace and the
// settings work. Public, so it names a failing check without details, which are in the log.
import type { Context } from 'hono'
import { organisationStub } from '../credits/organisation-stub.ts'
import { pollUntil } from '../platform/concurrency/poll-until.ts'
import { withTimeout } from '../platform/concurrency/with-timeout.ts'
import { jobsBindings } from '../platform/db/shards.ts'
import type { App } from '../http/request-context.ts'
import { log } from '../platform/log.ts'
import { perEnv, settingsOf } from '../platform/settings.ts'

const CHECK_TIMEOUT_MS = 3_000
/** For this time, an isolate reuses a result, so that requests for it cannot load the databases. */
const CACHE_MS = 5_000
/** Secrets of the console must have this length (users/auth). */
const MIN_SECRET_LENGTH = 32
/** An object and a key that do not exist. */
const PROBE = 'health'

interface Health {
  /** The names of the failing checks. */
  failing: string[]
  /** Of the object that was called. */
  jurisdiction: string | null
  checkedAt: number
}

/** The latest result of this isolate, and when a check started that has no result yet. */
const stateOf = perEnv((): { latest?: Health; startedAt: number } => ({ startedAt: 0 }))

/** 200 if all checks pass, otherwise 503 with the names of those that fail. */
export async function health({ env, ...c }: Pick<Context<App>, 'env' | 'json'>): Promise<Response> {
  const { failing, jurisdiction } = await currentHealth(env)
  const isOk = failing.length === 0
  const version = env.VERSION?.id ?? null
  const body = {
    ...(isOk ? { status: 'ok' } : { status: 'failing', failing }),
    version,
    jurisdiction,
  }
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
  const result = await runChecks(env)
  state.startedAt = 0
  return (state.latest = { ...result, checkedAt: Date.now() })
}

async function runChecks(env: Env): Promise<Pick<Health, 'failing' | 'jurisdiction'>> {
  let jurisdiction: string | null = null
  const checks: [name: string, check: () => Promise<unknown>][] = [
    ['settings', async () => checkSettings(env)],
    ['DB', () => env.DB.prepare('SELECT 1').run()],
    ...jobsBindings(env).map((binding, shard): (typeof checks)[number] => [
      `JOBS_DB_${shard}`,
      () => binding.prepare('SELECT 1').run(),
    ]),
    ['IMAGES', () => env.IMAGES.head(PROBE)],
    // A call without effect. The object stores nothing, so it ceases to exist.
    [
      'ORGANISATION',
      async () => {
        const stub = organisationStub(env, PROBE)
        await stub.totals()
        jurisdiction = stub.id.jurisdiction ?? null
      },
    ],
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
  return { failing: results.flat(), jurisdiction }
}

/** @throws Error for a setting that is missing or not valid */
function checkSettings(env: Env): void {
  const { authSecret = '' } = settingsOf(env)
  if (authSecret.length < MIN_SECRET_LENGTH) throw new Error('AUTH_SECRET is missing or too short')
}
