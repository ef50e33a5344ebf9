// The start page: credits, the statistics of jobs and webhooks in the current mode, and the plan.
import { useContext } from 'hono/jsx'
import { invitationsTo } from '../../organisations/invitations.ts'
import type { JobFigures, StatisticsRange } from '../../jobs/reports/job-statistics.ts'
import { formatCredits, nameOfPlan } from '../../billing/money.ts'
import { currencyOf } from '../../domain/organisation.ts'
import { organisationStub } from '../../credits/organisation-stub.ts'
import { CopyableId } from '../components/copyable-text.tsx'
import { Button, FilterSelect } from '../components/form.tsx'
import { GoLiveChecklist, goLiveSteps } from './go-live-checklist.tsx'
import { Notice, formatDuration, Link, OrganisationPath, formatCount } from '../components/text.tsx'
import { memberFragment, memberPage } from '../components/layout.tsx'
import {
  may,
  mayInAllWorkspaces,
  createApp,
  pathOf,
  type ConsoleContext,
} from '../console-context.ts'
import { withQuery } from '../forms.ts'
import { disabledEndpointsCard } from '../components/endpoints.tsx'
import { Details, Figures, Section, type FiguresProps } from '../components/section.tsx'
import { activitySections, RANGES, readActivity, type Activity } from './overview-activity.tsx'

const RANGE_LABELS: Record<StatisticsRange, string> = {
  '24h': '24 hours',
  '7d': '7 days',
  '30d': '30 days',
  '90d': '90 days',
}
/** How often the figures are read again while the page is visible. */
const LIVE_SECONDS = 30
export const overview = createApp()
  .get('/', showOverview)
  // console.js polls this fragment.
  .get('/live', async (c) => {
    const [credits, activity] = await Promise.all([
      organisationStub(c.env, c.var.membership.organisation.id).creditStatus(),
      may(c, 'jobs') ? readActivity(c) : null,
    ])
    return memberFragment(c, liveFigures(c, credits.balance, activity))
  })

async function showOverview(c: ConsoleContext) {
  const { organisation } = c.var.membership
  const currency = currencyOf(organisation.regionCode)
  const canDevelop = mayInAllWorkspaces(c, 'develop')
  const creditStatus = organisationStub(c.env, organisation.id).creditStatus()
  const [credits, invited, activity, goLive] = await Promise.all([
    creditStatus,
    invitationsTo(c.env, c.var.user.email),
    may(c, 'jobs') ? readActivity(c) : null,
    canDevelop ? goLiveSteps(c, creditStatus) : null,
  ])
  const billingLink = (to: string, text: string) =>
    may(c, 'billing') ? <Link to={to}>{text}</Link> : text
  return memberPage(
    c,
    { title: 'Overview', heading: organisation.name, credits, script: '/static/chart.js' },
    <>
      {invited.map(({ organisation: other }) => (
        <Notice kind="info">
          You have been invited to join {other.name}.{' '}
          <a href="/console/invitations">View invitations</a>
        </Notice>
      ))}
      {goLive && <GoLiveChecklist steps={goLive} />}
      {activity && disabledEndpointsCard(activity.disabledEndpoints, canDevelop)}
      {activity && <RangeAndWorkspace {...activity} />}
      {liveFigures(c, credits.balance, activity)}
      {activity && activitySections(c, activity)}
      <Section id="organisation-heading" title="Organisation">
        <Details
          rows={{
            Plan: billingLink('/billing', nameOfPlan(organisation.plan)),
            Region: `${organisation.regionCode}, billed in ${currency}`,
            'Rate limit': `${organisation.rateLimitPerMinute} requests per minute`,
            'Auto-reload': billingLink(
              '/billing#auto-reload',
              organisation.autoReloadEnabled ? 'On' : 'Off',
            ),
            'Organisation ID': <CopyableId id={organisation.id} label="organisation ID" />,
          }}
        />
      </Section>
    </>,
  )
}

const liveFigures = (c: ConsoleContext, balance: number, activity: Activity | null) => (
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

/** Rounded down, so that 100% means that no job failed. Null when no job has ended. */
function successRateOf({ completed, failed }: JobFigures): string | null {
  const ended = completed + failed
  return ended === 0 ? null : `${Math.floor((completed / ended) * 1_000) / 10}%`
}
