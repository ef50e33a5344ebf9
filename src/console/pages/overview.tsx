// The first page: what the organisation has, and how its jobs went.
import { Hono } from 'hono'
import { invitationsTo } from '../../accounts/invitations.ts'
import { STATISTICS_DAYS, statisticsOf } from '../../jobs/statistics.ts'
import { currencyOf } from '../../domain/organisation.ts'
import { organisationStub } from '../../organisation/stub.ts'
import { Chart } from '../components/chart.tsx'
import type { ConsoleApp } from '../context.ts'
import { Notice } from '../components/form.tsx'
import { memberPage } from '../components/layout.tsx'
import { duration, Empty } from '../components/parts.tsx'

export const overview = new Hono<ConsoleApp>().get('/', async (c) => {
  const { organisation } = c.var.membership
  const [statistics, totals, invited] = await Promise.all([
    statisticsOf({ env: c.env, organisationId: organisation.id, now: Date.now() }),
    organisationStub(c.env, organisation.id).totals(),
    invitationsTo(c.env, c.var.person.email),
  ])
  const ended = statistics.completed + statistics.failed
  return memberPage(
    c,
    { title: 'Overview' },
    <>
      <h1>{organisation.name}</h1>
      {invited.map(({ organisation: other }) => (
        <Notice kind="info">
          You are invited to join {other.name}.{' '}
          <a href="/console/invitations">See the invitation</a>
        </Notice>
      ))}
      <dl class="figures">
        <div>
          <dt>Credits</dt>
          <dd>
            <a href="/console/credits">{totals.balance}</a>
          </dd>
        </div>
        <div>
          <dt>Jobs, {STATISTICS_DAYS} days</dt>
          <dd>{statistics.total}</dd>
        </div>
        <div>
          <dt>Success rate</dt>
          <dd>{ended === 0 ? '–' : `${Math.round((statistics.completed / ended) * 100)} %`}</dd>
        </div>
        <div>
          <dt>Median duration</dt>
          <dd>{duration(statistics.medianMs)}</dd>
        </div>
      </dl>
      <section aria-labelledby="jobs-heading">
        <h2 id="jobs-heading">Jobs over the last {STATISTICS_DAYS} days</h2>
        {statistics.total === 0 ? (
          <Empty title="No jobs yet">
            <p>
              Try one in the <a href="/console/playground">playground</a>; test jobs are free.
            </p>
          </Empty>
        ) : (
          <Chart days={statistics.days} />
        )}
      </section>
      <section aria-labelledby="account-heading">
        <h2 id="account-heading">Account</h2>
        <dl>
          <dt>Plan</dt>
          <dd class="capital">{organisation.plan}</dd>
          <dt>Region</dt>
          <dd>
            {organisation.regionCode}, billed in {currencyOf(organisation.regionCode)}
          </dd>
          <dt>Rate limit</dt>
          <dd>{organisation.rateLimitPerMinute} requests a minute</dd>
          <dt>Auto-reload of credits</dt>
          <dd>{organisation.autoReloadEnabled ? 'on' : 'off'}</dd>
          <dt>Organisation id</dt>
          <dd class="id">{organisation.id}</dd>
        </dl>
      </section>
    </>,
  )
})
