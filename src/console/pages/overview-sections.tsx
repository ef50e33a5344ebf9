// The sections of the overview: charts, errors, and the health of webhooks.
import { errorDocsPath } from '../../domain/docs.ts'
import type { Mode } from '../../domain/job.ts'
import { permits } from '../../domain/role.ts'
import type { Statistics, StatisticsRange } from '../../jobs/reports/job-statistics.ts'
import { MAX_COUNTED_EVENTS, type WebhookStatistics } from '../../webhooks/webhook-statistics.ts'
import type { ConsoleContext } from '../console-context.ts'
import { Chart, dayPeriod, hourPeriod, type Series } from '../components/chart.tsx'
import { Link, formatCount } from '../components/text.tsx'
import { OtherMode } from '../components/mode-switch.tsx'
import { Figures, Section, EmptyState, Table } from '../components/section.tsx'

export const NoJobs = ({ c, statistics }: { c: ConsoleContext; statistics: Statistics }) => (
  <section>
    <EmptyState title={`No ${c.var.mode} jobs in this time`}>
      <p>
        {permits(c.var.membership.role, 'develop') && (
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

interface ChartsProps {
  mode: Mode
  statistics: Statistics
  range: StatisticsRange
}

export const Charts = ({ mode, statistics: { periods, limitedTo }, range }: ChartsProps) => {
  const isHourly = range === '24h'
  const common = {
    unit: isHourly ? 'Hour' : 'Day',
    periods: periods.map(({ startsAt }) => (isHourly ? hourPeriod : dayPeriod)(startsAt)),
  }
  const series = (
    label: string,
    colour: Series['colour'],
    kind: 'completed' | 'failed' | 'other',
  ): Series => ({ label, colour, counts: periods.map((period) => period[kind]) })
  const per = isHourly ? 'hour' : 'day'
  return (
    <Section id="activity-heading" title="Activity">
      <p class="muted">
        In UTC, by the time of submission.
        {limitedTo !== null &&
          ` Only the latest ${formatCount(limitedTo)} jobs of the current days are counted.`}
        {mode === 'test' &&
          ' Test events that you send from the webhooks page are test jobs. They do not count in live mode.'}
      </p>
      <Chart
        {...common}
        caption={`Jobs per ${per}`}
        series={[
          series('Completed', 'good', 'completed'),
          series('Failed', 'bad', 'failed'),
          series('Other', 'off', 'other'),
        ]}
      />
    </Section>
  )
}

interface ErrorsProps {
  statistics: Statistics
  /** The start of the range, ms since 1970. */
  since: number
  workspaceId: string | undefined
}

export const Errors = ({ statistics: { errors, failed }, since, workspaceId }: ErrorsProps) => {
  const jobsWith = (code: string) =>
    `/jobs?${new URLSearchParams({
      status: 'failed',
      error: code,
      from: new Date(since).toISOString().slice(0, 10),
      ...(workspaceId && { workspace: workspaceId }),
    })}`
  return (
    <Section id="errors-heading" title="Errors">
      {errors.length === 0 ? (
        <p class="muted">No job failed in this time.</p>
      ) : (
        <Table
          label="Errors"
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
      )}
    </Section>
  )
}

/** Nothing without events; zeros are left out. */
export const Webhooks = ({
  webhooks: { delivered, failed, retrying, isLimited },
  disabledEndpoints = 0,
}: {
  webhooks: WebhookStatistics
  /** undefined for a member who may not manage them. */
  disabledEndpoints: number | undefined
}) => {
  const counts = { Delivered: delivered, 'Waiting or retrying': retrying, Failed: failed }
  const shown = Object.entries({ ...counts, 'Disabled endpoints': disabledEndpoints })
    .filter(([, count]) => count > 0)
    .map(([label, count]): [string, string] => [label, formatCount(count)])
  if (shown.length === 0) return null
  return (
    <Section id="webhooks-heading" title="Webhooks">
      <Figures figures={shown} />
      <p class="muted">
        {isLimited
          ? `Of the latest ${formatCount(MAX_COUNTED_EVENTS)} events. `
          : 'Events are stored for 30 days. '}
        <Link to="/settings/webhooks">View deliveries and endpoints</Link>
      </p>
    </Section>
  )
}
