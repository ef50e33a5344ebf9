// The address of a running service, as an argument of a script.
import { isPublicUrl } from '../src/platform/public-deployment.ts'

/** The arguments are wrong. The message has no stack trace. */
export class ArgumentsError extends Error {
  override name = 'ArgumentsError'

  /** Turns the errors of `parseArgs` into ArgumentsErrors. */
  static during<T>(parse: () => T): T {
    try {
      return parse()
    } catch (error) {
      throw new ArgumentsError(error instanceof Error ? error.message : String(error))
    }
  }
}

/** Whether a URL is on this computer. */
export const isLoopback = (url: string): boolean =>
  /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(url).hostname)

/**
 * The origin of a service. Keys are sent to it, so a public one must use https.
 * @throws ArgumentsError
 */
export function serviceUrl(text: string | undefined): string {
  const url = text === undefined ? null : URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol))
    throw new ArgumentsError('Pass --url with an http or https URL.')
  if (url.protocol === 'http:' && isPublicUrl(url.href)) {
    throw new ArgumentsError('--url must start with https://, because keys are sent to it.')
  }
  return url.origin
}
