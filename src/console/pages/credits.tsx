// The ledger, entry by entry.
import { Hono } from 'hono'
import { pageOf } from '../../domain/page.ts'
import type { LedgerEntry } from '../../organisation/ledger.ts'
import { organisationStub } from '../../organisation/stub.ts'
import type { ConsoleApp } from '../context.ts'
import { memberPage } from '../components/layout.tsx'
import { Empty, IdLink, Table, When } from '../components/parts.tsx'

const PAGE_SIZE = 50

const KIND_WORDS: Record<LedgerEntry['kind'], string> = {
  grant: 'Added',
  reserve: 'Set aside for a job',
  capture: 'Consumed by a job',
  release: 'Given back',
  rollup: 'Jobs of this day',
}

export const credits = new Hono<ConsoleApp>().get('/', async (c) => {
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
        One credit is one picture. It is set aside when a live job is accepted, consumed when its
        picture is there and given back if there is none.
      </p>
      <dl class="figures">
        <Figure label="Balance" value={totals.balance} />
        <Figure label="Set aside" value={totals.reserved} />
        <Figure label="Consumed" value={totals.consumed} />
        <Figure label="Added in all" value={totals.granted} />
      </dl>
      <section aria-labelledby="ledger-heading">
        <h2 id="ledger-heading">Ledger</h2>
        {page.rows.length === 0 ? (
          <Empty title="No entries yet" />
        ) : (
          <Table
            label="Ledger"
            columns={['When', 'What', 'Credits', 'Balance', 'For']}
            numeric={['Credits', 'Balance']}
            rows={page.rows.map((entry) => [
              <When at={entry.at} />,
              KIND_WORDS[entry.kind],
              entry.amount > 0 ? `+${entry.amount}` : entry.amount,
              entry.balance,
              entry.jobId ? (
                <IdLink href={`/console/jobs/${entry.jobId}`} id={entry.jobId} />
              ) : (
                entry.reason
              ),
            ])}
          />
        )}
        <nav aria-label="Pages" class="pages">
          {paged && <a href="/console/credits">Newest</a>}
          {page.hasMore && (
            <a href={`/console/credits?before=${page.rows.at(-1)?.id ?? 0}`}>Older</a>
          )}
        </nav>
      </section>
    </>,
  )
})

const Figure = ({ label, value }: { label: string; value: number }) => (
  <div>
    <dt>{label}</dt>
    <dd>{value}</dd>
  </div>
)
