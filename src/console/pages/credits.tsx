// The credit balance, totals per month, and the ledger with its filters and its export.
import { Hono } from 'hono'
import { z } from 'zod'
import { permits, permitsUnlimited } from '../../domain/role.ts'
import type { LedgerEntry } from '../../credits/ledger.ts'
import type { LedgerFilter, LedgerRow, MonthTotals } from '../../credits/ledger-reports.ts'
import { organisationStub } from '../../credits/organisation-stub.ts'
import type { ConsoleApp, ConsoleContext } from '../console-context.ts'
import { Button, FilterSelect } from '../components/form.tsx'
import { memberPage } from '../components/layout.tsx'
import { Figures } from '../components/section.tsx'
import { EmptyState, IdLink, Table } from '../components/table.tsx'
import { Timestamp } from '../components/time.tsx'
import { Link } from '../components/link.tsx'
import { csvResponse, rowsOf } from '../csv-response.ts'
import { pathOf } from '../organisation-path.ts'

const PAGE_SIZE = 50
const LEDGER_EXPORT_PAGE_SIZE = 5_000
/** Entries are rolled up after 400 days. */
const MAX_MONTHS = 14

const KIND_LABELS: Record<LedgerEntry['kind'], string> = {
  grant: 'Added',
  reversal: 'Taken back',
  reserve: 'Reserved',
  capture: 'Consumed',
  release: 'Returned',
  rollup: 'Daily total of jobs',
}

const KIND_FILTERS = {
  added: { label: 'Added and taken back', kinds: ['grant', 'reversal'] },
  consumed: { label: 'Consumed', kinds: ['capture', 'rollup'] },
  reserved: { label: 'Reserved', kinds: ['reserve'] },
  returned: { label: 'Returned', kinds: ['release'] },
} satisfies Record<string, { label: string; kinds: LedgerEntry['kind'][] }>
type KindFilter = keyof typeof KIND_FILTERS
const FILTER_NAMES = Object.keys(KIND_FILTERS) as KindFilter[]

/** Ignores invalid filters: users may edit the URL. */
const Query = z.object({
  kind: z.enum(FILTER_NAMES).optional().catch(undefined),
  month: z
    .string()
    .regex(/^20\d\d-(0[1-9]|1[0-2])$/)
    .optional()
    .catch(undefined),
  before: z.coerce.number().int().positive().optional().catch(undefined),
})
type Filter = Pick<z.infer<typeof Query>, 'kind' | 'month'>

export const credits = new Hono<ConsoleApp>()
  .get('/', async (c) => {
    const { before, ...filter } = Query.parse(c.req.query())
    const organisation = organisationStub(c.env, c.var.membership.organisation.id)
    const [totals, page] = await Promise.all([
      organisation.totals(),
      organisation.ledgerPage({
        limit: PAGE_SIZE,
        months: MAX_MONTHS,
        before,
        ...selectionOf(filter),
      }),
    ])
    return memberPage(
      c,
      { title: 'Credits' },
      <>
        <h1>Credits</h1>
        <p>
          A live job costs one credit. Test jobs are free.
          {permits(c.var.membership.role, 'billing') && (
            <>
              {' '}
              Buy credits under <Link to="/billing">Billing</Link>.
            </>
          )}
        </p>
        <Figures
          figures={[
            ['Balance', format(totals.balance)],
            ['Reserved', format(totals.reserved)],
            ['Consumed', format(totals.consumed)],
            ['Total added', format(totals.granted)],
          ]}
        />
        <Explanation />
        {page.months.length > 0 && <Months months={page.months} />}
        <section aria-labelledby="ledger-heading">
          <h2 id="ledger-heading">Ledger</h2>
          <p class="muted">
            One row a job, at the time of its state. The change applies to balance and reserved
            credits together.
          </p>
          <Filters c={c} filter={filter} months={page.months} />
          {page.entries.length === 0 ? (
            <NoEntries filter={filter} hasMore={page.nextBefore !== null} />
          ) : (
            <Entries entries={page.entries} readsJobs={readsAllJobs(c)} />
          )}
          <nav aria-label="Pages" class="pages">
            {before !== undefined && <Link to={`/credits${queryOf(filter)}`}>Newest</Link>}
            {page.nextBefore !== null && (
              <Link to={`/credits${queryOf({ ...filter, before: page.nextBefore })}`}>Older</Link>
            )}
          </nav>
        </section>
      </>,
    )
  })
  .get('/ledger.csv', async (c) => {
    const { kind, month } = Query.parse(c.req.query())
    const name = ['credits', month, kind].filter(Boolean).join('-')
    const pages = rowsOf<number>(LEDGER_COLUMNS, (before) => ledgerRows(c, { kind, month, before }))
    return csvResponse(c, { name, list: 'ledger' }, pages)
  })

/** Whether the member may read the jobs of all workspaces, and therefore the ids of all jobs. */
const readsAllJobs = (c: ConsoleContext) => permitsUnlimited(c.var.membership, 'jobs')

const LEDGER_COLUMNS = [
  'time',
  'type',
  'change',
  'balance',
  'reserved',
  'consumed',
  'job_id',
  'reason',
]

/** A page of the exported file, newest entry first. */
async function ledgerRows(
  c: ConsoleContext,
  { before, ...filter }: Filter & { before?: number | undefined },
) {
  const organisation = organisationStub(c.env, c.var.membership.organisation.id)
  const page = await organisation.ledgerPage({
    limit: LEDGER_EXPORT_PAGE_SIZE,
    before,
    ...selectionOf(filter),
  })
  const rows = page.entries.map((entry) => [
    new Date(entry.at),
    KIND_LABELS[entry.kind],
    entry.change,
    entry.balance,
    entry.reserved,
    entry.consumed,
    readsAllJobs(c) ? entry.jobId : null,
    entry.reason,
  ])
  return { rows, next: page.nextBefore }
}

const selectionOf = ({ kind, month }: Filter): Pick<LedgerFilter, 'kinds' | 'month'> => ({
  month,
  kinds: kind && KIND_FILTERS[kind].kinds,
})

/** The query of a page of the ledger, empty without filters. */
function queryOf({ kind, month, before }: Filter & { before?: number }): string {
  const query = new URLSearchParams({
    ...(kind && { kind }),
    ...(month && { month }),
    ...(before !== undefined && { before: String(before) }),
  })
  return query.size > 0 ? `?${query}` : ''
}

const Explanation = () => (
  <details class="explanation">
    <summary>How credits are reserved, consumed and returned</summary>
    <dl>
      <dt>Reserved</dt>
      <dd>
        A live job moves one credit from the balance to the reserved credits when it is accepted, so
        that it can be paid when it completes.
      </dd>
      <dt>Consumed</dt>
      <dd>The job completed, and its reserved credit is used.</dd>
      <dt>Returned</dt>
      <dd>
        The job ended without an image, and its credit is back in the balance: it failed, you
        cancelled it (<code>refunded</code>), or the service withdrew it (<code>cancelled</code>).
      </dd>
      <dt>Taken back</dt>
      <dd>Credits of a payment that was refunded to you or disputed.</dd>
    </dl>
  </details>
)

const Months = ({ months }: { months: MonthTotals[] }) => (
  <section aria-labelledby="months-heading">
    <h2 id="months-heading">Months</h2>
    <Table
      label="Months"
      columns={['Month', 'Added', 'Consumed', 'Balance at the end']}
      numeric={['Added', 'Consumed', 'Balance at the end']}
      narrow={{ Month: 'main', Consumed: 'side', Added: 'sub' }}
      rows={months.map(({ month, added, consumed, balance }) => [
        <Link to={`/credits?month=${month}`}>{monthName(month)}</Link>,
        signed(added),
        format(consumed),
        format(balance),
      ])}
    />
  </section>
)

const Filters = ({
  c,
  filter,
  months,
}: {
  c: ConsoleContext
  filter: Filter
  months: MonthTotals[]
}) => (
  <div class="bar">
    <form method="get" class="filters" action={pathOf(c, '/credits')}>
      <FilterSelect
        name="kind"
        label="Type"
        value={filter.kind}
        options={FILTER_NAMES.map((name) => [name, KIND_FILTERS[name].label] as const)}
      />
      <FilterSelect
        name="month"
        label="Month"
        value={filter.month}
        options={months.map(({ month }) => [month, monthName(month)] as const)}
      />
      <Button kind="secondary">Apply</Button>
    </form>
    <Link to={`/credits/ledger.csv${queryOf(filter)}`}>Download CSV</Link>
  </div>
)

const NoEntries = ({ filter, hasMore }: { filter: Filter; hasMore: boolean }) =>
  filter.kind || filter.month ? (
    <EmptyState title={hasMore ? 'No matching entries on this page' : 'No matching entries'}>
      <p>
        <Link to="/credits">Clear filters</Link>
      </p>
    </EmptyState>
  ) : (
    <EmptyState title="No entries yet" />
  )

const Entries = ({ entries, readsJobs }: { entries: LedgerRow[]; readsJobs: boolean }) => (
  <Table
    label="Ledger"
    columns={['Time', 'Type', 'Change', 'Balance', 'Reserved', 'Job or reason']}
    numeric={['Change', 'Balance', 'Reserved']}
    narrow={{ Type: 'main', Change: 'side', 'Job or reason': 'sub' }}
    rows={entries.map((entry) => [
      <Timestamp as="ago" at={entry.at} />,
      KIND_LABELS[entry.kind],
      signed(entry.change),
      format(entry.balance),
      format(entry.reserved),
      entry.jobId && readsJobs ? (
        <IdLink to={`/jobs/${entry.jobId}`} id={entry.jobId} />
      ) : (
        entry.reason
      ),
    ])}
  />
)

const format = (credits: number): string => credits.toLocaleString('en').replace('-', '−')

const signed = (credits: number): string => (credits > 0 ? `+${format(credits)}` : format(credits))

const MONTH = new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' })

const monthName = (month: string): string => MONTH.format(new Date(`${month}-01T00:00:00Z`))
