// try-on jobs: lists, reads, cancels and waits for jobs, and deletes their pictures.
import type { Job, JobStatus, ListedJob } from '../index.ts'
import type { ArgumentSpec, Command, Context } from './command.ts'
import { UsageError } from './errors.ts'
import { outputTarget } from './images.ts'
import { fields, printable, table } from './output.ts'
import { connect } from './settings.ts'
import { finish, TIMEOUT_OPTION, timeoutSecondsOf, waitForJob } from './wait.ts'

const STATUSES: readonly JobStatus[] = [
  'pending',
  'processing',
  'completed',
  'failed',
  'cancelled',
  'refunded',
]
const PAGE_SIZE = 100
const JOB: ArgumentSpec = { name: 'job-id', summary: 'Id of the job, for example job_01h….' }

const list: Command = {
  name: 'jobs list',
  summary: 'List jobs, newest first.',
  details: 'With --json, prints {"jobs": [...]}.',
  options: [
    { name: 'status', value: 'STATUS', choices: STATUSES, summary: 'Only jobs with this status.' },
    { name: 'workspace', value: 'ID', summary: 'Only jobs of this workspace.' },
    {
      name: 'created-after',
      value: 'TIME',
      summary: 'Only jobs created at this time or later. ISO 8601; a date is midnight UTC.',
    },
    { name: 'created-before', value: 'TIME', summary: 'Only jobs created before this time.' },
    { name: 'limit', value: 'N', summary: 'Number of jobs. Default: 20.' },
    { name: 'all', summary: 'List all jobs.' },
  ],
  examples: [
    'try-on jobs list --status failed --created-after 2026-11-01',
    'try-on jobs list --all --json',
  ],
  async run(context) {
    const { options, output, signal } = context
    if (options.flag('all') && options.flag('limit')) {
      throw new UsageError('Use either --limit or --all.')
    }
    const limit = options.integer('limit', { min: 1, max: 1_000_000 }) ?? 20
    const count = options.flag('all') ? Number.POSITIVE_INFINITY : limit
    const query = filters(context)
    const { client } = await connect(context)
    const jobs: ListedJob[] = []
    let hasMore = false
    // One more than is shown, to know whether there are more.
    const pages = client.jobs.list({ ...query, limit: Math.min(count + 1, PAGE_SIZE) }, { signal })
    for await (const job of pages) {
      if (jobs.length === count) {
        hasMore = true
        break
      }
      jobs.push(job)
    }
    output.result({ jobs, has_more: hasMore }, jobs.length > 0 ? jobTable(jobs) : ['No jobs.'])
    if (hasMore) output.note('There are more jobs. Use --limit N or --all.')
  },
}

const get: Command = {
  name: 'jobs get',
  summary: 'Show a job.',
  args: [JOB],
  examples: ['try-on jobs get job_01h455vb4pex5vsknk084sn02q'],
  async run(context) {
    const { client } = await connect(context)
    const job = await client.jobs.get(context.args[0] ?? '', { signal: context.signal })
    context.output.result(job, jobFields(job))
  },
}

const wait: Command = {
  name: 'jobs wait',
  summary: 'Wait for the end of a job.',
  details: `
Succeeds when the job is completed. With --output, downloads the picture and --json prints
{"job": …, "path": …}. Without it, --json prints the job.`,
  args: [JOB],
  options: [
    {
      name: 'output',
      short: 'o',
      value: 'FILE',
      isFile: true,
      summary: 'Download the picture to this file or folder.',
    },
    TIMEOUT_OPTION,
  ],
  examples: ['try-on jobs wait job_01h455vb4pex5vsknk084sn02q -o out.jpg --timeout 60'],
  async run(context) {
    const { args, options, output } = context
    const seconds = timeoutSecondsOf(options)
    const named = options.text('output')
    const target = named === undefined ? undefined : await outputTarget(named)
    const session = await connect(context)
    const progress = output.progress()
    let job: Job
    try {
      progress.update(args[0] ?? '')
      job = await waitForJob(context, session.client, args[0] ?? '', seconds, progress)
    } finally {
      progress.stop()
    }
    const document = (path: string | null) => (target ? { job, path } : job)
    await finish(context, session, job, target, document)
  },
}

const cancel: Command = {
  name: 'jobs cancel',
  summary: 'Cancel a pending job and refund its credit.',
  args: [JOB],
  examples: ['try-on jobs cancel job_01h455vb4pex5vsknk084sn02q'],
  async run(context) {
    const { client } = await connect(context)
    const cancelled = await client.jobs.cancel(context.args[0] ?? '', { signal: context.signal })
    const credits = cancelled.refunded_credits
    context.output.result(cancelled, [
      printable(
        `Cancelled ${cancelled.job_id}. Refunded ${credits} ${credits === 1 ? 'credit' : 'credits'}.`,
      ),
    ])
  },
}

const deleteOutput: Command = {
  name: 'jobs delete-output',
  summary: 'Delete the picture of a job, and the stored copies of its images.',
  details: `
Also deletes the uploads that the job used: other jobs can no longer use them. This cannot be
undone.`,
  args: [JOB],
  examples: ['try-on jobs delete-output job_01h455vb4pex5vsknk084sn02q'],
  async run(context) {
    const { client } = await connect(context)
    const [jobId = ''] = context.args
    await client.jobs.deleteOutput(jobId, { signal: context.signal })
    context.output.result({ job_id: jobId, deleted: true }, [`Deleted the picture of ${jobId}.`])
  },
}

export const JOBS: readonly Command[] = [list, get, wait, cancel, deleteOutput]

function filters({ options }: Context) {
  const status = STATUSES.find((known) => known === options.text('status'))
  const workspace = options.text('workspace')
  const after = instant(options.text('created-after'), '--created-after')
  const before = instant(options.text('created-before'), '--created-before')
  return {
    ...(status && { status }),
    ...(workspace && { workspace_id: workspace }),
    ...(after && { created_after: after }),
    ...(before && { created_before: before }),
  }
}

function instant(text: string | undefined, option: string): Date | undefined {
  if (text === undefined) return undefined
  const date = new Date(text)
  // Date accepts much more than ISO 8601.
  if (!/^\d{4}-\d{2}-\d{2}(T|$)/.test(text) || Number.isNaN(date.getTime())) {
    throw new UsageError(`${option} must be a time such as 2026-11-01 or 2026-11-01T12:00:00Z.`)
  }
  return date
}

const jobTable = (jobs: readonly ListedJob[]): string[] =>
  table(
    ['JOB', 'STATUS', 'MODE', 'CREATED', 'TIME', 'ERROR'],
    jobs.map((job) => [
      job.job_id,
      job.status,
      job.mode,
      job.created_at,
      secondsOf(job) ?? '',
      job.error_code ?? '',
    ]),
  )

const jobFields = (job: Job): string[] =>
  fields([
    ['Job', job.job_id],
    ['Status', job.status],
    ['Error', job.error_code],
    ['Mode', job.mode],
    ['Workspace', job.workspace_id],
    ['Created', job.created_at],
    ['Completed', job.completed_at],
    ['Time', secondsOf(job)],
    ['Credits', job.credits_consumed === null ? null : String(job.credits_consumed)],
    ['Webhook', job.webhook_url && `${job.webhook_status} ${job.webhook_url}`],
    ['Picture', job.output_url],
  ])

const secondsOf = ({ duration_ms: durationMs }: ListedJob): string | null =>
  durationMs === null ? null : `${(durationMs / 1000).toFixed(1)} s`
