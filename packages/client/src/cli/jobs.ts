// try-on jobs: lists, reads, cancels and waits for jobs, and deletes their pictures.
import { Command, Option } from '@commander-js/extra-typings'
import type { Job, JobStatus, ListedJob } from '../index.ts'
import type { Context } from './context.ts'
import { UsageError } from './errors.ts'
import { examples } from './help.ts'
import { outputTarget } from './images.ts'
import { instant, integer, timeoutOption } from './options.ts'
import { fields, printable, table } from './output.ts'
import { finish, secondsOf } from './result.ts'
import { connect } from './settings.ts'
import { waitForJob } from './wait.ts'

const STATUSES: readonly JobStatus[] = [
  'pending',
  'processing',
  'completed',
  'failed',
  'cancelled',
  'refunded',
]
const PAGE_SIZE = 100
const JOB_ID = ['<job-id>', 'Id of the job, for example job_01h….'] as const

export const jobs = (context: Context) =>
  new Command('jobs')
    .description('List, read, cancel and wait for jobs, and delete their pictures.')
    .helpCommand(false)
    .addCommand(list(context))
    .addCommand(get(context))
    .addCommand(wait(context))
    .addCommand(cancel(context))
    .addCommand(deleteOutput(context))

const list = (context: Context) =>
  new Command('list')
    .summary('List jobs, newest first.')
    .description('With --json, prints {"jobs": [...]}.')
    .addOption(new Option('--status <STATUS>', 'Only jobs with this status.').choices(STATUSES))
    .option('--workspace <ID>', 'Only jobs of this workspace.')
    .option(
      '--created-after <TIME>',
      'Only jobs created at this time or later. ISO 8601; a date is midnight UTC.',
      instant('--created-after'),
    )
    .option(
      '--created-before <TIME>',
      'Only jobs created before this time.',
      instant('--created-before'),
    )
    .option('--limit <N>', 'Number of jobs. Default: 20.', integer('--limit', 1, 1_000_000))
    .option('--all', 'List all jobs.')
    .addHelpText(
      'after',
      examples(
        'try-on jobs list --status failed --created-after 2026-11-01',
        'try-on jobs list --all --json',
      ),
    )
    .action(async ({ status, workspace, createdAfter, createdBefore, limit, all }) => {
      const { output, signal } = context
      if (all && limit) throw new UsageError('Use either --limit or --all.')
      const count = all ? Number.POSITIVE_INFINITY : (limit ?? 20)
      const filters = {
        ...(status && { status }),
        ...(workspace && { workspace_id: workspace }),
        ...(createdAfter && { created_after: createdAfter }),
        ...(createdBefore && { created_before: createdBefore }),
        // One more than is shown, to know whether there are more.
        limit: Math.min(count + 1, PAGE_SIZE),
      }
      const { client } = await connect(context)
      const found: ListedJob[] = []
      let hasMore = false
      for await (const job of client.jobs.list(filters, { signal })) {
        if (found.length === count) {
          hasMore = true
          break
        }
        found.push(job)
      }
      const lines = found.length > 0 ? jobTable(found) : ['No jobs.']
      output.result({ jobs: found, has_more: hasMore }, lines)
      if (hasMore) output.note('There are more jobs. Use --limit N or --all.')
    })

const get = (context: Context) =>
  new Command('get')
    .description('Show a job.')
    .argument(...JOB_ID)
    .addHelpText('after', examples('try-on jobs get job_01h455vb4pex5vsknk084sn02q'))
    .action(async (jobId) => {
      const { client } = await connect(context)
      const job = await client.jobs.get(jobId, { signal: context.signal })
      context.output.result(job, jobFields(job))
    })

const wait = (context: Context) =>
  new Command('wait')
    .summary('Wait for the end of a job.')
    .description(
      `Succeeds when the job is completed. With --output, downloads the picture and --json prints
{"job": …, "path": …}. Without it, --json prints the job.`,
    )
    .argument(...JOB_ID)
    .option('-o, --output <FILE>', 'Download the picture to this file or folder.')
    .addOption(timeoutOption())
    .addHelpText(
      'after',
      examples('try-on jobs wait job_01h455vb4pex5vsknk084sn02q -o out.jpg --timeout 60'),
    )
    .action(async (jobId, options) => {
      const { output, signal } = context
      const target = options.output === undefined ? undefined : await outputTarget(options.output)
      const { client, baseUrl } = await connect(context)
      const job = await output.withProgress((show) => {
        show(jobId)
        return waitForJob({ client, jobId, signal, show, ...options })
      })
      await finish({ job, target, baseUrl, output, signal })
    })

const cancel = (context: Context) =>
  new Command('cancel')
    .description('Cancel a pending job and refund its credit.')
    .argument(...JOB_ID)
    .addHelpText('after', examples('try-on jobs cancel job_01h455vb4pex5vsknk084sn02q'))
    .action(async (jobId) => {
      const { client } = await connect(context)
      const cancelled = await client.jobs.cancel(jobId, { signal: context.signal })
      const { refunded_credits: credits } = cancelled
      const refund = `Refunded ${credits} ${credits === 1 ? 'credit' : 'credits'}.`
      context.output.result(cancelled, [printable(`Cancelled ${cancelled.job_id}. ${refund}`)])
    })

const deleteOutput = (context: Context) =>
  new Command('delete-output')
    .summary('Delete the picture of a job, and the stored copies of its images.')
    .description(
      `Also deletes the uploads that the job used: other jobs can no longer use them. This cannot be
undone.`,
    )
    .argument(...JOB_ID)
    .addHelpText('after', examples('try-on jobs delete-output job_01h455vb4pex5vsknk084sn02q'))
    .action(async (jobId) => {
      const { client } = await connect(context)
      await client.jobs.deleteOutput(jobId, { signal: context.signal })
      context.output.result({ job_id: jobId, deleted: true }, [`Deleted the picture of ${jobId}.`])
    })

const jobTable = (jobs: readonly ListedJob[]): string[] =>
  table(
    ['JOB', 'STATUS', 'MODE', 'CREATED', 'TIME', 'ERROR'],
    jobs.map((job) => [
      job.job_id,
      job.status,
      job.mode,
      job.created_at,
      secondsOf(job),
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
