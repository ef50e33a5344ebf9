// Parts of pages: sections, lists of names and values, tabs, tables, and lists with their filters and pages.
import { useContext, type Child } from 'hono/jsx'
import { CopyButton } from './copyable-text.tsx'
import { Link, OrganisationPath } from './text.tsx'
import { fieldsOf } from '../forms.ts'
import { Button, FilterSelect } from './form.tsx'

interface SectionProps {
  id: string
  title: Child
  /** Shows a frame. */
  card?: boolean
  /** Beside the heading. */
  action?: Child
  children?: Child
}

export const Section = ({ id, title, card = false, action, children }: SectionProps) => (
  <section class={card ? 'card' : undefined} aria-labelledby={id}>
    {action === undefined ? (
      <h2 id={id}>{title}</h2>
    ) : (
      <div class="bar">
        <h2 id={id}>{title}</h2>
        {action}
      </div>
    )}
    {children}
  </section>
)

/** @param rows values by their names; a row without a value is left out */
export const detailList = (rows: Record<string, Child>, style?: 'roles' | 'questions') => (
  <dl class={style}>
    {Object.entries(rows).map(
      ([name, value]) => value != null && value !== false && [<dt>{name}</dt>, <dd>{value}</dd>],
    )}
  </dl>
)

/** A number or fact, with an optional line below. */
export type Figure = false | null | [label: string, value: Child, note?: Child]

/** Numbers and facts as tiles. */
export const tiles = (figures: Figure[]) => (
  <dl class="metrics">
    {figures.map(
      (figure) =>
        figure && (
          <div>
            <dt>{figure[0]}</dt>
            <dd>{figure[1]}</dd>
            {figure[2] && <dd class="note">{figure[2]}</dd>}
          </div>
        ),
    )}
  </dl>
)

interface TabsProps {
  label: string
  shown: string
  tabs: [id: string, label: string, content: Child][]
}

/**
 * Sections of a page of which one is shown. The tabs are links to the sections, so that a link to anything in a
 * section opens it, without a script.
 * @param shown the section that an address without a fragment shows
 */
export const Tabs = ({ label, shown, tabs }: TabsProps) => (
  <div class="tabs">
    <nav aria-label={label}>
      {tabs.map(([id, text]) => (
        <a href={`#${id}`} class={id === shown ? 'shown' : undefined}>
          {text}
        </a>
      ))}
    </nav>
    {tabs.map(([id, , content]) => (
      <div id={id} class={id === shown ? 'panel shown' : 'panel'}>
        {content}
      </div>
    ))}
  </div>
)

interface TableProps {
  label: string
  columns: string[]
  numeric?: string[]
  /** Of a column where the container is narrow: before, above at the left or the right, or below. */
  narrow?: Record<string, 'thumb' | 'main' | 'side' | 'sub'>
  rows: Child[][]
  /** Instead of a table without rows. */
  empty?: Child
}

/**
 * A table. In a narrow container each row becomes a card: of two lines with the columns of `narrow`, or
 * else of all cells, each with its column's name.
 * @param rows the cells of each row, as many as there are columns
 */
export const Table = ({ label, columns, numeric = [], narrow, rows, empty }: TableProps) => {
  if (rows.length === 0 && empty !== undefined) return empty
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

/** An ID without its middle, and a button that copies it. @param to the page of what it identifies */
export const ShortId = ({ id, to }: { id: string; to?: string }) => {
  const short = id.length > 20 ? `${id.slice(0, 8)}…${id.slice(-6)}` : id
  return (
    <span class="copyable inline">
      {to === undefined ? (
        <span class="id" title={id}>
          {short}
        </span>
      ) : (
        <Link class="id" to={to} title={id}>
          <span aria-hidden="true">{short}</span>
          <span class="visually-hidden">{id}</span>
        </Link>
      )}
      <CopyButton label="Copy ID" value={id} />
    </span>
  )
}

/** The label and the options of each field, by its name. A date has no options. */
type FilterFields = Record<
  string,
  false | [label: string, options?: Parameters<typeof FilterSelect>[0]['options']]
>

interface FiltersProps {
  to: string
  /** What is set, by the names of the fields. */
  query: object
  /** The field `q`, for a list that is searched. */
  search?: { label: string; maxlength?: number; placeholder?: string }
  fields?: FilterFields
  /** The text of the button. */
  submit?: string
  /** Fields that are used rarely. */
  more?: FilterFields
}

export const Filters = ({ to, query, search, fields = {}, submit, more }: FiltersProps) => {
  const values = fieldsOf(query)
  return (
    <search>
      <form method="get" action={useContext(OrganisationPath) + to} class="filters">
        {search && <SearchField {...search} value={values['q']} />}
        {filterFields(fields, values)}
        <Button kind="secondary">{submit ?? 'Filter'}</Button>
        {more && (
          <details open={Object.keys(more).some((name) => name in values)}>
            <summary>More filters</summary>
            <div class="filters">{filterFields(more, values)}</div>
          </details>
        )}
        {Object.keys(values).length > 0 && <Link to={to}>Clear filters</Link>}
      </form>
    </search>
  )
}

const filterFields = (fields: FilterFields, values: Record<string, string>) =>
  Object.entries(fields).map(([name, field]) => {
    if (!field) return null
    const [label, options] = field
    if (options) return <FilterSelect {...{ name, label, options }} value={values[name]} />
    return (
      <div class="field">
        <label for={name}>{label}</label>
        <input id={name} name={name} type="date" value={values[name]} />
      </div>
    )
  })

const SearchField = ({
  label,
  ...attributes
}: NonNullable<FiltersProps['search']> & { value: string | undefined }) => (
  <div class="field">
    <label for="q">{label}</label>
    <input id="q" name="q" type="search" autocomplete="off" spellcheck={false} {...attributes} />
  </div>
)

interface NoRowsProps {
  to: string
  /** The filters that are set. */
  query: object
  /** The title of a filtered list. */
  noMatch: string
  /** The title of a list that has no rows at all. */
  none: string
  /** How the list gets its first rows. */
  children?: Child
}

/** What a list without rows says. */
export const NoRows = ({ to, query, noMatch, none, children }: NoRowsProps) =>
  Object.keys(fieldsOf(query)).length > 0 ? (
    <EmptyState title={noMatch}>
      <p>
        <Link to={to}>Clear filters</Link>
      </p>
    </EmptyState>
  ) : (
    <EmptyState title={none}>{children}</EmptyState>
  )

/** Links to other pages, by their texts. Those without an address are left out. */
export const pageLinks = (
  links: Record<string, string | false | null | undefined>,
  label = 'Pages',
) => {
  const shown = Object.entries(links).flatMap(([text, to]) =>
    to ? [<Link to={to}>{text}</Link>] : [],
  )
  return shown.length === 0 ? null : (
    <nav aria-label={label} class="pages">
      {shown}
    </nav>
  )
}
