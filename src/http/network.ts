import ipaddr from 'ipaddr.js'
import type { RequestContext } from './request-context.ts'

/**
 * The network of a request, for which limits count: an IPv4 address, or the /64 of an IPv6 address, of which
 * a single customer can use all addresses.
 * @returns undefined without an address. Cloudflare always sets it.
 */
export function networkOf(c: Pick<RequestContext, 'req'>): string | undefined {
  const ip = c.req.header('CF-Connecting-IP') ?? ''
  if (!ipaddr.isValid(ip)) return undefined
  const address = ipaddr.process(ip) // converts IPv4-mapped addresses to IPv4
  if (address instanceof ipaddr.IPv4) return address.toString()
  return address.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')
}
