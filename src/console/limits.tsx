// How often the pages that could be abused may be used, and what they answer past that.
import ipaddr from 'ipaddr.js'
import { takeAttempt } from '../accounts/attempts.ts'
import type { AttemptLimit } from '../accounts/attempts.ts'
import type { ConsoleContext } from './context.ts'
import { guestPage, memberPage } from './layout.tsx'
import { cameFrom } from './next.ts'

/** Passwords that may be tried: each costs 60 ms of CPU, and each guess might be right. */
export const mayTryPassword = (c: ConsoleContext, address: string) =>
  limited(c, 'sign-in', address, { perAddress: 10, perIp: 50, windowSeconds: 15 * 60 })

/** Mail that may be caused. */
export const mayMail = (c: ConsoleContext, address: string) =>
  limited(c, 'mail', address, { perAddress: 5, perIp: 60, windowSeconds: 60 * 60 })

/** @returns the answer to give instead, or null when it may go on */
async function limited(
  c: ConsoleContext,
  what: string,
  address: string,
  limit: { perAddress: number; perIp: number; windowSeconds: number },
) {
  const network = networkOf(c.req.header('CF-Connecting-IP') ?? '')
  const { windowSeconds } = limit
  const limits: AttemptLimit[] = [
    { key: `${what}:address:${address.toLowerCase()}`, max: limit.perAddress, windowSeconds },
    { key: `${what}:ip:${network}`, max: limit.perIp, windowSeconds },
  ]
  const waitSeconds = await takeAttempt(c.env, limits)
  if (waitSeconds === 0) return null
  c.header('Retry-After', String(waitSeconds))
  const minutes = Math.ceil(waitSeconds / 60)
  const signedIn = c.get('membership') !== undefined
  const page = signedIn ? memberPage : guestPage
  return page(
    c,
    { title: 'Too many attempts', status: 429 },
    <article>
      <h1>Too many attempts</h1>
      <p>
        Please wait {minutes} {minutes === 1 ? 'minute' : 'minutes'} and try again.
      </p>
      {signedIn ? (
        <a href={cameFrom(c) ?? '/console'}>Back</a>
      ) : (
        <a href="/console/sign-in">Back to signing in</a>
      )}
    </article>,
  )
}

/** Whoever has an IPv6 address has 2^64 of them: only the network counts. */
function networkOf(ip: string): string {
  if (!ipaddr.isValid(ip)) return 'unknown'
  const address = ipaddr.process(ip) // an IPv4 address in IPv6 clothing is IPv4
  if (address instanceof ipaddr.IPv4) return address.toString()
  return address.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')
}
