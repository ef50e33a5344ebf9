// Takes the limits of a budget for the subjects of a request.
import { createMiddleware } from 'hono/factory'
import type { Context } from 'hono'
import { ROUTE_BUDGETS, type Limit, type Subject } from '../domain/budgets.ts'
import { rateLimited } from '../domain/errors.ts'
import { TokenBuckets } from '../platform/concurrency/token-buckets.ts'
import {
  consumeRateLimit,
  type RateLimit,
  type RateLimitResult,
} from '../platform/db/rate-limits.ts'
import type { App } from './request-context.ts'
import { budgetOf } from './route-budgets.ts'

/** Whom a request counts for, as far as it is known. */
export type Subjects = { [S in Subject]?: string | undefined }

/** A limit of one subject. */
type Counted = RateLimit & Pick<Limit, 'at'>

const buckets = new TokenBuckets()

/** The limits of a budget that concern these subjects. @param name a part of the keys */
export const limitsOf = (name: string, limits: readonly Limit[], subjects: Subjects): Counted[] =>
  limits.flatMap(({ of, max, windowSeconds, at }) => {
    const subject = subjects[of]
    return subject === undefined
      ? []
      : [{ key: `${name}:${of}:${subject}`, max, windowSeconds, at }]
  })

/** Takes all limits, or none if one is reached. Those in memory are checked first. */
export async function takeLimits(env: Env, limits: Counted[]): Promise<RateLimitResult> {
  const at = (place: Limit['at']) => limits.filter((limit) => limit.at === place)
  const waitSeconds = buckets.take(at('isolate'))
  if (waitSeconds > 0) return { ok: false, waitSeconds }
  const inDatabase = at('database')
  return inDatabase.length > 0 ? consumeRateLimit(env, inDatabase) : { ok: true, counted: [] }
}

/** Takes what the budget of the request's route allows these subjects. */
export async function takeRouteBudget(
  { env, req }: { env: Env; req: { method: string; path: string } },
  subjects: Subjects,
): Promise<RateLimitResult> {
  const name = budgetOf(req.method, req.path)
  return takeLimits(env, limitsOf(name, ROUTE_BUDGETS[name].limits, subjects))
}

/**
 * Middleware that takes what the budget of the route allows a subject of the request.
 * @throws AppError rate_limit_exceeded
 */
export const limitRoute = <Env extends App>(
  subjectsOf: (c: Context<Env>) => Subjects,
  messageOf: (waitSeconds: number) => string,
) =>
  createMiddleware<Env>(async (c, next) => {
    const taken = await takeRouteBudget(c, subjectsOf(c))
    if (taken.ok) return next()
    throw rateLimited(taken.waitSeconds, messageOf(taken.waitSeconds))
  })
