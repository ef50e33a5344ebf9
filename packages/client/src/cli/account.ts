// try-on account, try-on usage and try-on workspaces.
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

export const usage = (context: Context) =>
  new Command('usage')
    .summary('Show the jobs and credits of each day, in the mode of the key.')
    .description('Days without jobs are not printed. With --json, they are.')
    .option('--by-key', 'Divide the days by API key.')
    .option('--from <DATE>', 'First day (UTC), one of the latest 90. Default: 29 days before --to.')
    .option('--to <DATE>', 'Last day (UTC). Default: today.')
    .addHelpText('after', examples('try-on usage --from 2026-11-01', 'try-on usage --by-key'))
    .action(async ({ byKey, ...range }) => {
      const { client } = await connect(context)
      const groupBy = byKey ? 'api_key' : undefined
      const found = await client.usage.get({ ...range, groupBy }, { signal: context.signal })
      const row = (key: string, name: string, day: typeof found.total) => [
        key,
        name,
        ...[day.completed, day.failed, day.other, day.credits_consumed].map(String),
      ]
      const rowsOf = (key: string, days: typeof found.days) =>
        days
          .filter((day) => day.completed + day.failed + day.other > 0)
          .map((day) => row(key, day.date, day))
      const rows =
        found.api_keys?.flatMap(({ api_key_id: id, name, days }) =>
          rowsOf(name ? `${name} (${id})` : (id ?? 'unknown'), days),
        ) ?? rowsOf('', found.days)
      // Without keys, their column is not printed.
      const titles = ['KEY', 'DAY', 'COMPLETED', 'FAILED', 'OTHER', 'CREDITS']
      context.output.result(found, table(titles, [...rows, row('', 'Total', found.total)]))
      if (!found.is_complete) context.output.note('The counts of the latest days are not complete.')
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
