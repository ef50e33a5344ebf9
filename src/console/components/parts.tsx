// Small parts that several pages show.
import type { Child } from 'hono/jsx'
import type { WebhookEventRow } from '../../db/schema.ts'
import type { JobStatus } from '../../domain/job.ts'

const dateFormat = (timeStyle: 'short' | 'medium') =>
  new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle, timeZone: 'UTC' })
const TO_THE_MINUTE = dateFormat('short')
const TO_THE_SECOND = dateFormat('medium')

/**
 * An instant in UTC; the script turns it into the reader's own time.
 * @param precise with seconds, where one thing follows closely upon another
 */
export const When = ({
  at,
  precise = false,
}: {
  at: Date | number | null | undefined
  precise?: boolean
}) => {
  if (at === null || at === undefined) return <span class="quiet">never</span>
  const date = new Date(at)
  return (
    <time datetime={date.toISOString()} data-precise={precise || undefined}>
      {(precise ? TO_THE_SECOND : TO_THE_MINUTE).format(date)} UTC
    </time>
  )
}

/** `1.2 s` or `340 ms`. */
export const duration = (ms: number | null): string =>
  ms === null ? '–' : ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`

const TONES: Record<JobStatus | 'active' | 'revoked' | 'archived', string> = {
  pending: 'waiting',
  processing: 'waiting',
  completed: 'good',
  failed: 'bad',
  cancelled: 'off',
  refunded: 'off',
  active: 'good',
  revoked: 'off',
  archived: 'off',
}

export const Status = ({ status }: { status: keyof typeof TONES }) => (
  <span class={`badge ${TONES[status]}`}>{status}</span>
)

const DELIVERY_TONES: Record<WebhookEventRow['status'], string> = {
  pending: 'waiting',
  retrying: 'waiting',
  delivered: 'good',
  failed: 'bad',
}

export const Delivery = ({ status }: { status: WebhookEventRow['status'] }) => (
  <span class={`badge ${DELIVERY_TONES[status]}`}>{status}</span>
)

export const Mode = ({ mode }: { mode: 'live' | 'test' }) => (
  <span class={`badge ${mode}`}>{mode}</span>
)

export const Empty = ({ title, children }: { title: string; children?: Child }) => (
  <div class="empty">
    <h2>{title}</h2>
    {children}
  </div>
)

/** A secret that is shown once or on demand, with a button for copying it. */
export const Copyable = ({ label, text }: { label: string; text: string }) => (
  <div class="copyable">
    <pre tabindex={0} role="group" aria-label={label}>
      <code data-copy-source>{text}</code>
    </pre>
    <button type="button" class="secondary" data-copy hidden>
      Copy
    </button>
  </div>
)

/**
 * A table, whose rows become cards where there is no room for the columns: each cell then bears its
 * column's name.
 * @param rows the cells of each row, as many as there are columns
 */
export const Table = ({
  label,
  columns,
  numeric = [],
  rows,
}: {
  label: string
  columns: string[]
  numeric?: string[]
  rows: Child[][]
}) => (
  <div class="listing">
    <table aria-label={label}>
      <thead>
        <tr>
          {columns.map((column) => (
            <th scope="col" class={numeric.includes(column) ? 'number' : undefined}>
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((cells) => (
          <tr>
            {columns.map((column, index) => (
              <td data-label={column} class={numeric.includes(column) ? 'number' : undefined}>
                <div>{cells[index]}</div>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)

/** An id that leads to what it names. */
export const IdLink = ({ href, id }: { href: string; id: string }) => (
  <a class="id" href={href}>
    {id}
  </a>
)
