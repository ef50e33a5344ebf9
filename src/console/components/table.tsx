// Tables, and what a page shows instead of an empty one.
import type { Child } from 'hono/jsx'
import { CopyButton } from './copyable-text.tsx'
import { Link } from './link.tsx'

/** The place of a column where the container is narrow: before, above at the left or the right, or below. */
type Place = 'thumb' | 'main' | 'side' | 'sub'

/**
 * A table. In a narrow container each row becomes a card: of two lines with the columns of `narrow`, or
 * else of all cells, each with its column's name.
 * @param rows the cells of each row, as many as there are columns
 */
export const Table = ({
  label,
  columns,
  numeric = [],
  narrow,
  rows,
}: {
  label: string
  columns: string[]
  numeric?: string[]
  narrow?: Record<string, Place>
  rows: Child[][]
}) => {
  const classOf = (column: string) =>
    [narrow?.[column], numeric.includes(column) && 'number'].filter(Boolean).join(' ') || undefined
  return (
    <div class={narrow ? 'table lines' : 'table'}>
      <table aria-label={label}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th scope="col" class={numeric.includes(column) ? 'number' : undefined}>
                {narrow?.[column] === 'thumb' ? (
                  <span class="visually-hidden">{column}</span>
                ) : (
                  column
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells) => (
            <tr>
              {columns.map((column, index) => (
                <td data-label={column} class={classOf(column)}>
                  <div>{cells[index]}</div>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

export const EmptyState = ({ title, children }: { title: string; children?: Child }) => (
  <div class="empty">
    <h2>{title}</h2>
    {children}
  </div>
)

/** An ID that links to its page, without its middle, and a button that copies it. */
export const IdLink = ({ to, id }: { to: string; id: string }) => (
  <span class="copyable inline">
    <Link class="id" to={to} title={id}>
      <span aria-hidden="true">{shortId(id)}</span>
      <span class="visually-hidden">{id}</span>
    </Link>
    <CopyButton label="Copy ID" value={id} />
  </span>
)

/** An ID without its middle, and a button that copies it. */
export const ShortId = ({ id }: { id: string }) => (
  <span class="copyable inline">
    <span class="id" title={id}>
      {shortId(id)}
    </span>
    <CopyButton label="Copy ID" value={id} />
  </span>
)

const shortId = (id: string) => (id.length > 20 ? `${id.slice(0, 8)}…${id.slice(-6)}` : id)
