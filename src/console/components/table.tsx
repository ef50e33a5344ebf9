// Tables, and what a page shows instead of an empty one.
import type { Child } from 'hono/jsx'
import { Link } from './link.tsx'

/**
 * A table. In a narrow container each row becomes a card, and each cell shows its column's name.
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
  <div class="table">
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

export const EmptyState = ({ title, children }: { title: string; children?: Child }) => (
  <div class="empty">
    <h2>{title}</h2>
    {children}
  </div>
)

/** An ID that links to its page. */
export const IdLink = ({ to, id }: { to: string; id: string }) => (
  <Link class="id" to={to}>
    {id}
  </Link>
)
