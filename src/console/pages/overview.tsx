// The start page: credits, the statistics of jobs and webhooks in the current mode, and the plan.
import { Hono } from 'hono'
import { useContext } from 'hono/jsx'
import { z } from 'zod'
import { invitationsTo } from '../../accounts/invitations.ts'
import { listWorkspaces } from '../../accounts/workspaces.ts'
import { readStatistics, STATISTICS_RANGES } from '../../jobs/statistics.ts'
import type { StatisticsRange } from '../../jobs/statistics.ts'
import { formatCredits } from '../../billing/money.ts'
import { nameOfPlan } from '../../billing/plans.ts'
import { currencyOf } from '../../domain/organisation.ts'
import type { WorkspaceRow } from '../../db/schema.ts'
import { permits, permitsUnlimited } from '../../domain/role.ts'
import { organisationStub } from '../../organisation/stub.ts'
import { listFailingEndpoints } from '../../webhooks/endpoints.ts'
import { readWebhookStatistics } from '../../webhooks/statistics.ts'
import type { ConsoleApp, ConsoleContext } from '../context.ts'
import { CopyableId } from '../components/copyable-text.tsx'
import { Button } from '../components/form.tsx'
import { GoLiveChecklist, goLiveSteps } from '../components/go-live-checklist.tsx'
import { Notice } from '../components/notice.tsx'
import { memberPage } from '../components/layout.tsx'
import { formatDuration } from '../components/time.tsx'
import { Link, OrganisationPath } from '../components/link.tsx'
import { scopeOf } from '../middleware/session.ts'
import { DisabledEndpoints } from './disabled-endpoints.tsx'
import { Charts, Errors, NoJobs, Webhooks } from './overview-sections.tsx'

const RANGE_LABELS: Record<StatisticsRange, string> = {
  '24h': '24 hours',
  '7d': '7 days',
  '30d': '30 days',
  '90d': '90 days',
}
const RANGES = Object.keys(STATISTICS_RANGES) as StatisticsRange[]

/** Ignores invalid filters: users may edit the URL. */
const Query = z.object({
  range: z.enum(RANGES).catch('30d'),
  workspace: z.string().optional(),
})

export const overview = new Hono<ConsoleApp>().get('/', async (c) => {
  const { organisation, role } = c.var.membership
  const currency = currencyOf(organisation.regionCode)
  const [credits, invited, activity] = await Promise.all([
    organisationStub(c.env, organisation.id).creditStatus(),
    invitationsTo(c.env, c.var.user.email),
    permits(role, 'jobs') ? readActivity(c) : null,
  ])
  const goLive = permitsUnlimited(c.var.membership, 'develop')
    ? await goLiveSteps(c, credits.balance)
    : null
  return memberPage(
    c,
    {
      title: 'Overview',
      credits,
      stylesheet: ['/static/chart.css', '/static/overview.css', '/static/webhooks.css'],
      script: '/static/chart.js',
    },
    <>
      <h1>{organisation.name}</h1>
      {invited.map(({ organisation: other }) => (
        <Notice kind="info">
          You have been invited to join {other.name}.{' '}
          <a href="/console/invitations">View invitations</a>
        </Notice>
      ))}
      {goLive && <GoLiveChecklist steps={goLive} />}
      {activity && (
        <DisabledEndpoints
          endpoints={activity.disabledEndpoints}
          canEnable={permitsUnlimited(c.var.membership, 'develop')}
        />
      )}
      {activity && <Filters {...activity} />}
      <dl class="metrics">
        <Figure label="Credits">
          <Link to="/credits">{formatCredits(credits.balance, currency)}</Link>
        </Figure>
        {activity && <JobFigures c={c} {...activity} />}
      </dl>
      {activity && <Sections c={c} {...activity} />}
      <section aria-labelledby="organisation-heading">
        <h2 id="organisation-heading">Organisation</h2>
        <dl>
          <dt>Plan</dt>
          <dd>
            {permits(role, 'billing') ? (
              <Link to="/billing">{nameOfPlan(organisation.plan)}</Link>
            ) : (
              nameOfPlan(organisation.plan)
            )}
          </dd>
          <dt>Region</dt>
          <dd>
            {organisation.regionCode}, billed in {currency}
          </dd>
          <dt>Rate limit</dt>
          <dd>{organisation.rateLimitPerMinute} requests per minute</dd>
          <dt>Auto-reload</dt>
          <dd>
            {permits(role, 'billing') ? (
              <Link to="/billing#auto-reload">{organisation.autoReloadEnabled ? 'On' : 'Off'}</Link>
            ) : organisation.autoReloadEnabled ? (
              'On'
            ) : (
              'Off'
            )}
          </dd>
          <dt>Organisation ID</dt>
          <dd>
            <CopyableId id={organisation.id} label="organisation ID" />
          </dd>
        </dl>
      </section>
    </>,
  )
})

type Activity = Awaited<ReturnType<typeof readActivity>>

/** What the filters of the page select. */
async function readActivity(c: ConsoleContext) {
  const { range, workspace } = Query.parse(c.req.query())
  const workspaces = await listWorkspaces(scopeOf(c))
  const selected = workspaces.find(({ id }) => id === workspace)
  const selection = {
    ...scopeOf(c),
    mode: c.var.mode,
    workspaceId: selected?.id,
  }
  const { periods, periodMs } = STATISTICS_RANGES[range]
  const now = Date.now()
  const since = (Math.floor(now / periodMs) - periods + 1) * periodMs
  const [statistics, webhooks, failingEndpoints] = await Promise.all([
    readStatistics({ ...selection, range, now }),
    readWebhookStatistics({ ...selection, since }),
    listFailingEndpoints(scopeOf(c)),
  ])
  const disabledEndpoints = failingEndpoints.filter(({ disabledAt }) => disabledAt !== null)
  return { range, since, workspaces, selected, statistics, webhooks, disabledEndpoints }
}

const Filters = ({ range, workspaces, selected }: Activity) => (
  <div class="ranges">
    <ul aria-label="Range">
      {RANGES.map((value) => (
        <li>
          <Link
            to={`?${new URLSearchParams({ range: value, ...(selected && { workspace: selected.id }) })}`}
            aria-current={value === range ? 'true' : undefined}
          >
            {RANGE_LABELS[value]}
          </Link>
        </li>
      ))}
    </ul>
    {workspaces.length > 1 && (
      <WorkspaceFilter range={range} workspaces={workspaces} selected={selected} />
    )}
  </div>
)

const WorkspaceFilter = ({
  range,
  workspaces,
  selected,
}: {
  range: StatisticsRange
  workspaces: WorkspaceRow[]
  selected: WorkspaceRow | undefined
}) => (
  <form method="get" action={useContext(OrganisationPath)}>
    <input type="hidden" name="range" value={range} />
    <label for="workspace">Workspace</label>
    <select id="workspace" name="workspace" data-submit-on-change>
      <option value="">All</option>
      {workspaces.map(({ id, name }) => (
        <option value={id} selected={id === selected?.id || undefined}>
          {name}
        </option>
      ))}
    </select>
    <Button kind="secondary">Apply</Button>
  </form>
)

const JobFigures = ({
  c,
  statistics: { total, completed, failed, medianMs, p95Ms },
}: Activity & { c: ConsoleContext }) => {
  const ended = completed + failed
  return (
    <>
      {c.var.mode === 'live' && <Figure label="Credits used">{format(completed)}</Figure>}
      <Figure label="Jobs">{format(total)}</Figure>
      <Figure label="Success rate">{ended === 0 ? '–' : percentOf(completed, ended)}</Figure>
      <Figure label="Median duration">{formatDuration(medianMs)}</Figure>
      <Figure label="95th percentile">{formatDuration(p95Ms)}</Figure>
    </>
  )
}

const Sections = ({ c, ...activity }: Activity & { c: ConsoleContext }) => {
  const { statistics, range, since, selected } = activity
  if (statistics.total === 0) return <NoJobs c={c} statistics={statistics} />
  return (
    <>
      <Charts mode={c.var.mode} statistics={statistics} range={range} />
      <Errors statistics={statistics} since={since} workspaceId={selected?.id} />
      <Webhooks
        webhooks={activity.webhooks}
        disabledEndpoints={activity.disabledEndpoints?.length}
      />
    </>
  )
}

const Figure = ({ label, children }: { label: string; children?: unknown }) => (
  <div>
    <dt>{label}</dt>
    <dd>{children}</dd>
  </div>
)

const format = (count: number): string => count.toLocaleString('en')

/** Rounded down, so that 100% means that no job failed. */
const percentOf = (part: number, whole: number): string =>
  `${Math.floor((part / whole) * 1_000) / 10}%`
