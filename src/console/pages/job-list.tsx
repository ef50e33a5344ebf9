// The page of the list of jobs: filters, number of matches, rows and links to other pages.
import { isActive } from '../../organisations/active-key.ts'
import { JOB_ERROR_CODES, JOB_STATUSES, SUBMITTED_IN_CONSOLE } from '../../domain/job.ts'
import type { JobStatus, Mode } from '../../domain/job.ts'
import { createdAtOf } from '../../platform/ids.ts'
import type { FoundPage } from '../../jobs/reports/read-list.ts'
import { SCAN_LIMIT } from '../../jobs/reports/search.ts'
import { Button, FilterSelect, PostForm } from '../components/form.tsx'
import { Link } from '../components/link.tsx'
import { Notice } from '../components/notice.tsx'
import { EmptyState } from '../components/table.tsx'
import { Timestamp } from '../components/time.tsx'
import type { JobListQuery } from '../job-filter.ts'
import { JobRows } from './job-rows.tsx'
import type { Names } from './job-rows.tsx'
import { formatCount } from '../format-count.ts'
import { fieldsOf, withQuery } from '../query-string.ts'

interface ListProps {
  query: JobListQuery
  mode: Mode
  list: FoundPage
  names: Names
  /** Why the text of the search is not used. */
  problem: string | undefined
  /** The address of the fragment that console.js polls, and how often. */
  live: { address: string; seconds: number } | undefined
}

export const JobList = ({ query, mode, list, names, problem, live }: ListProps) => {
  const fields = fieldsOf(query)
  const isFiltered = Object.keys(fields).length > 0
  return (
    <>
      <div class="bar">
        <h1>Jobs</h1>
        {!isEmptyList(list) && (
          <PostForm to="/jobs/export" class="action" data-download>
            {Object.entries(fields).map(([name, value]) => (
              <input type="hidden" name={name} value={value} />
            ))}
            <Button kind="secondary">Export CSV</Button>
          </PostForm>
        )}
      </div>
      <Filters query={query} names={names} isFiltered={isFiltered} />
      {problem && <Notice kind="bad">{problem}</Notice>}
      <JobListSection {...{ query, mode, list, names, live }} />
    </>
  )
}

/** The rows and their links to other pages. console.js replaces it. */
export const JobListSection = ({ query, mode, list, names, live }: Omit<ListProps, 'problem'>) => {
  const fields = fieldsOf(query)
  const isFiltered = Object.keys(fields).length > 0
  const { rows, newer, older, searchedTo } = list
  return (
    <section
      aria-label="Jobs"
      data-live={live?.address}
      data-live-seconds={live?.seconds}
      data-status={`${countText(list)} jobs`}
    >
      {isEmptyList(list) ? (
        <Empty mode={mode} isFiltered={isFiltered} />
      ) : (
        <>
          <p class="count muted">
            {countText(list)} {mode} {list.matches === 1 && list.isComplete ? 'job' : 'jobs'}
          </p>
          {rows.length > 0 && <JobRows rows={rows} names={names} query={query} />}
        </>
      )}
      {searchedTo !== null && (
        <Notice kind="info">
          {rows.length === 0 ? 'No matches' : 'No more matches'} in {formatCount(SCAN_LIMIT)} jobs
          up to <Timestamp at={createdAtOf(searchedTo)} />.{' '}
          <Link
            to={withQuery('/jobs', {
              ...fields,
              ...(older === searchedTo ? { before: searchedTo } : { after: searchedTo }),
            })}
          >
            Continue searching
          </Link>
        </Notice>
      )}
      <nav aria-label="Pages" class="pages">
        {newer !== null && (
          <>
            <Link to={withQuery('/jobs', fields)}>Newest</Link>
            {newer !== searchedTo && (
              <Link to={withQuery('/jobs', { ...fields, after: newer })}>Newer</Link>
            )}
          </>
        )}
        {older !== null && older !== searchedTo && (
          <Link to={withQuery('/jobs', { ...fields, before: older })}>Older</Link>
        )}
      </nav>
    </section>
  )
}

const isEmptyList = ({ rows, newer, searchedTo }: FoundPage) =>
  rows.length === 0 && searchedTo === null && newer === null

/** `1,000+` when there can be more. */
const countText = ({ matches, isComplete }: FoundPage): string =>
  formatCount(matches) + (isComplete ? '' : '+')

const Empty = ({ mode, isFiltered }: { mode: Mode; isFiltered: boolean }) =>
  isFiltered ? (
    <EmptyState title={`No matching ${mode} jobs`}>
      <p>
        <Link to="/jobs">Clear filters</Link>
      </p>
    </EmptyState>
  ) : (
    <EmptyState title={`No ${mode} jobs yet`}>
      <p>
        Submit one <a href="/docs/quick-start">through the API</a> or in the{' '}
        <Link to="/playground">playground</Link>.
      </p>
    </EmptyState>
  )

/** The statuses whose names do not say who ended the job. */
const STATUS_LABELS: Partial<Record<JobStatus, string>> = {
  refunded: 'refunded (cancelled by you)',
  cancelled: 'cancelled (withdrawn by the service)',
}

const Filters = ({
  query,
  names: { keys, workspaces },
  isFiltered,
}: {
  query: JobListQuery
  names: Names
  isFiltered: boolean
}) => {
  const { q, status, error, workspace, key, from, to } = query
  const isExpanded = [error, workspace, key, from, to].some((value) => value !== undefined)
  return (
    <search>
      <form method="get" class="filters">
        <div class="field">
          <label for="q">Job ID</label>
          <input
            id="q"
            name="q"
            type="search"
            value={q}
            maxlength={100}
            placeholder="Complete ID or a part"
            autocomplete="off"
            spellcheck={false}
          />
        </div>
        <FilterSelect
          name="status"
          label="Status"
          value={status}
          options={JOB_STATUSES.map((value) => [value, STATUS_LABELS[value] ?? value] as const)}
        />
        <Button kind="secondary">Search</Button>
        <details open={isExpanded || undefined}>
          <summary>More filters</summary>
          <div class="filters">
            <FilterSelect name="error" label="Error code" value={error} options={JOB_ERROR_CODES} />
            <FilterSelect
              name="workspace"
              label="Workspace"
              value={workspace}
              options={workspaces.map(({ id, name }) => [id, name])}
            />
            <FilterSelect
              name="key"
              label="API key"
              value={key}
              options={[
                [SUBMITTED_IN_CONSOLE, 'Console'],
                ...keys.map((apiKey): [string, string] => [
                  apiKey.id,
                  isActive(apiKey) ? apiKey.name : `${apiKey.name} (revoked)`,
                ]),
              ]}
            />
            <Day name="from" label="From (UTC)" value={from} />
            <Day name="to" label="To (UTC)" value={to} />
          </div>
        </details>
        {isFiltered && <Link to="/jobs">Clear filters</Link>}
      </form>
    </search>
  )
}

const Day = ({
  name,
  label,
  value,
}: {
  name: string
  label: string
  value: string | undefined
}) => (
  <div class="field">
    <label for={name}>{label}</label>
    <input id={name} name={name} type="date" value={value} />
  </div>
)
