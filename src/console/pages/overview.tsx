// The start page: credits, job statistics and the plan of the organisation.
import { Hono } from 'hono'
import { invitationsTo } from '../../accounts/invitations.ts'
import { STATISTICS_DAYS, statisticsOf } from '../../jobs/statistics.ts'
import type { Statistics } from '../../jobs/statistics.ts'
import { formatCredits } from '../../billing/money.ts'
import { nameOfPlan } from '../../billing/plans.ts'
import { permits } from '../../domain/role.ts'
import { currencyOf } from '../../domain/organisation.ts'
import { organisationStub } from '../../organisation/stub.ts'
import { Chart } from '../components/chart.tsx'
import type { Series } from '../components/chart.tsx'
import type { ConsoleApp } from '../context.ts'
import { Notice } from '../components/notice.tsx'
import { memberPage } from '../components/layout.tsx'
import { formatDuration } from '../components/time.tsx'
import { EmptyState } from '../components/table.tsx'
import { Link } from '../components/link.tsx'

export const overview = new Hono<ConsoleApp>().get('/', async (c) => {
  const { organisation, role } = c.var.membership
  const currency = currencyOf(organisation.regionCode)
  const [statistics, credits, invited] = await Promise.all([
    statisticsOf({ env: c.env, organisationId: organisation.id, now: Date.now() }),
    organisationStub(c.env, organisation.id).creditStatus(),
    invitationsTo(c.env, c.var.user.email),
  ])
  const series = (
    label: string,
    colour: Series['colour'],
    count: (day: Statistics['days'][number]) => number,
  ): Series => ({ label, colour, counts: statistics.days.map(count) })
  const ended = statistics.completed + statistics.failed
  return memberPage(
    c,
    { title: 'Overview', credits },
    <>
      <h1>{organisation.name}</h1>
      {invited.map(({ organisation: other }) => (
        <Notice kind="info">
          You have been invited to join {other.name}.{' '}
          <a href="/console/invitations">View invitations</a>
        </Notice>
      ))}
      <dl class="metrics">
        <div>
          <dt>Credits</dt>
          <dd>
            <Link to="/credits">{formatCredits(credits.balance, currency)}</Link>
          </dd>
        </div>
        <div>
          <dt>Jobs in {STATISTICS_DAYS} days</dt>
          <dd>{statistics.total}</dd>
        </div>
        <div>
          <dt>Success rate</dt>
          <dd>{ended === 0 ? '–' : `${Math.round((statistics.completed / ended) * 100)}%`}</dd>
        </div>
        <div>
          <dt>Median duration</dt>
          <dd>{formatDuration(statistics.medianMs)}</dd>
        </div>
      </dl>
      <section aria-labelledby="jobs-heading">
        <h2 id="jobs-heading">Jobs in the last {STATISTICS_DAYS} days</h2>
        {statistics.total === 0 ? (
          <EmptyState title="No jobs yet">
            <p>
              {permits(role, 'develop') && (
                <>
                  Submit one in the <Link to="/playground">playground</Link>.{' '}
                </>
              )}
              Follow the <a href="/docs/quick-start">quick start</a>. Jobs in test mode are free.
            </p>
          </EmptyState>
        ) : (
          <Chart
            caption="Jobs per day"
            days={statistics.days.map(({ day }) => day)}
            series={[
              series('Completed', 'good', ({ completed }) => completed),
              series('Failed', 'bad', ({ failed }) => failed),
              series('Other', 'off', ({ other }) => other),
            ]}
          />
        )}
      </section>
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
          <dd class="id">{organisation.id}</dd>
        </dl>
      </section>
    </>,
  )
})
