// try-on trigger: sends real webhooks of all types by creating test jobs.
import { setTimeout as sleep } from 'node:timers/promises'
import { Argument, Command } from '@commander-js/extra-typings'
import type { Job, TryOnClient } from '../index.ts'
import type { Context } from './context.ts'
import { CliError, EXIT } from './errors.ts'
import { examples } from './help.ts'
import { integer } from './options.ts'
import { table, type Output } from './output.ts'
import { connect, isTestKey } from './settings.ts'

const SCENARIOS = 'https://test.invalid'
/** The model image of the test job that causes each event. */
const MODEL_IMAGES = {
  'job.completed': `${SCENARIOS}/delay/0`,
  'job.failed': `${SCENARIOS}/fail/person_not_found`,
  // Stays pending until it is cancelled.
  'job.refunded': `${SCENARIOS}/pending/60`,
  'job.cancelled': `${SCENARIOS}/withdraw`,
} as const

type EventType = keyof typeof MODEL_IMAGES
const EVENT_TYPES = ['job.completed', 'job.failed', 'job.refunded', 'job.cancelled'] as const
/** Between two reads of the delivery's status. */
const POLL_MS = 1500

export const trigger = (context: Context) =>
  new Command('trigger')
    .summary('Send test webhooks: create test jobs that end with the event.')
    .description(
      `Needs a test key. Test jobs cost no credits. Waits until the service has delivered each webhook, and
fails when a delivery failed.`,
    )
    .addArgument(new Argument('<event>', 'Type of the event.').choices([...EVENT_TYPES, 'all']))
    .requiredOption('--webhook-url <URL>', 'Receives the webhooks. Required.')
    .option(
      '--timeout <SECONDS>',
      'Time limit of the deliveries.',
      integer('--timeout', 1, 3600),
      60,
    )
    .addHelpText('after', examples('try-on trigger all --webhook-url http://127.0.0.1:4242'))
    .action(async (event, { webhookUrl, timeout }) => {
      const { output, signal } = context
      const { client, apiKey } = await connect(context)
      if (!isTestKey(apiKey)) throw testKeyRequired()
      const types = EVENT_TYPES.filter((type) => event === 'all' || event === type)
      const deadline = Date.now() + timeout * 1000
      const jobs = await output.withProgress((show) => {
        show('waiting for the deliveries')
        return Promise.all(
          types.map(async (type) => {
            const jobId = await createJob(client, type, webhookUrl, signal)
            return { event: type, job: await waitForDelivery({ client, jobId, deadline, signal }) }
          }),
        )
      })
      output.result({ events: jobs }, deliveryTable(jobs, output))
      requireDelivery(jobs, timeout)
    })

interface TriggeredJob {
  event: EventType
  job: Job
}

async function createJob(
  client: TryOnClient,
  event: EventType,
  webhookUrl: string,
  signal: AbortSignal,
): Promise<string> {
  const { job_id: jobId } = await client.tryOn.submit(
    {
      model_image_url: MODEL_IMAGES[event],
      garment_image_url: `${SCENARIOS}/delay/0`,
      webhook_url: webhookUrl,
    },
    { signal },
  )
  if (event === 'job.refunded') await client.jobs.cancel(jobId, { signal })
  return jobId
}

/** The job after its delivery, or at the deadline. */
async function waitForDelivery(wait: {
  client: TryOnClient
  jobId: string
  deadline: number
  signal: AbortSignal
}): Promise<Job> {
  const { client, jobId, deadline, signal } = wait
  const waitSeconds = Math.max(1, Math.min(30, Math.floor((deadline - Date.now()) / 1000)))
  let job = await client.jobs.get(jobId, { waitSeconds, signal })
  while (!isSettled(job) && Date.now() + POLL_MS < deadline) {
    await sleep(POLL_MS, undefined, { signal })
    job = await client.jobs.get(jobId, { signal })
  }
  return job
}

const isSettled = ({ webhook_status: status }: Job): boolean =>
  status === 'delivered' || status === 'failed'

const deliveryTable = (jobs: TriggeredJob[], output: Output): string[] => [
  ...table(
    ['EVENT', 'JOB', 'STATUS', 'WEBHOOK'],
    jobs.map(({ event, job }) => [event, job.job_id, job.status, job.webhook_status ?? '']),
  ),
  ...(jobs.every(({ job }) => job.webhook_status === 'delivered')
    ? [output.colour('All webhooks were delivered.', 'green')]
    : []),
]

/** @throws CliError unless all webhooks were delivered */
function requireDelivery(jobs: TriggeredJob[], timeoutSeconds: number): void {
  const failed = jobs.filter(({ job }) => job.webhook_status === 'failed')
  const open = jobs.filter(({ job }) => !isSettled(job))
  const names = (list: TriggeredJob[]) => list.map(({ event }) => event).join(', ')
  if (failed.length > 0) {
    throw new CliError('webhook_failed', `Not delivered: ${names(failed)}.`, {
      hints: ['The console shows the responses of your server under Settings, Webhooks.'],
    })
  }
  if (open.length > 0) {
    throw new CliError('timeout', `Not delivered within ${timeoutSeconds} s: ${names(open)}.`, {
      exitCode: EXIT.timeout,
      hints: ['Respond with 2xx. The service retries. See: try-on jobs get <job-id>'],
    })
  }
}

const testKeyRequired = () =>
  new CliError('test_key_required', 'trigger needs a test key, and this is a live key.', {
    exitCode: EXIT.authentication,
    hints: ['Create a test key in the console, then set TRY_ON_API_KEY or run try-on login.'],
  })
