// How often the pages that could be abused may be used, and what they answer past that.
import { takeAttempt } from '../accounts/attempts.ts'
import type { AttemptLimit } from '../accounts/attempts.ts'
import type { ConsoleContext } from './context.ts'
import { guestPage } from './layout.tsx'

/** Passwords that may be tried: each costs 60 ms of CPU, and each guess might be right. */
export const mayTryPassword = (c: ConsoleContext, address: string) =>
  limited(c, 'sign-in', address, { perAddress: 10, perIp: 50, windowSeconds: 15 * 60 })

/** Mail that may be caused. */
export const mayMail = (c: ConsoleContext, address: string) =>
  limited(c, 'mail', address, { perAddress: 5, perIp: 30, windowSeconds: 60 * 60 })

/** @returns the answer to give instead, or null when it may go on */
async function limited(
  c: ConsoleContext,
  what: string,
  address: string,
  limit: { perAddress: number; perIp: number; windowSeconds: number },
) {
  const ip = c.req.header('CF-Connecting-IP') ?? 'unknown'
  const { windowSeconds } = limit
  const limits: AttemptLimit[] = [
    { key: `${what}:address:${address.toLowerCase()}`, max: limit.perAddress, windowSeconds },
    { key: `${what}:ip:${ip}`, max: limit.perIp, windowSeconds },
  ]
  const waitSeconds = await takeAttempt(c.env, limits)
  if (waitSeconds === 0) return null
  c.header('Retry-After', String(waitSeconds))
  const minutes = Math.ceil(waitSeconds / 60)
  return guestPage(
    c,
    { title: 'Too many attempts', status: 429 },
    <article>
      <h1>Too many attempts</h1>
      <p>
        Please wait {minutes} {minutes === 1 ? 'minute' : 'minutes'} and try again.
      </p>
      <a href="/console/sign-in">Back to signing in</a>
    </article>,
  )
}
