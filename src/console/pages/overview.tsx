// The start page: the steps to production until they are done or hidden, credits, the statistics of jobs and webhooks
// in the current mode, and the plan.
import { getCookie, setCookie } from 'hono/cookie'
import { useContext } from 'hono/jsx'
import { readGoLiveState } from '../../organisations/go-live.ts'
import { invitationsTo } from '../../organisations/invitations.ts'
import type { JobFigures, StatisticsRange } from '../../jobs/reports/job-statistics.ts'
import { formatCredits, nameOfPlan } from '../../billing/money.ts'
import { currencyOf } from '../../domain/organisation.ts'
import { organisationStub } from '../../credits/organisation-stub.ts'
import { CopyableId } from '../components/copyable-text.tsx'
import { ActionForm, Button, FilterSelect } from '../components/form.tsx'
import { Notice, formatDuration, Link, OrganisationPath, formatCount } from '../components/text.tsx'
import { memberFragment, memberPage } from '../components/layout.tsx'
import {
  may,
  mayInAllWorkspaces,
  createApp,
  pathOf,
  scopeOf,
  type ConsoleContext,
} from '../console-context.ts'
import { cookieOptions, YEAR_SECONDS } from '../cookies.ts'
import { redirectTo } from '../form-notices.ts'
import { withQuery } from '../forms.ts'
import { disabledEndpointsCard } from '../components/endpoints.tsx'
import { detailList, tiles, Section, type Figure } from '../components/section.tsx'
import { activitySections, RANGES, readActivity, type Activity } from './overview-activity.tsx'

const RANGE_LABELS: Record<StatisticsRange, string> = {
  '24h': '24 hours',
  '7d': '7 days',
  '30d': '30 days',
  '90d': '90 days',
}
/** How often the figures are read again while the page is visible. */
const LIVE_SECONDS = 30
/** Its value is the user who has hidden the list; its path is that of the organisation. */
const CHECKLIST_COOKIE = 'try-on.checklist'

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
  .post('/checklist/hide', (c) => {
    const options = cookieOptions(c, YEAR_SECONDS, pathOf(c, ''))
    setCookie(c, CHECKLIST_COOKIE, c.var.user.id, options)
    return redirectTo(c, '')
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
    { c, title: 'Overview', heading: organisation.name, credits, script: '/static/chart.js' },
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
        {detailList({
          Plan: billingLink('/billing', nameOfPlan(organisation.plan)),
          Region: `${organisation.regionCode}, billed in ${currency}`,
          'Rate limit': `${organisation.rateLimitPerMinute} requests per minute`,
          'Auto-reload': billingLink(
            '/billing#auto-reload',
            organisation.autoReloadEnabled ? 'On' : 'Off',
          ),
          'Organisation ID': <CopyableId id={organisation.id} label="organisation ID" />,
        })}
      </Section>
    </>,
  )
}

/** The steps from the first test job to production, or null if all are done or the user has hidden them. */
async function goLiveSteps(c: ConsoleContext, creditStatus: Promise<{ balance: number }>) {
  if (getCookie(c, CHECKLIST_COOKIE) === c.var.user.id) return null
  const [state, { balance }] = await Promise.all([readGoLiveState(scopeOf(c)), creditStatus])
  // A step has no label where the member's role does not permit its page.
  const steps = [
    {
      title: 'Create a live key',
      isDone: state.hasLiveKey,
      text: 'Your test key returns placeholders. A live key returns real results.',
      to: '/settings/api-keys',
      label: 'API keys',
    },
    {
      title: 'Receive a webhook',
      isDone: state.hasDelivery,
      text: state.hasWebhookUrl
        ? 'The URL is set. Send a test event to see that your server receives it.'
        : 'Set the URL that receives the results, and send a test event to it.',
      to: '/settings/webhooks',
      label: state.hasWebhookUrl ? 'Send a test event' : 'Set the URL',
    },
    {
      title: 'Complete a live job',
      isDone: state.hasLiveJob,
      text: 'Try it with sample pictures in the playground, or with your live key.',
      to: '/playground',
      label: 'Playground',
    },
    {
      title: 'Make sure that you have credits',
      isDone: state.hasBilling || balance > 0,
      text: 'Each completed live job costs 1 credit. Choose a plan or buy credits.',
      to: '/billing',
      label: may(c, 'billing') ? 'Billing' : null,
    },
  ]
  return steps.every(({ isDone }) => isDone) ? null : steps
}

type Steps = NonNullable<Awaited<ReturnType<typeof goLiveSteps>>>

const GoLiveChecklist = ({ steps }: { steps: Steps }) => {
  const done = steps.filter(({ isDone }) => isDone).length
  return (
    <section class="card checklist" aria-labelledby="checklist">
      <header>
        <h2 id="checklist">Go live</h2>
        <span class="muted">
          {done} of {steps.length} done
        </span>
        <ActionForm to="/checklist/hide" label="Hide" on="this list" />
      </header>
      <ol>
        {steps.map(({ title, isDone, text, to, label }) => (
          <li class={isDone ? 'done' : undefined}>
            <div>
              <strong>{title}</strong> {isDone && <span class="visually-hidden">(done)</span>}
              {!isDone && <p>{text}</p>}
            </div>
            {!isDone && label !== null && <Link to={to}>{label}</Link>}
          </li>
        ))}
      </ol>
    </section>
  )
}

const liveFigures = (c: ConsoleContext, balance: number, activity: Activity | null) => (
  <section
    aria-label="Figures"
    data-live={withQuery(pathOf(c, '/live'), c.req.query())}
    data-live-seconds={LIVE_SECONDS}
  >
    {tiles([
      [
        'Credits',
        <Link to="/credits">
          {formatCredits(balance, currencyOf(c.var.membership.organisation.regionCode))}
        </Link>,
      ],
      ...(activity ? figuresOf(c, activity) : []),
    ])}
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

function figuresOf(c: ConsoleContext, { statistics }: Activity): Figure[] {
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
