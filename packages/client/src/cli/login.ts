// try-on login and try-on logout.
import { Command } from '@commander-js/extra-typings'
import { TryOnClient } from '../index.ts'
import { deleteConfig, readConfig, writeConfig } from './config.ts'
import type { Context } from './context.ts'
import { CliError, EXIT } from './errors.ts'
import { examples } from './help.ts'
import { fields, maskedKey, printable } from './output.ts'
import { readSecrets } from './prompt.ts'
import { baseUrlOf, checkedKey } from './settings.ts'

export const login = (context: Context) =>
  new Command('login')
    .summary('Check an API key and store it with the address of the service.')
    .description(
      `Asks for the key without showing it. Without a terminal, the first line of standard input is the key
and the second line, if there is one, the webhook signing secret. Avoid --key: other users of the
machine can see arguments for a moment, and shells store them in their history.

Without a new webhook signing secret, the stored one of the same service remains.

The file is $XDG_CONFIG_HOME/try-on/config.json, by default ~/.config/try-on/config.json.`,
    )
    .option('--webhook-secret <SECRET>', 'Webhook signing secret to store, for try-on listen.')
    .addHelpText(
      'after',
      examples(
        'try-on login --base-url https://try-on.example',
        'try-on login --base-url https://try-on.example < key.txt',
      ),
    )
    .action(async (options) => {
      const { output, env, signal } = context
      const { key } = context.globalOptions()
      const stored = await readConfig(env)
      const baseUrl = baseUrlOf(context, stored)
      const entered = await readCredentials(baseUrl, key, options.webhookSecret)
      const { apiKey } = entered
      const webhookSecret =
        entered.webhookSecret || (stored.baseUrl === baseUrl ? stored.webhookSecret : undefined)
      const account = await new TryOnClient({ baseUrl, apiKey }).account.get({ signal })
      const path = await writeConfig(env, {
        baseUrl,
        apiKey,
        ...(webhookSecret && { webhookSecret }),
      })
      output.result({ base_url: baseUrl, key: maskedKey(apiKey), config: path, account }, [
        printable(`Logged in to ${account.name} (${account.org_id}).`),
        ...fields([
          ['Service', baseUrl],
          ['Key', maskedKey(apiKey)],
          ['Credits', String(account.credits)],
          ['Stored in', path],
        ]),
      ])
      if (!key && env.TRY_ON_API_KEY && env.TRY_ON_API_KEY !== apiKey) {
        output.warn(
          'TRY_ON_API_KEY is set to another key and takes precedence over the stored one.',
        )
      }
    })

export const logout = ({ output, env }: Context) =>
  new Command('logout')
    .summary('Delete the stored API key, address and webhook signing secret.')
    .description(`The key stays valid. Revoke it in the console.`)
    .addHelpText('after', examples('try-on logout'))
    .action(async () => {
      const wasLoggedIn = await deleteConfig(env)
      output.result({ logged_out: wasLoggedIn }, [
        wasLoggedIn ? 'Logged out.' : 'There was no stored key.',
      ])
    })

/** Asks for what the options do not contain. @throws CliError without a key */
async function readCredentials(baseUrl: string, key?: string, secret?: string) {
  if (key) return { apiKey: checkedKey(key), webhookSecret: secret }
  if (process.stdin.isTTY) {
    process.stderr.write(`API keys: ${baseUrl}/console/settings/api-keys\n`)
  }
  const [apiKey, enteredSecret] = await readSecrets([
    'API key (not shown): ',
    ...(secret ? [] : ['Webhook signing secret (optional, not shown): ']),
  ])
  if (!apiKey) {
    throw new CliError('not_logged_in', 'No API key was entered.', {
      exitCode: EXIT.authentication,
      hints: ['Enter the key at the prompt, or send it to standard input.'],
    })
  }
  return { apiKey: checkedKey(apiKey), webhookSecret: secret || enteredSecret }
}
