// The base URL of a provider's API: https, or plain http on a loopback host for local development.
import { z } from 'zod'

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])

export const isLoopback = (hostname: string): boolean => LOOPBACK.has(hostname)

/** Removes trailing slashes, so that `${base}/path` is correct. */
export const BaseUrl = z
  .string()
  .refine((value) => {
    const url = URL.parse(value)
    if (!url || url.username || url.password || url.search || url.hash) return false
    return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname))
  }, 'must be an https URL, or http on a loopback host, without credentials, query or fragment')
  .transform((value) => value.replace(/\/+$/, ''))
