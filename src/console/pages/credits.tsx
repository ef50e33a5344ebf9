// The credit balance and the ledger.
import { Hono } from 'hono'
import { pageOf } from '../../domain/page.ts'
import type { LedgerEntry } from '../../organisation/ledger.ts'
import { organisationStub } from '../../organisation/stub.ts'
import { permits } from '../../domain/role.ts'
import type { ConsoleApp, ConsoleContext } from '../context.ts'
import { memberPage } from '../components/layout.tsx'
import { EmptyState, IdLink, Table } from '../components/table.tsx'
import { Timestamp } from '../components/time.tsx'
import { Link } from '../components/link.tsx'

const PAGE_SIZE = 50

const KIND_LABELS: Record<LedgerEntry['kind'], string> = {
  grant: 'Added',
  reversal: 'Taken back',
  reserve: 'Reserved for a job',
  capture: 'Consumed by a job',
  release: 'Released',
  rollup: 'Daily total of jobs',
}

export const credits = new Hono<ConsoleApp>().get('/', async (c) => {
  const { role } = c.var.membership
  const organisation = organisationStub(c.env, c.var.membership.organisation.id)
  const before = Number(c.req.query('before') ?? NaN)
  const paged = Number.isSafeInteger(before)
  const [totals, rows] = await Promise.all([
    organisation.totals(),
    organisation.entries({ limit: PAGE_SIZE + 1, ...(paged && { before }) }),
  ])
  const page = pageOf(rows, PAGE_SIZE)
  return memberPage(
    c,
    { title: 'Credits' },
    <>
      <h1>Credits</h1>
      <p>
        A live job costs one credit. The credit is reserved when the job is accepted, consumed when
        the job completes, and released if it does not.
        {permits(role, 'billing') && (
          <>
            {' '}
            Buy credits under <Link to="/billing">Billing</Link>.
          </>
        )}
      </p>
      <dl class="metrics">
        <Figure label="Balance" value={totals.balance} />
        <Figure label="Reserved" value={totals.reserved} />
        <Figure label="Consumed" value={totals.consumed} />
        <Figure label="Total added" value={totals.granted} />
      </dl>
      <section aria-labelledby="ledger-heading">
        <h2 id="ledger-heading">Ledger</h2>
        {page.rows.length === 0 ? (
          <EmptyState title="No entries yet" />
        ) : (
          <Table
            label="Ledger"
            columns={['Time', 'Type', 'Credits', 'Balance', 'Job or reason']}
            numeric={['Credits', 'Balance']}
            rows={page.rows.map((entry) => [
              <Timestamp at={entry.at} />,
              KIND_LABELS[entry.kind],
              entry.amount > 0 ? `+${entry.amount}` : entry.amount,
              entry.balance,
              entry.jobId ? <JobId c={c} id={entry.jobId} /> : entry.reason,
            ])}
          />
        )}
        <nav aria-label="Pages" class="pages">
          {paged && <Link to="/credits">Newest</Link>}
          {page.hasMore && <Link to={`/credits?before=${page.rows.at(-1)?.id ?? 0}`}>Older</Link>}
        </nav>
      </section>
    </>,
  )
})

const JobId = ({ c, id }: { c: ConsoleContext; id: string }) =>
  permits(c.var.membership.role, 'jobs') ? (
    <IdLink to={`/jobs/${id}`} id={id} />
  ) : (
    <span class="id">{id}</span>
  )

const Figure = ({ label, value }: { label: string; value: number }) => (
  <div>
    <dt>{label}</dt>
    <dd>{value}</dd>
  </div>
)
