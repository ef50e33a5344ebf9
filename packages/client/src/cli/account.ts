// try-on account and try-on workspaces.
import { Command } from '@commander-js/extra-typings'
import type { Context } from './context.ts'
import { examples } from './help.ts'
import { fields, maskedKey, table } from './output.ts'
import { connect } from './settings.ts'

export const account = (context: Context) =>
  new Command('account')
    .description('Show the organisation of the API key and its credits.')
    .addHelpText('after', examples('try-on account', 'try-on account --json'))
    .action(async () => {
      const { client, apiKey, baseUrl } = await connect(context)
      const found = await client.account.get({ signal: context.signal })
      context.output.result(
        found,
        fields([
          ['Organisation', `${found.name} (${found.org_id})`],
          ['Plan', found.plan],
          ['Region', `${found.region_code}, ${found.currency_code}`],
          ['Credits', String(found.credits)],
          ['Auto-reload', found.auto_reload_enabled ? 'on' : 'off'],
          ['Key', maskedKey(apiKey)],
          ['Service', baseUrl],
        ]),
      )
    })

export const workspaces = (context: Context) =>
  new Command('workspaces')
    .description('List the active workspaces.')
    .addHelpText('after', examples('try-on workspaces'))
    .action(async () => {
      const { client } = await connect(context)
      const found = await client.workspaces.list({ signal: context.signal })
      context.output.result(
        { workspaces: found },
        table(
          ['ID', 'NAME', 'CREATED'],
          found.map(({ id, name, created_at: createdAt }) => [id, name, createdAt]),
        ),
      )
    })
