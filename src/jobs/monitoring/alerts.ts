// The alerts, in one table. docs/runbook.md has the same table, and a section for each
// (test/node/monitoring.test.ts).
import type { HealthChecks } from './health-checks.ts'
import { points, sum } from './metric-counts.ts'
import type { Share, WorkCounts } from './work-counts.ts'

/** What the alerts are evaluated on. A source is undefined when it could not be read or is not configured. */
export interface Observations {
  health: HealthChecks
  work: WorkCounts | undefined
  /** The values of `sums`. */
  metrics: Record<string, number> | undefined
  /** The sources that could not be read. */
  unread: string[]
}

export interface Alert {
  /** Identifies the alert in messages, in the state and in `sums`. */
  name: string
  /** Critical alerts page the person on call. */
  severity: 'critical' | 'warning'
  condition: string
  /** The condition must hold for this time. */
  holdMinutes: number
  /** The section of docs/runbook.md. */
  runbook: string
  /** The objective in docs/slo.md whose error budget it burns. */
  budget: string | null
  /** What it needs from Analytics Engine, SQL by name. Not evaluated without ANALYTICS_TOKEN. */
  sums?: Record<string, string>
  /** What is wrong; null if nothing is; undefined if that is unknown, which changes nothing. */
  problem: (seen: Observations) => string | null | undefined
}

/** The name of an alert for people, such as "Failed jobs". */
export const titleOf = ({ name }: Pick<Alert, 'name'>): string =>
  `${name.charAt(0).toUpperCase()}${name.slice(1).replaceAll('_', ' ')}`

const MIN_REQUESTS = 100
const MIN_SHARE_TOTAL = 20
const MAX_DATABASE_BYTES = 8e9

const text = ({ failed, total }: Share) => `${((100 * failed) / total).toFixed(1)} % of ${total}`
const isAbove = ({ failed, total }: Share, share: number, least: number) =>
  total >= least && failed > 0 && failed >= total * share

/** An alert on the number of points in the last minutes. */
function counted(
  alert: Pick<Alert, 'name' | 'runbook' | 'budget'>,
  [atLeast, what, minutes]: [number, string, number],
  condition: string,
  value?: string,
): Alert {
  const { name } = alert
  return {
    ...alert,
    severity: 'warning',
    condition: `${what}: ${atLeast} in ${minutes} minutes`,
    holdMinutes: 0,
    sums: { [name]: sum(minutes, condition, value) },
    problem: ({ metrics }) => {
      const { [name]: count = 0 } = metrics ?? {}
      return metrics && (count >= atLeast ? `${what}: ${count} in ${minutes} minutes.` : null)
    },
  }
}

/** 5xx in two windows: the long one shows that it matters, the short one that it still happens. */
function burning(name: string, share: number, windows: [number, number]): Alert {
  const condition = points('request', { route: "LIKE '% /v1/%'" })
  const failed = points('request', { route: "LIKE '% /v1/%'", statusClass: "= '5xx'" })
  const shareOf = (metrics: Record<string, number>, minutes: number): Share => ({
    failed: metrics[`${name}_${minutes}`] ?? 0,
    total: metrics[`${name}_all_${minutes}`] ?? 0,
  })
  return {
    name,
    severity: 'critical',
    condition: `${(100 * share).toFixed(1)} % of \`/v1\` is 5xx in ${windows.join(' and in ')} minutes`,
    holdMinutes: 0,
    runbook: 'many-5xx',
    budget: 'API available',
    sums: Object.fromEntries(
      windows.flatMap((minutes) => [
        [`${name}_${minutes}`, sum(minutes, failed)],
        [`${name}_all_${minutes}`, sum(minutes, condition)],
      ]),
    ),
    problem: ({ metrics }) => {
      if (!metrics) return undefined
      const [long, short] = windows.map((minutes) => shareOf(metrics, minutes)) as [Share, Share]
      const isBurning = isAbove(long, share, MIN_REQUESTS) && isAbove(short, share, 1)
      return isBurning ? `5xx: ${text(long)} requests to /v1, lately ${text(short)}.` : null
    },
  }
}

export const ALERTS: readonly Alert[] = [
  {
    name: 'health',
    severity: 'critical',
    condition: 'a check of `/health` fails',
    holdMinutes: 1,
    runbook: 'health-fails',
    budget: 'API available',
    problem: ({ health: { failing } }) =>
      failing.length > 0 ? `Failing checks: ${failing.join(', ')}.` : null,
  },
  burning('errors_fast', 0.014, [60, 5]),
  burning('errors_slow', 0.006, [360, 30]),
  {
    name: 'failed_jobs',
    severity: 'critical',
    condition: '10 % of 20 or more live jobs of an hour failed, of all or of one engine',
    holdMinutes: 1,
    runbook: 'many-failed-jobs',
    budget: 'Jobs end well',
    problem: ({ work }) => {
      const failing = work?.jobs.filter(({ share }) => isAbove(share, 0.1, MIN_SHARE_TOTAL))
      const list = failing?.map(({ engine, share }) => `${engine} ${text(share)}`).join(', ')
      return list === undefined ? undefined : list && `Failed live jobs of an hour: ${list}.`
    },
  },
  {
    name: 'backlog',
    severity: 'critical',
    condition: 'a job or a webhook event has been due for 10 minutes',
    holdMinutes: 1,
    runbook: 'backlog-of-a-queue',
    budget: 'Jobs end soon',
    problem: ({ work }) =>
      work &&
      (work.overdueJobs + work.overdueEvents > 0
        ? `Due for 10 minutes: ${work.overdueJobs} jobs, ${work.overdueEvents} webhook events.`
        : null),
  },
  {
    name: 'webhooks',
    severity: 'warning',
    condition: '20 % of 20 or more attempted events of an hour are not delivered',
    holdMinutes: 1,
    runbook: 'webhooks-fail',
    budget: 'Webhooks',
    problem: ({ work }) =>
      work &&
      (isAbove(work.events, 0.2, MIN_SHARE_TOTAL)
        ? `Not delivered: ${text(work.events)} webhook events of an hour.`
        : null),
  },
  counted(
    { name: 'dead_letters', runbook: 'dead-letters', budget: 'Jobs end well' },
    [1, 'messages without a retry left', 10],
    points('message', { outcome: "= 'dead'" }),
  ),
  counted(
    { name: 'circuit_breaker', runbook: 'circuit-breaker-open', budget: 'Jobs end well' },
    [1, 'opened circuit breakers', 10],
    points('breaker_opened'),
  ),
  counted(
    { name: 'cron_fails', runbook: 'cron-or-the-sweep-fails', budget: 'Jobs end soon' },
    [3, 'failed tasks of cron', 10],
    points('task', { outcome: "= 'failed'" }),
  ),
  counted(
    { name: 'sweep', runbook: 'the-sweep-finds-many', budget: 'Jobs end soon' },
    [100, 'requeued jobs and events', 10],
    points('sweep', { kind: "!= 'reservations'" }),
    'double1',
  ),
  counted(
    { name: 'reservations', runbook: 'reservations-left-to-the-alarm', budget: 'Credits' },
    [10, 'reservations left to the alarm', 60],
    points('sweep', { kind: "= 'reservations'" }),
    'double1',
  ),
  counted(
    { name: 'mail', runbook: 'mail-fails', budget: null },
    [3, 'mails that were not sent', 60],
    points('mail', { outcome: "= 'failed'" }),
  ),
  counted(
    { name: 'payments', runbook: 'events-of-payments-fail', budget: null },
    [3, 'events of payments that were not accepted', 60],
    points('request', { route: "= 'POST /payments/stripe/events'", statusClass: "!= '2xx'" }),
  ),
  {
    name: 'database_size',
    severity: 'warning',
    condition: 'a database has 8 GB of 10 GB',
    holdMinutes: 0,
    runbook: 'd1-size-and-errors',
    budget: null,
    problem: ({ health: { largestDatabaseBytes: bytes } }) =>
      bytes >= MAX_DATABASE_BYTES
        ? `The largest database has ${(bytes / 1e9).toFixed(1)} GB.`
        : null,
  },
  {
    name: 'unread',
    severity: 'warning',
    condition: 'the jobs or the metrics cannot be read',
    holdMinutes: 10,
    runbook: 'alerts-are-not-evaluated',
    budget: null,
    problem: ({ unread }) => (unread.length > 0 ? `Not read: ${unread.join(', ')}.` : null),
  },
]
