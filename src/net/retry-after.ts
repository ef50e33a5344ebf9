/**
 * Reads Retry-After in either of its forms (RFC 9110, 10.2.3).
 * @returns whole seconds, or undefined when there is nothing to heed
 */
export function retryAfterSeconds(headers: Headers, now = Date.now()): number | undefined {
  const value = headers.get('retry-after')?.trim()
  if (!value) return undefined
  if (/^\d+$/.test(value)) return Number(value)
  const at = Date.parse(value)
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - now) / 1_000))
}
