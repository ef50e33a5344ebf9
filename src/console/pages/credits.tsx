// The credit balance, totals per month, and the ledger with its filters and its export.
import { z } from 'zod'
import type { LedgerEntry } from '../../credits/ledger.ts'
import type { LedgerPage, MonthTotals } from '../../credits/ledger-reports.ts'
import { organisationStub } from '../../credits/organisation-stub.ts'
import { may, mayInAllWorkspaces, createApp, type ConsoleContext } from '../console-context.ts'
import { memberPage } from '../components/layout.tsx'
import {
  detailList,
  Filters,
  NoRows,
  pageLinks,
  tiles,
  Section,
  ShortId,
  Table,
} from '../components/section.tsx'
import { formatCount, Timestamp, Link } from '../components/text.tsx'
import { csvResponse, rowsOf } from '../downloads.ts'
import { parameter, withQuery } from '../forms.ts'

const PATH = '/credits'
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

const Filter = z.object({
  kind: parameter(z.enum(Object.keys(KIND_FILTERS) as (keyof typeof KIND_FILTERS)[])),
  month: parameter(z.string().regex(/^20\d\d-(0[1-9]|1[0-2])$/)),
})
type Filter = z.infer<typeof Filter>
const Before = parameter(z.coerce.number().int().positive())

/** What a page of the ledger contains. */
const selectionOf = ({ kind, month }: Filter) => ({
  month,
  kinds: kind && KIND_FILTERS[kind].kinds,
})

const ledgerOf = (c: ConsoleContext) => organisationStub(c.env, c.var.membership.organisation.id)

export const credits = createApp()
  .get('/', async (c) => {
    const filter = Filter.parse(c.req.query())
    const before = Before.parse(c.req.query('before'))
    const [totals, page] = await Promise.all([
      ledgerOf(c).totals(),
      ledgerOf(c).ledgerPage({
        limit: PAGE_SIZE,
        months: MAX_MONTHS,
        before,
        ...selectionOf(filter),
      }),
    ])
    return memberPage(
      { c, title: 'Credits' },
      <>
        <p>
          A live job costs one credit. Test jobs are free.
          {may(c, 'billing') && (
            <>
              {' '}
              Buy credits under <Link to="/billing">Billing</Link>.
            </>
          )}
        </p>
        {tiles([
          ['Balance', format(totals.balance)],
          ['Reserved', format(totals.reserved)],
          ['Consumed', format(totals.consumed)],
          ['Total added', format(totals.granted)],
        ])}
        <Explanation />
        {page.months.length > 0 && <Months months={page.months} />}
        <Section id="ledger-heading" title="Ledger">
          <p class="muted">
            One row a job, at the time of its state. The change applies to balance and reserved
            credits together.
          </p>
          <div class="bar">
            <Filters
              to={PATH}
              query={filter}
              fields={{
                kind: [
                  'Type',
                  Object.entries(KIND_FILTERS).map(([name, { label }]) => [name, label]),
                ],
                month: ['Month', page.months.map(({ month }) => [month, monthName(month)])],
              }}
              submit="Apply"
            />
            <Link to={withQuery(`${PATH}/ledger.csv`, filter)}>Download CSV</Link>
          </div>
          {ledgerTable(c, page, filter)}
          {pageLinks({
            Newest: before !== undefined && withQuery(PATH, filter),
            Older:
              page.nextBefore !== null &&
              withQuery(PATH, { ...filter, before: String(page.nextBefore) }),
          })}
        </Section>
      </>,
    )
  })
  .get('/ledger.csv', async (c) => {
    const filter = Filter.parse(c.req.query())
    const name = ['credits', filter.month, filter.kind].filter(Boolean).join('-')
    const read = async (before?: number) => {
      const limit = LEDGER_EXPORT_PAGE_SIZE
      const page = await ledgerOf(c).ledgerPage({ limit, before, ...selectionOf(filter) })
      return { rows: page.entries, next: page.nextBefore }
    }
    const pages = rowsOf(read, {
      time: (entry) => new Date(entry.at),
      type: (entry) => KIND_LABELS[entry.kind],
      change: (entry) => entry.change,
      balance: (entry) => entry.balance,
      reserved: (entry) => entry.reserved,
      consumed: (entry) => entry.consumed,
      job_id: (entry) => (mayInAllWorkspaces(c, 'jobs') ? entry.jobId : null),
      reason: (entry) => entry.reason,
    })
    return csvResponse(c, { name, list: 'ledger' }, pages)
  })

const Explanation = () => (
  <details class="more">
    <summary>How credits are reserved, consumed and returned</summary>
    {detailList({
      Reserved:
        'A live job moves one credit from the balance to the reserved credits when it is accepted, so that it can be paid when it completes.',
      Consumed: 'The job completed, and its reserved credit is used.',
      Returned: (
        <>
          The job ended without an image, and its credit is back in the balance: it failed, you
          cancelled it (<code>refunded</code>), or the service withdrew it (<code>cancelled</code>).
        </>
      ),
      'Taken back': 'Credits of a payment that was refunded to you or disputed.',
    })}
  </details>
)

const Months = ({ months }: { months: MonthTotals[] }) => (
  <Section id="months-heading" title="Months">
    <Table
      label="Months"
      columns={['Month', 'Added', 'Consumed', 'Balance at the end']}
      numeric={['Added', 'Consumed', 'Balance at the end']}
      narrow={{ Month: 'main', Consumed: 'side', Added: 'sub' }}
      rows={months.map(({ month, added, consumed, balance }) => [
        <Link to={withQuery(PATH, { month })}>{monthName(month)}</Link>,
        signed(added),
        format(consumed),
        format(balance),
      ])}
    />
  </Section>
)

function ledgerTable(c: ConsoleContext, { entries, nextBefore }: LedgerPage, filter: Filter) {
  const noMatch = `No matching entries${nextBefore === null ? '' : ' on this page'}`
  return (
    <Table
      label="Ledger"
      empty={<NoRows to={PATH} query={filter} noMatch={noMatch} none="No entries yet" />}
      columns={['Time', 'Type', 'Change', 'Balance', 'Reserved', 'Job or reason']}
      numeric={['Change', 'Balance', 'Reserved']}
      narrow={{ Type: 'main', Change: 'side', 'Job or reason': 'sub' }}
      rows={entries.map((entry) => [
        <Timestamp as="ago" at={entry.at} />,
        KIND_LABELS[entry.kind],
        signed(entry.change),
        format(entry.balance),
        format(entry.reserved),
        entry.jobId && mayInAllWorkspaces(c, 'jobs') ? (
          <ShortId to={`/jobs/${entry.jobId}`} id={entry.jobId} />
        ) : (
          entry.reason
        ),
      ])}
    />
  )
}

const format = (credits: number): string => formatCount(credits).replace('-', '−')

const signed = (credits: number): string => (credits > 0 ? `+${format(credits)}` : format(credits))

const MONTH = new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' })

const monthName = (month: string): string => MONTH.format(new Date(`${month}-01T00:00:00Z`))
