// Address, key and secret of an invocation: options, then the environment, then the configuration file.
import { TryOnClient } from '../index.ts'
import type { Context } from './context.ts'
import { readConfig, type Config, type LoadedConfig } from './config.ts'
import { CliError, EXIT, UsageError } from './errors.ts'
import type { Output } from './output.ts'

const LOOPBACK = /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/

export interface Session {
  client: TryOnClient
  /** Without a trailing slash. */
  baseUrl: string
  apiKey: string
}

/** The client of the configured key. @throws CliError without an address or a key */
export async function connect(context: Context): Promise<Session> {
  const settings = await credentials(context)
  return { client: new TryOnClient(settings), ...settings }
}

async function credentials(context: Context): Promise<{ baseUrl: string; apiKey: string }> {
  const config = await loadConfig(context)
  const baseUrl = baseUrlOf(context, config)
  const apiKey = context.globalOptions().key || context.env.TRY_ON_API_KEY
  if (apiKey) return { baseUrl, apiKey: checkedKey(apiKey) }
  if (!config.apiKey) {
    throw new CliError('not_logged_in', 'No API key.', {
      exitCode: EXIT.authentication,
      hints: [
        ...(config.problem ? [config.problem] : []),
        'Run try-on login, or set TRY_ON_API_KEY.',
        `Keys: ${baseUrl}/console/settings/api-keys`,
      ],
    })
  }
  // A stored key is sent only to the service for which it was stored.
  if (config.baseUrl !== baseUrl) {
    throw new CliError('not_logged_in', `The stored API key belongs to ${config.baseUrl}.`, {
      exitCode: EXIT.authentication,
      hints: [`For ${baseUrl}, set TRY_ON_API_KEY or run: try-on login --base-url ${baseUrl}`],
    })
  }
  return { baseUrl, apiKey: config.apiKey }
}

/** The webhook signing secret from the environment or the configuration file, if there is one. */
export const configuredSecret = async (context: Context): Promise<string | undefined> =>
  context.env.TRY_ON_WEBHOOK_SECRET || (await loadConfig(context)).webhookSecret

/** The address of the service. @throws UsageError unless it is set and an HTTP address */
export const baseUrlOf = ({ globalOptions, env, output }: Context, config: Config): string =>
  checkedBaseUrl(globalOptions().baseUrl || env.TRY_ON_BASE_URL || config.baseUrl, output)

/** Without a trailing slash and /v1, as in the client. @throws UsageError unless it is an HTTP address */
export function checkedBaseUrl(text: string | undefined, output: Output): string {
  if (!text) {
    throw new UsageError(
      'The address of the service is not set.',
      'Run try-on login, set TRY_ON_BASE_URL or use --base-url.',
    )
  }
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.search || url.hash) {
    throw new UsageError(
      `"${text}" is not the address of a service, for example https://try-on.example`,
    )
  }
  if (url.protocol === 'http:' && !LOOPBACK.test(url.hostname)) {
    output.warn(`${url.origin} is not encrypted. The API key can be read on the network.`)
  }
  return url.href.replace(/\/+$/, '').replace(/\/v1$/, '')
}

async function loadConfig({ env, output }: Context): Promise<LoadedConfig> {
  const config = await readConfig(env)
  if (config.problem) output.warn(config.problem)
  return config
}

/** Without surrounding space. @throws CliError for characters that a header cannot contain */
export function checkedKey(text: string): string {
  const key = text.trim()
  if (/^[!-~]+$/.test(key)) return key
  throw new CliError('invalid_api_key', 'The API key contains characters that no key has.', {
    exitCode: EXIT.authentication,
    hints: ['Copy the key again. It starts with svc_test_sk_ or svc_live_sk_.'],
  })
}

/** The mode that the prefix of a key selects. */
export const isTestKey = (key: string): boolean => /^[a-z]+_test_sk_/.test(key)
