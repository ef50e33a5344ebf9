import { createMiddleware } from 'hono/factory'
import { AppError } from '../domain/errors.ts'
import { networkOf } from '../http/network.ts'
import type { App } from '../http/request-context.ts'
import { takeRouteBudget } from '../http/take-budget.ts'

/**
 * Takes what the budget of the route allows the network of the request.
 * @throws AppError rate_limit_exceeded
 */
export const limitNetwork = createMiddleware<App>(async (c, next) => {
  const taken = await takeRouteBudget(c, { network: networkOf(c) })
  if (taken.ok) return next()
  const message = `Too many requests from your network. Try again in ${taken.waitSeconds} s.`
  throw new AppError('rate_limit_exceeded', message, { 'Retry-After': String(taken.waitSeconds) })
})
