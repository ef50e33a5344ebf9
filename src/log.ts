// One JSON line per event. What could let a reader act as a customer or see a customer's picture is
// taken out here, once, whoever logs.
import { AsyncLocalStorage } from 'node:async_hooks'

type Fields = Record<string, string | number | boolean | null | undefined>

const context = new AsyncLocalStorage<Fields>()

/** Adds fields, such as the request's id, to every line that `work` causes. */
export const withLogFields = <T>(fields: Fields, work: () => T): T => context.run(fields, work)

/** Writes one line; `event` is a fixed phrase to search for, the rest are ids, reasons and ms. */
export const log = {
  info: (event: string, fields: Fields = {}) => console.log(line('info', event, fields)),
  warn: (event: string, fields: Fields = {}) => console.warn(line('warn', event, fields)),
  error: (event: string, error: unknown, fields: Fields = {}) =>
    console.error(line('error', event, { ...fields, ...describe(error) })),
}

function line(level: string, event: string, fields: Fields): string {
  return redact(JSON.stringify({ level, event, ...context.getStore(), ...fields }))
}

/** What a log may say of anything thrown. */
function describe(error: unknown): Fields {
  if (!(error instanceof Error)) return { error: String(error) }
  // drizzle puts the bound values into its message: URLs, hashes, secrets. Its cause has none.
  if ('params' in error) return describe(error.cause)
  const cause = error.cause instanceof Error ? error.cause.message : undefined
  return { error: `${error.name}: ${error.message}`, cause, stack: error.stack }
}

const SECRETS: [RegExp, string][] = [
  [/svc_(live|test)_sk_\w+/g, 'svc_$1_sk_[REDACTED]'],
  [/whsec_[\w+/=-]+/g, 'whsec_[REDACTED]'],
  [/Bearer [^\s"\\]+/g, 'Bearer [REDACTED]'],
  [/(https?:\/\/[^\s"?\\]*)\?[^\s"\\]*/g, '$1?[REDACTED]'],
  // Tokens of mailed links: invitations have theirs in the path, the others in the query.
  [/(\/console\/invitations\/)[\w-]+/g, '$1[REDACTED]'],
  [/([?&]token=)[^\s"&\\]+/g, '$1[REDACTED]'],
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]+/g, '[REDACTED]'],
]

const redact = (text: string) =>
  SECRETS.reduce((rest, [pattern, replacement]) => rest.replace(pattern, replacement), text)
