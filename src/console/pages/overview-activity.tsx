// The activity of the overview: what its filters select, charts, errors, and the health of webhooks.
import { z } from 'zod'
import { errorDocsPath } from '../../domain/docs.ts'
import {
  readStatistics,
  STATISTICS_RANGES,
  type Statistics,
  type StatisticsRange,
} from '../../jobs/reports/job-statistics.ts'
import { listWorkspaces } from '../../organisations/workspaces.ts'
import { RecentValues } from '../../platform/recent-values.ts'
import { listFailingReceivers } from '../../webhooks/endpoints/failing-receivers.ts'
import {
  MAX_COUNTED_EVENTS,
  readWebhookStatistics,
  type WebhookStatistics,
} from '../../webhooks/webhook-statistics.ts'
import { may, scopeOf, type ConsoleContext } from '../console-context.ts'
import { withQuery } from '../forms.ts'
import { Chart, dayPeriod, hourPeriod } from '../components/chart.tsx'
import { Link, formatCount } from '../components/text.tsx'
import { OtherMode } from '../components/mode-switch.tsx'
import { tiles, Section, EmptyState, Table } from '../components/section.tsx'

/** The number of jobs from which on counting costs more than the rest of the page. */
const MANY_JOBS = 100
/** Numbers of many jobs may be a minute old. Those of few are current, so that a first job is seen at once. */
const numbers = new RecentValues<[Statistics, WebhookStatistics]>({
  ttlMs: 60_000,
  maxEntries: 500,
})
export const RANGES = Object.keys(STATISTICS_RANGES) as StatisticsRange[]

/** Ignores invalid filters: users may edit the URL. */
const Query = z.object({
  range: z.enum(RANGES).catch('30d'),
  workspace: z.string().optional(),
})

export type Activity = Awaited<ReturnType<typeof readActivity>>

export async function readActivity(c: ConsoleContext) {
  const { range, workspace } = Query.parse(c.req.query())
  const listing = listWorkspaces(scopeOf(c))
  const selected =
    workspace === undefined ? undefined : (await listing).find(({ id }) => id === workspace)
  const selection = { ...scopeOf(c), mode: c.var.mode, workspaceId: selected?.id }
  const { periods, periodMs } = STATISTICS_RANGES[range]
  const now = Date.now()
  const since = (Math.floor(now / periodMs) - periods + 1) * periodMs
  const { role, workspaceIds } = c.var.membership
  const { organisationId, mode, workspaceId } = selection
  // Who may see the numbers is a part of the key: the rights are those of this request.
  const key = [organisationId, role, workspaceIds, mode, range, workspaceId]
  const [[statistics, webhooks], failingEndpoints, workspaces] = await Promise.all([
    numbers.get(
      key,
      () =>
        Promise.all([
          readStatistics({ ...selection, range, now }),
          readWebhookStatistics({ ...selection, since }),
        ]),
      ([{ total, otherMode }]) => total + otherMode > MANY_JOBS,
    ),
    listFailingReceivers(scopeOf(c)),
    listing,
  ])
  const disabledEndpoints = failingEndpoints.filter(({ disabledAt }) => disabledAt !== null)
  return { range, since, workspaces, selected, statistics, webhooks, disabledEndpoints }
}

export const activitySections = (c: ConsoleContext, activity: Activity) =>
  activity.statistics.total === 0 ? (
    noJobs(c, activity)
  ) : (
    <>
      {activityChart(c, activity)}
      {errorTable(activity)}
      {webhookFigures(activity)}
    </>
  )

const noJobs = (c: ConsoleContext, { statistics }: Activity) => (
  <section>
    <EmptyState title={`No ${c.var.mode} jobs in this time`}>
      <p>
        {may(c, 'develop') && (
          <>
            Submit one in the <Link to="/playground">playground</Link>.{' '}
          </>
        )}
        Follow the <a href="/docs/quick-start">quick start</a>. Jobs in test mode are free.
      </p>
      <OtherMode mode={c.var.mode} count={statistics.otherMode} noun="job" />
    </EmptyState>
  </section>
)

/** The parts of a bar, from the bottom. */
const SERIES = [
  ['completed', 'Completed', 'good'],
  ['failed', 'Failed', 'bad'],
  ['other', 'Other', 'off'],
] as const

function activityChart(c: ConsoleContext, { statistics, range }: Activity) {
  const { periods, limitedTo } = statistics
  const unit = range === '24h' ? 'Hour' : 'Day'
  const periodOf = unit === 'Hour' ? hourPeriod : dayPeriod
  return (
    <Section id="activity-heading" title="Activity">
      <p class="muted">
        In UTC, by the time of submission.
        {limitedTo !== null &&
          ` Only the latest ${formatCount(limitedTo)} jobs of the current days are counted.`}
        {c.var.mode === 'test' &&
          ' Test events that you send from the webhooks page are test jobs. They do not count in live mode.'}
      </p>
      <Chart
        caption={`Jobs per ${unit.toLowerCase()}`}
        unit={unit}
        periods={periods.map(({ startsAt }) => periodOf(startsAt))}
        series={SERIES.map(([kind, label, colour]) => ({
          label,
          colour,
          counts: periods.map((period) => period[kind]),
        }))}
      />
    </Section>
  )
}

function errorTable({ statistics: { errors, failed }, since, selected }: Activity) {
  const jobsWith = (code: string) =>
    withQuery('/jobs', {
      status: 'failed',
      error: code,
      from: new Date(since).toISOString().slice(0, 10),
      workspace: selected?.id,
    })
  return (
    <Section id="errors-heading" title="Errors">
      <Table
        label="Errors"
        empty={<p class="muted">No job failed in this time.</p>}
        columns={['Error', 'Jobs', 'Share of failures', 'Help']}
        numeric={['Jobs', 'Share of failures']}
        rows={errors.map(({ code, count }) => [
          <code>{code}</code>,
          <Link
            to={jobsWith(code)}
            aria-label={`${formatCount(count)} jobs that failed with ${code}`}
          >
            {formatCount(count)}
          </Link>,
          `${Math.round((count / failed) * 100)}%`,
          <a href={errorDocsPath(code)} aria-label={`How to fix it: ${code}`}>
            How to fix it
          </a>,
        ])}
      />
    </Section>
  )
}

/** Nothing without events; zeros are left out. */
function webhookFigures({ webhooks, disabledEndpoints }: Activity) {
  const counts = {
    Delivered: webhooks.delivered,
    'Waiting or retrying': webhooks.retrying,
    Failed: webhooks.failed,
    'Disabled endpoints': disabledEndpoints.length,
  }
  const shown = Object.entries(counts).filter(([, count]) => count > 0)
  if (shown.length === 0) return null
  return (
    <Section id="webhooks-heading" title="Webhooks">
      {tiles(shown.map(([label, count]) => [label, formatCount(count)]))}
      <p class="muted">
        {webhooks.isLimited
          ? `Of the latest ${formatCount(MAX_COUNTED_EVENTS)} events. `
          : 'Events are stored for 30 days. '}
        <Link to="/settings/webhooks">View deliveries and endpoints</Link>
      </p>
    </Section>
  )
}
