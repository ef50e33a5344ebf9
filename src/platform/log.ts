// Writes one JSON line per event. Secrets, tokens and signed links are redacted here, for all callers.
import { AsyncLocalStorage } from 'node:async_hooks'

export type Fields = Record<string, string | number | boolean | null | undefined>

const context = new AsyncLocalStorage<Fields>()

/** Adds fields, such as the request's id, to every line that `work` logs. */
export const withLogFields = <T>(fields: Fields, work: () => T): T =>
  context.run({ ...fields }, work)

/**
 * Adds fields to all further lines of the innermost `withLogFields`. The line of a request, a message or
 * a task is its last one, so it has all of them. Does nothing outside of `withLogFields`.
 */
export function addLogFields(fields: Fields): void {
  const current = context.getStore()
  if (current) Object.assign(current, fields)
}

/** The fields that the next line has in addition to its own. */
export const logFields = (): Readonly<Fields> => context.getStore() ?? {}

/** `event` is a fixed phrase that can be searched for; `fields` are ids, reasons and milliseconds. */
export const log = {
  info: (event: string, fields: Fields = {}) => console.log(line('info', event, fields)),
  warn: (event: string, fields: Fields = {}) => console.warn(line('warn', event, fields)),
  error: (event: string, error: unknown, fields: Fields = {}) =>
    console.error(line('error', event, { ...fields, ...describe(error) })),
}

/** A handler of rejections that logs the error and goes on. */
export const logError = (event: string, fields?: Fields) => (error: unknown) =>
  log.error(event, error, fields)

function line(level: string, event: string, fields: Fields): string {
  return redact(JSON.stringify({ level, event, ...context.getStore(), ...fields }))
}

/** The fields of a thrown value. */
function describe(error: unknown): Fields {
  if (error === undefined) return {}
  if (!(error instanceof Error)) return { error: String(error) }
  // drizzle's message contains the bound values: URLs, hashes, secrets. Its cause does not.
  if ('params' in error) return describe(error.cause)
  const cause = error.cause instanceof Error ? error.cause.message : undefined
  return { error: `${error.name}: ${error.message}`, cause, stack: error.stack }
}

/**
 * Each pattern with a text that every match contains. Searching for the text is much faster than
 * matching the pattern, and most lines contain none of them.
 */
const SECRETS: [contained: string, pattern: RegExp, replacement: string][] = [
  ['svc_', /svc_(live|test)_sk_\w+/g, 'svc_$1_sk_[REDACTED]'],
  ['whsec_', /whsec_[\w+/=-]+/g, 'whsec_[REDACTED]'],
  // Stripe's secret and restricted keys, and the client secrets of its objects.
  ['k_', /\b([sr]k_(?:live|test))_[\w*]+/g, '$1_[REDACTED]'],
  ['_secret_', /_secret_\w+/g, '_secret_[REDACTED]'],
  // Stripe's payment, invoice and portal pages, whose path is a secret.
  [
    '.stripe.com/',
    /(https:\/\/(?:checkout|invoice|pay|billing)\.stripe\.com)\/[^\s"\\]*/g,
    '$1/[REDACTED]',
  ],
  // The path of a webhook of Slack is a secret.
  ['hooks.slack.com/', /(https:\/\/hooks\.slack\.com)\/[^\s"\\]*/g, '$1/[REDACTED]'],
  ['Bearer ', /Bearer [^\s"\\]+/g, 'Bearer [REDACTED]'],
  ['?', /(https?:\/\/[^\s"?\\]*)\?[^\s"\\]*/g, '$1?[REDACTED]'],
  // Tokens of links in mail: in the path of invitations, in the query of all others.
  ['/console/invitations/', /(\/console\/invitations\/)[\w-]+/g, '$1[REDACTED]'],
  ['token=', /([?&]token=)[^\s"&\\]+/g, '$1[REDACTED]'],
  ['eyJ', /\beyJ[\w-]+\.[\w-]+\.[\w-]+/g, '[REDACTED]'],
]

/** Replaces API keys, tokens, secrets and the queries of URLs in a text. */
export const redact = (text: string): string =>
  SECRETS.reduce(
    (line, [contained, pattern, replacement]) =>
      line.includes(contained) ? line.replace(pattern, replacement) : line,
    text,
  )
