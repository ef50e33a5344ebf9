// A small client of Cloudflare's REST API (developers.cloudflare.com/api). Errors say what to do.
import { z } from 'zod'

const DEFAULT_BASE_URL = 'https://api.cloudflare.com/client/v4'
const TIMEOUT_MS = 30_000
const PER_PAGE = 50

/** What the operator must do before the command can continue. The message has no stack trace. */
export class ProvisionError extends Error {}

/** The token lacks a permission. */
export class PermissionError extends ProvisionError {}

const Envelope = z.object({
  success: z.boolean(),
  errors: z.array(z.object({ code: z.number(), message: z.string() })).default([]),
  result: z.unknown(),
  result_info: z.object({ total_pages: z.number().optional() }).nullish(),
})
type Envelope = z.infer<typeof Envelope>

/** https://developers.cloudflare.com/fundamentals/api/troubleshooting/ */
const INVALID_TOKEN = new Set([1000, 1001, 6003, 6111, 9106, 9109])
const NO_PERMISSION = 10000

/** The resource does not exist: a Worker, a bucket. Other resources are found in lists. */
const NOT_FOUND = new Set([10006, 10007])

interface Call {
  method?: 'POST' | 'PUT'
  path: string
  body?: object
  /** What the token needs for this call, as the dashboard names it. */
  permission: string
  headers?: Record<string, string> | undefined
}

export class CloudflareApi {
  readonly #baseUrl: string
  readonly #token: string
  readonly #readOnly: boolean

  constructor(options: { baseUrl?: string | undefined; token: string; readOnly: boolean }) {
    this.#baseUrl = (options.baseUrl || DEFAULT_BASE_URL).replace(/\/+$/, '')
    this.#token = options.token
    this.#readOnly = options.readOnly
  }

  /**
   * The result of a call, or undefined if the resource does not exist.
   * @throws ProvisionError
   */
  async call<Schema extends z.ZodType>(
    call: Call,
    schema: Schema,
  ): Promise<z.infer<Schema> | undefined> {
    const envelope = await this.#send(call)
    return envelope && parse(call, schema, envelope.result)
  }

  /**
   * All items of a list.
   * @throws ProvisionError
   */
  async list<Item extends z.ZodType>(call: Call, item: Item): Promise<z.infer<Item>[]> {
    const items: z.infer<Item>[] = []
    for (let page = 1; ; page++) {
      const separator = call.path.includes('?') ? '&' : '?'
      const path = `${call.path}${separator}page=${page}&per_page=${PER_PAGE}`
      const envelope = await this.#send({ ...call, path })
      const found = parse(call, z.array(item), envelope?.result ?? [])
      items.push(...found)
      // Some lists have no total. A page that is not full is their last one.
      const total = envelope?.result_info?.total_pages
      if (total === undefined ? found.length < PER_PAGE : page >= total) return items
    }
  }

  async #send(call: Call): Promise<Envelope | undefined> {
    const { method = 'GET', path, body } = call
    if (this.#readOnly && method !== 'GET') throw new Error(`A dry run sent ${method} ${path}`)
    const isForm = body instanceof FormData
    let status: number
    let text: string
    try {
      const response = await fetch(this.#baseUrl + path, {
        method,
        headers: {
          Authorization: `Bearer ${this.#token}`,
          ...(body && !isForm && { 'Content-Type': 'application/json' }),
          ...call.headers,
        },
        ...(body && { body: isForm ? body : JSON.stringify(body) }),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      })
      status = response.status
      text = await response.text()
    } catch (error) {
      const reason = error instanceof Error ? (error.cause ?? error) : error
      throw new ProvisionError(
        `Cloudflare's API at ${this.#baseUrl} cannot be reached (${String(reason)}). Check the network, and run the command again.`,
      )
    }
    const envelope = Envelope.safeParse(jsonOf(text))
    if (envelope.success && envelope.data.success) return envelope.data
    const errors = envelope.success ? envelope.data.errors : []
    if (status === 404 && errors.some(({ code }) => NOT_FOUND.has(code))) return undefined
    throw errorOf(call, status, errors)
  }
}

function errorOf(call: Call, status: number, errors: Envelope['errors']): ProvisionError {
  if (errors.some(({ code }) => INVALID_TOKEN.has(code))) {
    return new ProvisionError(
      'Cloudflare does not accept CLOUDFLARE_API_TOKEN. Create a token at https://dash.cloudflare.com/profile/api-tokens.',
    )
  }
  if (status === 403 || errors.some(({ code }) => code === NO_PERMISSION)) {
    return new PermissionError(
      `CLOUDFLARE_API_TOKEN needs the permission "${call.permission}" for the account in CLOUDFLARE_ACCOUNT_ID. Add it at https://dash.cloudflare.com/profile/api-tokens, and run the command again.`,
    )
  }
  const reasons = errors.map(({ code, message }) => `${message} (${code})`)
  return new ProvisionError(
    `Cloudflare's API returned ${status} for ${call.method ?? 'GET'} ${call.path}: ${reasons.join('; ') || 'no reason'}. Run the command again when this is fixed.`,
  )
}

function parse<Schema extends z.ZodType>(
  call: Call,
  schema: Schema,
  value: unknown,
): z.infer<Schema> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  throw new ProvisionError(`Cloudflare's API returned an unknown format for ${call.path}.`)
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
