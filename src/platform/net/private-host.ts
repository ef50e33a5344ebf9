// Decides which hosts are private, by their names and addresses.
import ipaddr from 'ipaddr.js'

/** Local names (RFC 6761, RFC 6762, RFC 8375) and names of private networks by convention. */
const PRIVATE_NAMES = ['localhost', 'local', 'internal', 'intranet', 'lan', 'home.arpa', 'corp']

/**
 * Whether a host is loopback, link-local, or a private address or name. Names are not resolved.
 * @param host as `URL` writes it: lower case, IPv4 in dotted decimals, IPv6 in brackets
 */
export function isPrivateHost(host: string): boolean {
  // ipaddr.js is slow for names, so only addresses are passed to it.
  if (host.startsWith('[') || /^[\d.]+$/.test(host)) {
    const address = host.replace(/^\[|\]$/g, '')
    return !ipaddr.isValid(address) || !isPublicAddress(ipaddr.parse(address))
  }
  // A name without a dot is resolved in the local domain.
  return (
    !host.includes('.') || PRIVATE_NAMES.some((name) => host === name || host.endsWith(`.${name}`))
  )
}

function isPublicAddress(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  if (address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress()) {
    return isPublicAddress(address.toIPv4Address())
  }
  // Only 2000::/3 is allocated for global unicast (RFC 4291, 2.4). This
  // excludes IPv4-compatible addresses, which ipaddr.js classifies as unicast.
  if (address instanceof ipaddr.IPv6 && ((address.parts[0] ?? 0) & 0xe000) !== 0x2000) return false
  // Tunnels to IPv4 (NAT64, 6to4, Teredo) have other range names, so they are rejected.
  return address.range() === 'unicast'
}
