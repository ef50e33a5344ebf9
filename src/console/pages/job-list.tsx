// The list of jobs: the number of matches, the rows and the links to other pages.
import { useContext } from 'hono/jsx'
import type { NamedKey } from '../../organisations/api-keys.ts'
import type { WorkspaceRow } from '../../platform/db/schema.ts'
import { SUBMITTED_IN_CONSOLE, type Mode } from '../../domain/job.ts'
import { createdAtOf } from '../../platform/ids.ts'
import type { FoundPage } from '../../jobs/reports/read-list.ts'
import { SCAN_LIMIT, type FoundJob } from '../../jobs/reports/search.ts'
import {
  StatusBadge,
  Link,
  OrganisationPath,
  Notice,
  formatDuration,
  Timestamp,
  formatCount,
} from '../components/text.tsx'
import { NoRows, Pages, IdLink, Table } from '../components/section.tsx'
import type { JobListQuery } from '../job-filter.ts'
import { withQuery } from '../forms.ts'
import { timesOf } from './job-timeline.tsx'

export interface ListedJobs {
  query: JobListQuery
  mode: Mode
  list: FoundPage
  keys: NamedKey[]
  workspaces: WorkspaceRow[]
  /** The address of the fragment that console.js polls, and how often. */
  live: { address: string; seconds: number } | undefined
}

/** console.js replaces it. */
export const JobList = (listed: ListedJobs) => {
  const { query, mode, list, live } = listed
  const { rows, matches, newer, older, searchedTo, isComplete } = list
  // There can be more.
  const count = formatCount(matches) + (isComplete ? '' : '+')
  return (
    <section
      aria-label="Jobs"
      data-live={live?.address}
      data-live-seconds={live?.seconds}
      data-status={`${count} jobs`}
    >
      {isEmptyList(list) ? (
        <NoJobs query={query} mode={mode} />
      ) : (
        <p class="count muted">
          {count} {mode} {matches === 1 && isComplete ? 'job' : 'jobs'}
        </p>
      )}
      {rows.length > 0 && <Rows {...listed} />}
      {searchedTo !== null && (
        <Notice kind="info">
          {rows.length === 0 ? 'No matches' : 'No more matches'} in {formatCount(SCAN_LIMIT)} jobs
          up to <Timestamp at={createdAtOf(searchedTo)} />.{' '}
          <Link
            to={withQuery('/jobs', {
              ...query,
              ...(older === searchedTo ? { before: searchedTo } : { after: searchedTo }),
            })}
          >
            Continue searching
          </Link>
        </Notice>
      )}
      <Pages
        links={{
          Newest: newer && withQuery('/jobs', query),
          Newer: newer !== searchedTo && newer && withQuery('/jobs', { ...query, after: newer }),
          Older: older !== searchedTo && older && withQuery('/jobs', { ...query, before: older }),
        }}
      />
    </section>
  )
}

export const isEmptyList = ({ rows, newer, searchedTo }: FoundPage) =>
  rows.length === 0 && searchedTo === null && newer === null

const NoJobs = ({ query, mode }: Pick<ListedJobs, 'query' | 'mode'>) => {
  const isFiltered = withQuery('', query) !== ''
  return (
    <NoRows
      title={isFiltered ? `No matching ${mode} jobs` : `No ${mode} jobs yet`}
      clear={isFiltered && '/jobs'}
    >
      <p>
        Submit one <a href="/docs/quick-start">through the API</a> or in the{' '}
        <Link to="/playground">playground</Link>.
      </p>
    </NoRows>
  )
}

/** Their links have the filters of the list, which the page of a job uses for its neighbours. */
const Rows = ({ list: { rows }, keys, workspaces, query }: ListedJobs) => {
  const workspaceNames = new Map(workspaces.map(({ id, name }) => [id, name]))
  return (
    <Table
      label="Jobs"
      columns={['Picture', 'Job', 'Status', 'Key', 'Workspace', 'Submitted', 'Total time']}
      numeric={['Total time']}
      narrow={{ Picture: 'thumb', Status: 'main', Submitted: 'side', Job: 'sub' }}
      rows={rows.map((row) => [
        <JobThumbnail job={row} />,
        <IdLink to={withQuery(`/jobs/${row.id}`, query)} id={row.id} />,
        <>
          <StatusBadge status={row.status} />
          {row.status === 'failed' && row.errorCode && (
            <code class="subline cut" title={row.errorCode}>
              {row.errorCode}
            </code>
          )}
        </>,
        keyName(row.apiKeyId, keys) ?? <span class="muted">–</span>,
        <span class="name">{workspaceNames.get(row.workspaceId) ?? row.workspaceId}</span>,
        <Timestamp at={row.createdAt} as="ago" />,
        formatDuration(timesOf(row).totalMs),
      ])}
    />
  )
}

/** What submitted a job; undefined for jobs from before keys were stored. */
export function keyName(apiKeyId: string | null, keys: NamedKey[]) {
  if (apiKeyId === null) return undefined
  if (apiKeyId === SUBMITTED_IN_CONSOLE) return <span class="name">Console</span>
  return <span class="name">{keys.find(({ id }) => id === apiKeyId)?.name ?? 'Deleted key'}</span>
}

/** The picture is decorative: the link to the job is next to it. */
const JobThumbnail = ({ job: { id, mode, status, outputFormat } }: { job: FoundJob }) => {
  const organisationPath = useContext(OrganisationPath)
  // Every test job has the same placeholder as its result.
  if (mode === 'test' || status !== 'completed' || outputFormat === null) {
    return <span class={`thumbnail ${status}`} aria-hidden="true"></span>
  }
  return (
    <img
      class="thumbnail"
      src={`${organisationPath}/jobs/${id}/thumbnail`}
      alt=""
      width="24"
      height="32"
      loading="lazy"
      decoding="async"
    />
  )
}
