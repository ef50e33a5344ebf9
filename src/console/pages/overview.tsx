// The start page: credits, the statistics of jobs and webhooks in the current mode, and the plan.
import { Hono } from 'hono'
import { useContext } from 'hono/jsx'
import { z } from 'zod'
import { invitationsTo } from '../../organisations/invitations.ts'
import { listWorkspaces } from '../../organisations/workspaces.ts'
import {
  readStatistics,
  STATISTICS_RANGES,
  type JobFigures,
  type Statistics,
  type StatisticsRange,
} from '../../jobs/reports/job-statistics.ts'
import { formatCredits, nameOfPlan } from '../../billing/money.ts'
import { currencyOf } from '../../domain/organisation.ts'
import { permits, permitsUnlimited } from '../../domain/role.ts'
import { organisationStub } from '../../credits/organisation-stub.ts'
import { listFailingReceivers } from '../../webhooks/endpoints/failing-receivers.ts'
import { readWebhookStatistics, type WebhookStatistics } from '../../webhooks/webhook-statistics.ts'
import { RecentValues } from '../../platform/recent-values.ts'
import { CopyableId } from '../components/copyable-text.tsx'
import { Button, FilterSelect } from '../components/form.tsx'
import { GoLiveChecklist, goLiveSteps } from './go-live-checklist.tsx'
import { Notice, formatDuration, Link, OrganisationPath, formatCount } from '../components/text.tsx'
import { memberFragment, memberPage } from '../components/layout.tsx'
import { scopeOf, pathOf, type ConsoleApp, type ConsoleContext } from '../console-context.ts'
import { withQuery } from '../forms.ts'
import { DisabledEndpoints } from '../components/endpoints.tsx'
import { Details, Figures, Section, type FiguresProps } from '../components/section.tsx'
import { Charts, Errors, NoJobs, Webhooks } from './overview-sections.tsx'

const RANGE_LABELS: Record<StatisticsRange, string> = {
  '24h': '24 hours',
  '7d': '7 days',
  '30d': '30 days',
  '90d': '90 days',
}
/** The number of jobs from which on counting costs more than the rest of the page. */
const MANY_JOBS = 100
/** Numbers of many jobs may be a minute old. Those of few are current, so that a first job is seen at once. */
const numbers = new RecentValues<[Statistics, WebhookStatistics]>({
  ttlMs: 60_000,
  maxEntries: 500,
})
/** How often the figures are read again while the page is visible. */
const LIVE_SECONDS = 30
const RANGES = Object.keys(STATISTICS_RANGES) as StatisticsRange[]

/** Ignores invalid filters: users may edit the URL. */
const Query = z.object({
  range: z.enum(RANGES).catch('30d'),
  workspace: z.string().optional(),
})

export const overview = new Hono<ConsoleApp>()
  .get('/', showOverview)
  // console.js polls this fragment.
  .get('/live', async (c) => {
    const [credits, activity] = await Promise.all([
      organisationStub(c.env, c.var.membership.organisation.id).creditStatus(),
      permits(c.var.membership.role, 'jobs') ? readActivity(c) : null,
    ])
    return memberFragment(c, <LiveFigures c={c} balance={credits.balance} activity={activity} />)
  })

async function showOverview(c: ConsoleContext) {
  const { organisation, role } = c.var.membership
  const currency = currencyOf(organisation.regionCode)
  const creditStatus = organisationStub(c.env, organisation.id).creditStatus()
  const [credits, invited, activity, goLive] = await Promise.all([
    creditStatus,
    invitationsTo(c.env, c.var.user.email),
    permits(role, 'jobs') ? readActivity(c) : null,
    permitsUnlimited(c.var.membership, 'develop') ? goLiveSteps(c, creditStatus) : null,
  ])
  const billingLink = (to: string, text: string) =>
    permits(role, 'billing') ? <Link to={to}>{text}</Link> : text
  return memberPage(
    c,
    { title: 'Overview', credits, script: '/static/chart.js' },
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
      {activity && <RangeAndWorkspace {...activity} />}
      <LiveFigures c={c} balance={credits.balance} activity={activity} />
      {activity && <Sections c={c} {...activity} />}
      <Section id="organisation-heading" title="Organisation">
        <Details
          rows={[
            ['Plan', billingLink('/billing', nameOfPlan(organisation.plan))],
            ['Region', `${organisation.regionCode}, billed in ${currency}`],
            ['Rate limit', `${organisation.rateLimitPerMinute} requests per minute`],
            [
              'Auto-reload',
              billingLink('/billing#auto-reload', organisation.autoReloadEnabled ? 'On' : 'Off'),
            ],
            ['Organisation ID', <CopyableId id={organisation.id} label="organisation ID" />],
          ]}
        />
      </Section>
    </>,
  )
}

interface LiveProps {
  c: ConsoleContext
  balance: number
  activity: Activity | null
}

const LiveFigures = ({ c, balance, activity }: LiveProps) => (
  <section
    aria-label="Figures"
    data-live={withQuery(pathOf(c, '/live'), c.req.query())}
    data-live-seconds={LIVE_SECONDS}
  >
    <Figures
      figures={[
        [
          'Credits',
          <Link to="/credits">
            {formatCredits(balance, currencyOf(c.var.membership.organisation.regionCode))}
          </Link>,
        ],
        ...(activity ? figuresOf(c, activity) : []),
      ]}
    />
  </section>
)

type Activity = Awaited<ReturnType<typeof readActivity>>

/** What the filters of the page select. */
async function readActivity(c: ConsoleContext) {
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

const RangeAndWorkspace = ({ range, workspaces, selected }: Activity) => (
  <div class="bar">
    <ul class="segments" aria-label="Range">
      {RANGES.map((value) => (
        <li>
          <Link
            to={withQuery('', { range: value, workspace: selected?.id })}
            aria-current={value === range ? 'true' : undefined}
          >
            {RANGE_LABELS[value]}
          </Link>
        </li>
      ))}
    </ul>
    {workspaces.length > 1 && (
      <form method="get" class="filters" action={useContext(OrganisationPath)}>
        <input type="hidden" name="range" value={range} />
        <FilterSelect
          name="workspace"
          label="Workspace"
          value={selected?.id}
          options={workspaces.map(({ id, name }) => [id, name] as const)}
        />
        <Button kind="secondary">Apply</Button>
      </form>
    )}
  </div>
)

function figuresOf(c: ConsoleContext, { statistics }: Activity): FiguresProps['figures'] {
  const { before, completed, total, medianMs, p95Ms } = statistics
  const rate = successRateOf(statistics)
  const earlier = (textOf: (figures: JobFigures) => string | null) => {
    const text = before && textOf(before)
    return text && `Before: ${text}`
  }
  return [
    c.var.mode === 'live' && [
      'Credits used',
      formatCount(completed),
      earlier((figures) => formatCount(figures.completed)),
    ],
    ['Jobs', formatCount(total), earlier((figures) => formatCount(figures.total))],
    rate !== null && ['Success rate', rate, earlier(successRateOf)],
    rate !== null && [
      'Median duration',
      formatDuration(medianMs),
      <>
        95th percentile {formatDuration(p95Ms)}
        {before && <br />}
        {earlier((figures) => formatDuration(figures.medianMs))}
      </>,
    ],
  ]
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

/** Rounded down, so that 100% means that no job failed. Null when no job has ended. */
function successRateOf({ completed, failed }: JobFigures): string | null {
  const ended = completed + failed
  return ended === 0 ? null : `${Math.floor((completed / ended) * 1_000) / 10}%`
}
