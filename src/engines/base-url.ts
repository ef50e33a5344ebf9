// Where a provider's API is: https, or plain http on this machine, for tests and local drives.
import { z } from 'zod'

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])

export const isLoopback = (hostname: string): boolean => LOOPBACK.has(hostname)

/** Normalised to end without a slash, so that `${base}/path` is always right. */
export const BaseUrl = z
  .string()
  .refine((value) => {
    const url = URL.parse(value)
    if (!url || url.username || url.password || url.search || url.hash) return false
    return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname))
  }, 'must be an https URL, or http on a loopback host, without credentials and query')
  .transform((value) => value.replace(/\/+$/, ''))
