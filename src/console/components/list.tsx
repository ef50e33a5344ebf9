// What the pages of lists share: the heading with a download, the filters, what an empty list says, and the
// links to its other pages.
import { useContext, type Child } from 'hono/jsx'
import { fieldsOf } from '../query-string.ts'
import { Button, FilterSelect } from './form.tsx'
import { Link, OrganisationPath } from './link.tsx'
import { EmptyState } from './table.tsx'

/** The heading of a list that can be downloaded. @param csv the address of the file */
export const ListHeading = ({ title, csv }: { title: string; csv: string }) => (
  <div class="bar">
    <h1>{title}</h1>
    <Link to={csv}>Download CSV</Link>
  </div>
)

type Options = Parameters<typeof FilterSelect>[0]['options']

interface FiltersProps {
  to: string
  /** What is set, by the names of the fields. */
  query: object
  /** The field `q`, for a list that is searched. */
  search?: { label: string; maxlength?: number; placeholder?: string }
  selects: (false | [name: string, label: string, options: Options])[]
  /** The text of the button. */
  submit?: string
  /** Filters that are used rarely. */
  children?: Child
}

export const Filters = ({ to, query, search, selects, submit, children }: FiltersProps) => {
  const values = fieldsOf(query)
  return (
    <search>
      <form method="get" action={useContext(OrganisationPath) + to} class="filters">
        {search && <SearchField {...search} value={values['q']} />}
        {selects.map(
          (select) =>
            select && (
              <FilterSelect
                name={select[0]}
                label={select[1]}
                value={values[select[0]]}
                options={select[2]}
              />
            ),
        )}
        <Button kind="secondary">{submit ?? 'Filter'}</Button>
        {children}
        {Object.keys(values).length > 0 && <Link to={to}>Clear filters</Link>}
      </form>
    </search>
  )
}

const SearchField = ({
  label,
  ...attributes
}: NonNullable<FiltersProps['search']> & { value: string | undefined }) => (
  <div class="field">
    <label for="q">{label}</label>
    <input id="q" name="q" type="search" autocomplete="off" spellcheck={false} {...attributes} />
  </div>
)

/**
 * What a list without rows says.
 * @param clear the address of the list without filters, if there are any
 * @param children how the list gets its first rows
 */
export const NoRows = ({
  title,
  clear,
  children,
}: {
  title: string
  clear: string | false
  children?: Child
}) => (
  <EmptyState title={title}>
    {clear ? (
      <p>
        <Link to={clear}>Clear filters</Link>
      </p>
    ) : (
      children
    )}
  </EmptyState>
)

/** Links to other pages, by their texts. Those without an address are left out. */
export const Pages = ({
  label = 'Pages',
  links,
}: {
  label?: string
  links: Record<string, string | false | null | undefined>
}) => {
  const shown = Object.entries(links).flatMap(([text, to]) =>
    to ? [<Link to={to}>{text}</Link>] : [],
  )
  return shown.length === 0 ? null : (
    <nav aria-label={label} class="pages">
      {shown}
    </nav>
  )
}
