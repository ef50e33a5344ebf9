// try-on webhooks: manages endpoints, and reads and resends deliveries.
import { Command, Option } from '@commander-js/extra-typings'
import type {
  DeliveryStatus,
  Mode,
  WebhookDelivery,
  WebhookEndpoint,
  WebhookEventType,
} from '../index.ts'
import type { Context } from './context.ts'
import { UsageError } from './errors.ts'
import { examples } from './help.ts'
import { integer } from './options.ts'
import { fields, table } from './output.ts'
import { connect } from './settings.ts'

const EVENTS: readonly WebhookEventType[] = [
  'job.completed',
  'job.failed',
  'job.refunded',
  'job.cancelled',
]
const STATUSES: readonly DeliveryStatus[] = ['pending', 'retrying', 'delivered', 'failed']
const MAX_PAGE_SIZE = 100
const ENDPOINT = 'we_01h455vb4pex5vsknk084sn02q'
const EVENT = 'evt_01h455vb4pex5vsknk084sn02q'
const ENDPOINT_ID = ['<endpoint-id>', 'Id of the endpoint, for example we_01h….'] as const
const EVENT_ID = ['<event-id>', 'Id of the event, for example evt_01h….'] as const

export const webhooks = (context: Context) =>
  new Command('webhooks')
    .description('Manage webhook endpoints, and read and resend deliveries.')
    .helpCommand(false)
    .addCommand(list(context))
    .addCommand(create(context))
    .addCommand(update(context))
    .addCommand(remove(context))
    .addCommand(rotateSecret(context))
    .addCommand(test(context))
    .addCommand(deliveries(context))
    .addCommand(delivery(context))
    .addCommand(resend(context))

const list = (context: Context) =>
  new Command('list')
    .summary('List webhook endpoints.')
    .description('With --json, prints {"webhook_endpoints": [...]}.')
    .addHelpText('after', examples('try-on webhooks list'))
    .action(async () => {
      const { client } = await connect(context)
      const found = await client.webhookEndpoints.list({ signal: context.signal })
      const rows = found.map((each) => [each.id, each.status, modeOf(each), each.name, each.url])
      const titles = ['ENDPOINT', 'STATUS', 'MODE', 'NAME', 'URL']
      const lines = found.length > 0 ? table(titles, rows) : ['No webhook endpoints.']
      context.output.result({ webhook_endpoints: found }, lines)
    })

const eventsOption = () =>
  new Option('--events <TYPES>', 'Types of events, separated by commas.').argParser(eventsOf)
const modeOption = () =>
  new Option('--mode <MODE>', 'Mode of the jobs.').choices(['live', 'test', 'both'] as const)

const create = (context: Context) =>
  new Command('create')
    .summary('Create a webhook endpoint and print its secret once.')
    .description('By default it receives all events of the mode of the key.')
    .argument('<url>', 'URL that receives the events.')
    .addOption(eventsOption())
    .addOption(modeOption())
    .option('--name <NAME>', 'Name in the console. Default: the host of the URL.')
    .addHelpText(
      'after',
      examples(
        'try-on webhooks create https://shop.example/hook --events job.completed,job.failed',
      ),
    )
    .action(async (url, { events, mode, name }) => {
      const { client } = await connect(context)
      const created = await client.webhookEndpoints.create(
        { url, ...settingsOf({ events, mode }), ...(name !== undefined && { name }) },
        { signal: context.signal },
      )
      const lines = [...endpointFields(created), ...fields([['Secret', created.secret]])]
      context.output.result(created, lines)
      context.output.note('Store the secret: it is not shown again.')
    })

const update = (context: Context) =>
  new Command('update')
    .description('Change, enable or disable a webhook endpoint.')
    .argument(...ENDPOINT_ID)
    .option('--url <URL>', 'URL that receives the events.')
    .addOption(eventsOption())
    .addOption(modeOption())
    .option('--name <NAME>', 'Name in the console.')
    .addOption(
      new Option('--status <STATUS>', 'Whether it receives events.').choices([
        'enabled',
        'disabled',
      ] as const),
    )
    .addHelpText('after', examples(`try-on webhooks update ${ENDPOINT} --status disabled`))
    .action(async (id, { url, events, mode, name, status }) => {
      const given = Object.entries({ url, name, status }).filter(([, value]) => value !== undefined)
      const change = { ...Object.fromEntries(given), ...settingsOf({ events, mode }) }
      if (Object.keys(change).length === 0)
        throw new UsageError('Nothing to change. Set an option.')
      const { client } = await connect(context)
      const changed = await client.webhookEndpoints.update(id, change, { signal: context.signal })
      context.output.result(changed, endpointFields(changed))
    })

const remove = (context: Context) =>
  new Command('delete')
    .description('Delete a webhook endpoint. Its undelivered events fail.')
    .argument(...ENDPOINT_ID)
    .addHelpText('after', examples(`try-on webhooks delete ${ENDPOINT}`))
    .action(async (id) => {
      const { client } = await connect(context)
      await client.webhookEndpoints.delete(id, { signal: context.signal })
      context.output.result({ id, deleted: true }, [`Deleted ${id}.`])
    })

const rotateSecret = (context: Context) =>
  new Command('rotate-secret')
    .description('Create a new secret. The previous one also signs for 24 hours.')
    .argument(...ENDPOINT_ID)
    .addHelpText('after', examples(`try-on webhooks rotate-secret ${ENDPOINT}`))
    .action(async (id) => {
      const { client } = await connect(context)
      const secret = await client.webhookEndpoints.rotateSecret(id, { signal: context.signal })
      context.output.result({ secret }, [secret])
    })

const test = (context: Context) =>
  new Command('test')
    .description('Send the event of a free test job to a webhook endpoint.')
    .argument(...ENDPOINT_ID)
    .addOption(
      new Option('--event <TYPE>', 'Type of the event.').choices(EVENTS).default(EVENTS[0]),
    )
    .addHelpText('after', examples(`try-on webhooks test ${ENDPOINT} --event job.failed`))
    .action(async (id, { event }) => {
      const { client } = await connect(context)
      const { signal } = context
      const sent = await client.webhookEndpoints.sendTestEvent(id, event, { signal })
      context.output.result(sent, [`Sending ${sent.type} of ${sent.job_id}.`])
    })

const deliveries = (context: Context) =>
  new Command('deliveries')
    .summary('List deliveries, newest first.')
    .description('With --json, prints {"webhook_deliveries": [...]}.')
    .addOption(new Option('--status <STATUS>', 'Only with this status.').choices(STATUSES))
    .option('--job <ID>', 'Only of this job.')
    .option('--endpoint <ID>', 'Only to this endpoint; default: the default URL and URLs of jobs.')
    .option('--limit <N>', 'Number of deliveries. Default: 20.', integer('--limit', 1, 1_000_000))
    .addHelpText('after', examples('try-on webhooks deliveries --status failed'))
    .action(async ({ status, job, endpoint, limit = 20 }) => {
      const { client } = await connect(context)
      const query = {
        ...(status && { status }),
        ...(job !== undefined && { job_id: job }),
        ...(endpoint !== undefined && { endpoint_id: endpoint }),
        limit: Math.min(limit, MAX_PAGE_SIZE),
      }
      const found: WebhookDelivery[] = []
      for await (const each of client.webhookDeliveries.list(query, { signal: context.signal })) {
        found.push(each)
        if (found.length === limit) break
      }
      const rows = found.map((each) => [
        each.event_id,
        each.type,
        each.status,
        String(each.attempt_count),
        String(each.response_status ?? each.error ?? ''),
        each.created_at,
      ])
      const titles = ['EVENT', 'TYPE', 'STATUS', 'ATTEMPTS', 'RESPONSE', 'CREATED']
      const lines = found.length > 0 ? table(titles, rows) : ['No deliveries.']
      context.output.result({ webhook_deliveries: found }, lines)
    })

const delivery = (context: Context) =>
  new Command('delivery')
    .description('Show a delivery with its attempts.')
    .argument(...EVENT_ID)
    .addHelpText('after', examples(`try-on webhooks delivery ${EVENT}`))
    .action(async (id) => {
      const { client } = await connect(context)
      const found = await client.webhookDeliveries.get(id, { signal: context.signal })
      const rows = found.attempts.map((attempt) => [
        String(attempt.number),
        attempt.attempted_at,
        `${attempt.duration_ms} ms`,
        String(attempt.response_status ?? attempt.error ?? ''),
      ])
      const attempts = rows.length > 0 ? table(['ATTEMPT', 'TIME', 'TOOK', 'RESPONSE'], rows) : []
      context.output.result(found, [...deliveryFields(found), ...attempts])
    })

const resend = (context: Context) =>
  new Command('resend')
    .description('Deliver an event again now.')
    .argument(...EVENT_ID)
    .addHelpText('after', examples(`try-on webhooks resend ${EVENT}`))
    .action(async (id) => {
      const { client } = await connect(context)
      const resent = await client.webhookDeliveries.resend(id, { signal: context.signal })
      context.output.result(resent, deliveryFields(resent))
    })

/** @throws UsageError for an unknown type */
function eventsOf(text: string): WebhookEventType[] {
  const types = text.split(',')
  const known = EVENTS.filter((type) => types.includes(type))
  if (known.length === types.length) return known
  throw new UsageError(`--events must be some of ${EVENTS.join(',')}.`)
}

const settingsOf = ({
  events,
  mode,
}: {
  events: WebhookEventType[] | undefined
  mode: Mode | 'both' | undefined
}) => ({ ...(events && { events }), ...(mode && { mode: mode === 'both' ? null : mode }) })

const modeOf = ({ mode }: WebhookEndpoint): string => mode ?? 'both'

const endpointFields = (endpoint: WebhookEndpoint): string[] =>
  fields([
    ['Endpoint', endpoint.id],
    ['Name', endpoint.name],
    ['URL', endpoint.url],
    ['Events', endpoint.events.join(', ')],
    ['Mode', modeOf(endpoint)],
    ['Status', endpoint.status],
    ['Failing', endpoint.failing_since && `since ${endpoint.failing_since}`],
  ])

const deliveryFields = (found: WebhookDelivery): string[] =>
  fields([
    ['Event', found.event_id],
    ['Type', found.type],
    ['Status', found.status],
    ['Job', found.job_id],
    ['Endpoint', found.endpoint_id],
    ['URL', found.url],
    ['Next', found.next_attempt_at],
  ])
