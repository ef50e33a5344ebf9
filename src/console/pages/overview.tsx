// The start page: credits, job statistics and the plan of the organisation.
import { Hono } from 'hono'
import { invitationsTo } from '../../accounts/invitations.ts'
import { STATISTICS_DAYS, statisticsOf } from '../../jobs/statistics.ts'
import { currencyOf } from '../../domain/organisation.ts'
import { organisationStub } from '../../organisation/stub.ts'
import { Chart } from '../components/chart.tsx'
import type { ConsoleApp } from '../context.ts'
import { Notice } from '../components/notice.tsx'
import { memberPage } from '../components/layout.tsx'
import { formatDuration } from '../components/time.tsx'
import { EmptyState } from '../components/table.tsx'

export const overview = new Hono<ConsoleApp>().get('/', async (c) => {
  const { organisation } = c.var.membership
  const [statistics, totals, invited] = await Promise.all([
    statisticsOf({ env: c.env, organisationId: organisation.id, now: Date.now() }),
    organisationStub(c.env, organisation.id).totals(),
    invitationsTo(c.env, c.var.user.email),
  ])
  const ended = statistics.completed + statistics.failed
  return memberPage(
    c,
    { title: 'Overview' },
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
            <a href="/console/credits">{totals.balance}</a>
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
              Submit one in the <a href="/console/playground">playground</a>. Jobs in test mode are
              free.
            </p>
          </EmptyState>
        ) : (
          <Chart days={statistics.days} />
        )}
      </section>
      <section aria-labelledby="organisation-heading">
        <h2 id="organisation-heading">Organisation</h2>
        <dl>
          <dt>Plan</dt>
          <dd class="capitalised">{organisation.plan}</dd>
          <dt>Region</dt>
          <dd>
            {organisation.regionCode}, billed in {currencyOf(organisation.regionCode)}
          </dd>
          <dt>Rate limit</dt>
          <dd>{organisation.rateLimitPerMinute} requests per minute</dd>
          <dt>Auto-reload</dt>
          <dd>{organisation.autoReloadEnabled ? 'On' : 'Off'}</dd>
          <dt>Organisation ID</dt>
          <dd class="id">{organisation.id}</dd>
        </dl>
      </section>
    </>,
  )
})
