// The client: its settings and its resources.
import { AccountReader, UsageReader, Workspaces } from './account.ts'
import { Jobs } from './jobs.ts'
import { Requester } from './request.ts'
import type { Connection, Fetch } from './request.ts'
import { TryOn } from './try-on.ts'
import { Uploads } from './uploads.ts'
import { VERSION } from './version.ts'
import { WebhookDeliveries } from './webhook-deliveries.ts'
import { WebhookEndpoints } from './webhook-endpoints.ts'

const DEFAULT_MAX_RETRIES = 2
const DEFAULT_TIMEOUT_MS = 60_000

/** The settings of a `TryOnClient`. */
export interface ClientOptions {
  /** The API key. Default: the environment variable `TRY_ON_API_KEY`. */
  apiKey?: string | undefined
  /** The address of the service, without `/v1`. Default: the environment variable `TRY_ON_BASE_URL`. */
  baseUrl?: string | undefined
  /** The implementation of `fetch`. Default: the global one. */
  fetch?: Fetch | undefined
  /** How often a request is repeated after a network error, 408, 429 or 5xx. Default: 2. */
  maxRetries?: number | undefined
  /**
   * The time limit of each attempt in milliseconds. Default: 60,000. Time for which the service waits at
   * the client's request is added.
   */
  timeoutMs?: number | undefined
  /**
   * Allows a live key in a browser. Every visitor of the page can read such a key and use your credits.
   * Default: false.
   */
  dangerouslyAllowBrowser?: boolean | undefined
}

/**
 * A client of the Virtual Try-On API.
 *
 * @example
 * const client = new TryOnClient({ apiKey: 'svc_test_sk_…', baseUrl: 'https://try-on.example' })
 * const job = await client.tryOn.run({ model_image_url, garment_image_url })
 * console.log(job.output_url)
 */
export class TryOnClient {
  /** Submits jobs. */
  readonly tryOn: TryOn
  /** Reads and changes jobs. */
  readonly jobs: Jobs
  /** Uploads pictures. */
  readonly uploads: Uploads
  /** Lists workspaces. */
  readonly workspaces: Workspaces
  /** Reads the account. */
  readonly account: AccountReader
  /** Reads the jobs and credits of each day. */
  readonly usage: UsageReader
  /** Manages webhook endpoints. */
  readonly webhookEndpoints: WebhookEndpoints
  /** Reads and resends webhook deliveries. */
  readonly webhookDeliveries: WebhookDeliveries

  /**
   * Creates a client. Sends no request.
   * @throws TypeError without an API key or base URL, and for a live key in a browser
   */
  constructor(options: ClientOptions = {}) {
    const requester = new Requester(connectionOf(options))
    this.jobs = new Jobs(requester)
    this.tryOn = new TryOn(requester, this.jobs)
    this.uploads = new Uploads(requester)
    this.workspaces = new Workspaces(requester)
    this.account = new AccountReader(requester)
    this.usage = new UsageReader(requester)
    this.webhookEndpoints = new WebhookEndpoints(requester)
    this.webhookDeliveries = new WebhookDeliveries(requester)
  }
}

function connectionOf(options: ClientOptions): Connection {
  const apiKey = (options.apiKey ?? environmentVariable('TRY_ON_API_KEY'))?.trim()
  const baseUrl = options.baseUrl ?? environmentVariable('TRY_ON_BASE_URL')
  if (!apiKey) throw new TypeError('Pass apiKey, or set TRY_ON_API_KEY.')
  // The error of `Headers` for such a key would contain the key.
  if (!/^[\x21-\x7e]+$/.test(apiKey)) throw new TypeError('apiKey has characters that no key has.')
  if (!baseUrl) throw new TypeError('Pass baseUrl, or set TRY_ON_BASE_URL.')
  if (isBrowser() && apiKey.includes('_live_') && !options.dangerouslyAllowBrowser) {
    throw new TypeError(
      'A live API key must not be used in a browser, where every visitor can read it. Send requests from your server, or use a test key. To allow it despite the risk, pass dangerouslyAllowBrowser: true.',
    )
  }
  return {
    apiKey,
    baseUrl: parseBaseUrl(baseUrl),
    // Not bound at creation, so that a global fetch that is replaced later is used.
    fetch: options.fetch ?? ((url, init) => fetch(url, init)),
    maxRetries: options.maxRetries ?? DEFAULT_MAX_RETRIES,
    timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    // In a browser, the header would fail the preflight request.
    userAgent: isBrowser() ? undefined : `try-on-client/${VERSION}`,
  }
}

/** Removes a trailing slash and `/v1`. */
function parseBaseUrl(text: string): string {
  if (!/^https?:\/\/[^?#]+$/.test(text) || !URL.canParse(text)) {
    throw new TypeError(`baseUrl must be an address such as https://try-on.example, not ${text}`)
  }
  return text.replace(/\/+$/, '').replace(/\/v1$/, '')
}

/** True in pages and in workers of browsers. Node, Workers, Deno and Bun have other values. */
const isBrowser = (): boolean =>
  typeof navigator !== 'undefined' && Boolean(navigator.userAgent?.startsWith('Mozilla/'))

function environmentVariable(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } }
  return process?.env?.[name]
}
