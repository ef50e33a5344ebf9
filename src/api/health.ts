// GET /health, for monitors: the result of jobs/monitoring/health-checks. Public, so it names a failing check without
// details, which are in the log.
import type { Context } from 'hono'
import { pollUntil } from '../platform/concurrency/poll-until.ts'
import type { App } from '../http/request-context.ts'
import {
  CHECK_TIMEOUT_MS,
  runHealthChecks,
  type HealthChecks,
} from '../jobs/monitoring/health-checks.ts'
import { perEnv } from '../platform/settings.ts'

/** For this time, an isolate reuses a result, so that requests for it cannot load the databases. */
const CACHE_MS = 5_000

type Health = HealthChecks & { checkedAt: number }

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
  const result = await runHealthChecks(env)
  state.startedAt = 0
  return (state.latest = { ...result, checkedAt: Date.now() })
}
