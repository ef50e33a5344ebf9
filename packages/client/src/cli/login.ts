// try-on login and try-on logout.
import { TryOnClient } from '../index.ts'
import type { Account } from '../index.ts'
import type { Command, Context } from './command.ts'
import { deleteConfig, readConfig, writeConfig } from './config.ts'
import { CliError, EXIT } from './errors.ts'
import { fields, maskedKey, printable } from './output.ts'
import { readSecrets } from './prompt.ts'
import { checkedBaseUrl, checkedKey, given } from './settings.ts'

export const login: Command = {
  name: 'login',
  summary: 'Check an API key and store it with the address of the service.',
  details: `
Asks for the key without showing it. Without a terminal, the first line of standard input is the key
and the second line, if there is one, the webhook signing secret. Avoid --key: other users of the
machine can see arguments for a moment, and shells store them in their history.

Without a new webhook signing secret, the stored one of the same service remains.

The file is $XDG_CONFIG_HOME/try-on/config.json, by default ~/.config/try-on/config.json.`,
  options: [
    {
      name: 'webhook-secret',
      value: 'SECRET',
      summary: 'Webhook signing secret to store, for try-on listen.',
    },
  ],
  examples: [
    'try-on login --base-url https://try-on.example',
    'try-on login --base-url https://try-on.example < key.txt',
  ],
  async run(context) {
    const { options, output, env, signal } = context
    const stored = await readConfig(env)
    const baseUrl = checkedBaseUrl(
      given(context, 'base-url', 'TRY_ON_BASE_URL') ?? stored.baseUrl,
      context,
    )
    const { apiKey, webhookSecret: newSecret } = await readCredentials(context, baseUrl)
    const webhookSecret =
      newSecret || (stored.baseUrl === baseUrl ? stored.webhookSecret : undefined)
    const account = await new TryOnClient({ baseUrl, apiKey }).account.get({ signal })
    const path = await writeConfig(env, {
      baseUrl,
      apiKey,
      ...(webhookSecret && { webhookSecret }),
    })
    output.result({ base_url: baseUrl, key: maskedKey(apiKey), config: path, account }, [
      printable(`Logged in to ${account.name} (${account.org_id}).`),
      ...summary(baseUrl, apiKey, path, account),
    ])
    if (!options.text('key') && env.TRY_ON_API_KEY && env.TRY_ON_API_KEY !== apiKey) {
      output.warn('TRY_ON_API_KEY is set to another key and takes precedence over the stored one.')
    }
  },
}

export const logout: Command = {
  name: 'logout',
  summary: 'Delete the stored API key, address and webhook signing secret.',
  details: 'The key stays valid. Revoke it in the console.',
  examples: ['try-on logout'],
  async run({ output, env }) {
    const wasLoggedIn = await deleteConfig(env)
    output.result({ logged_out: wasLoggedIn }, [
      wasLoggedIn ? 'Logged out.' : 'There was no stored key.',
    ])
  },
}

async function readCredentials({ options }: Context, baseUrl: string) {
  const secretOption = options.text('webhook-secret')
  const keyOption = options.text('key')
  if (keyOption) return { apiKey: checkedKey(keyOption), webhookSecret: secretOption }
  if (process.stdin.isTTY) {
    process.stderr.write(`API keys: ${baseUrl}/console/settings/api-keys\n`)
  }
  const [apiKey, secret] = await readSecrets([
    'API key (not shown): ',
    ...(secretOption ? [] : ['Webhook signing secret (optional, not shown): ']),
  ])
  if (!apiKey) {
    throw new CliError('not_logged_in', 'No API key was entered.', {
      exitCode: EXIT.authentication,
      hints: ['Enter the key at the prompt, or send it to standard input.'],
    })
  }
  return { apiKey: checkedKey(apiKey), webhookSecret: secretOption || secret }
}

const summary = (baseUrl: string, apiKey: string, path: string, account: Account): string[] =>
  fields([
    ['Service', baseUrl],
    ['Key', maskedKey(apiKey)],
    ['Credits', String(account.credits)],
    ['Stored in', path],
  ])
