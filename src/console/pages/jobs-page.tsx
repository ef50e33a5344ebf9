// The list of jobs in the mode of the console, with search, filters, live rows and export.
import { useContext } from 'hono/jsx'
import { isActive, listKeyNames } from '../../organisations/api-keys.ts'
import { exportJobs } from '../../privacy/export-jobs.ts'
import { listWorkspaces } from '../../organisations/workspaces.ts'
import {
  isFinal,
  JOB_ERROR_CODES,
  JOB_STATUSES,
  SUBMITTED_IN_CONSOLE,
  type JobStatus,
} from '../../domain/job.ts'
import { createdAtOf, isId } from '../../platform/ids.ts'
import {
  readJobList,
  type FoundPage,
  SCAN_LIMIT,
  type FoundJob,
} from '../../jobs/reports/search.ts'
import { Button, PostForm } from '../components/form.tsx'
import { memberFragment, memberPage } from '../components/layout.tsx'
import { Filters, ShortId, NoRows, pageLinks, Table } from '../components/section.tsx'
import {
  formatCount,
  formatDuration,
  Link,
  Notice,
  OrganisationPath,
  StatusBadge,
  Timestamp,
} from '../components/text.tsx'
import { Cursors, filterOf, isIdPart, JobListQuery } from '../job-filter.ts'
import { createApp, scopeOf, pathOf, type ConsoleContext } from '../console-context.ts'
import { csvResponse } from '../downloads.ts'
import { redirectTo } from '../form-notices.ts'
import { findOwnJob, job } from './job-page.tsx'
import { keyName } from './job-section.tsx'
import { timesOf } from './job-timeline.tsx'
import { fieldsOf, withQuery } from '../forms.ts'

const PAGE_SIZE = 25
/** How often the list is read again while a job of it is unfinished, and while it can get new ones. */
const UNFINISHED_SECONDS = 2
const IDLE_SECONDS = 10

export const jobs = createApp()
  .get('/', async (c) => {
    const query = JobListQuery.parse(c.req.query())
    const { q = '' } = query
    if (isId('job', q) && (await findOwnJob(c, q))) return redirectTo(c, `/jobs/${q}`)
    const listed = await readList(c, query)
    return memberPage(
      { c, title: 'Jobs', heading: null },
      <>
        <div class="bar">
          <h1>Jobs</h1>
          {!isEmptyList(listed.list) && (
            <PostForm to="/jobs/export" class="action" data-download fields={fieldsOf(query)}>
              <Button kind="secondary">Export CSV</Button>
            </PostForm>
          )}
        </div>
        <JobFilters {...listed} />
        {q !== '' && !isIdPart(q) && (
          <Notice kind="bad">Enter a complete job ID or at least 6 characters of one.</Notice>
        )}
        <JobList {...listed} />
      </>,
    )
  })
  .get('/live', async (c) =>
    memberFragment(c, <JobList {...await readList(c, JobListQuery.parse(c.req.query()))} />),
  )
  .post('/export', async (c) => {
    const query = JobListQuery.parse(await c.req.parseBody())
    const pages = await exportJobs(searchOf(c, query))
    return csvResponse(c, { name: `jobs-${c.var.mode}` }, pages)
  })
  .get('/export', (c) => redirectTo(c, '/jobs'))
  .route('/', job)

/** The search of a list in the mode of the console. */
const searchOf = (c: ConsoleContext, query: JobListQuery) => ({
  ...scopeOf(c),
  filter: filterOf(query, c.var.mode),
})

/** A page of the list. The first one is live, since it gets new jobs, and others while a job can change. */
async function readList(c: ConsoleContext, query: JobListQuery) {
  const cursors = Cursors.parse(c.req.query())
  const { before, after } = cursors
  const cursor = after ? { after } : before ? { before } : undefined
  const [list, keys, workspaces] = await Promise.all([
    readJobList({ ...searchOf(c, query), cursor, limit: PAGE_SIZE }),
    listKeyNames(scopeOf(c)),
    listWorkspaces(scopeOf(c)),
  ])
  const isUnfinished = list.rows.some(({ status }) => !isFinal(status))
  const address = pathOf(c, withQuery('/jobs/live', { ...query, ...cursors }))
  const seconds = isUnfinished ? UNFINISHED_SECONDS : IDLE_SECONDS
  // What console.js polls, and how often.
  const live = isUnfinished || !cursor ? { address, seconds } : undefined
  return { query, mode: c.var.mode, list, keys, workspaces, live }
}

type ListedJobs = Awaited<ReturnType<typeof readList>>

/** The statuses whose names do not say who ended the job. */
const STATUS_LABELS: Partial<Record<JobStatus, string>> = {
  refunded: 'refunded (cancelled by you)',
  cancelled: 'cancelled (withdrawn by the service)',
}

const JobFilters = ({ query, keys, workspaces }: ListedJobs) => (
  <Filters
    to="/jobs"
    query={query}
    search={{ label: 'Job ID', maxlength: 100, placeholder: 'Complete ID or a part' }}
    fields={{
      status: ['Status', JOB_STATUSES.map((status) => [status, STATUS_LABELS[status] ?? status])],
    }}
    submit="Search"
    more={{
      error: ['Error code', JOB_ERROR_CODES],
      workspace: ['Workspace', workspaces.map(({ id, name }) => [id, name])],
      key: [
        'API key',
        [
          [SUBMITTED_IN_CONSOLE, 'Console'],
          ...keys.map(
            (apiKey) =>
              [apiKey.id, isActive(apiKey) ? apiKey.name : `${apiKey.name} (revoked)`] as const,
          ),
        ],
      ],
      from: ['From (UTC)'],
      to: ['To (UTC)'],
    }}
  />
)

/** console.js replaces it. */
const JobList = (listed: ListedJobs) => {
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
        <NoRows
          to="/jobs"
          query={query}
          noMatch={`No matching ${mode} jobs`}
          none={`No ${mode} jobs yet`}
        >
          <p>
            Submit one <a href="/docs/quick-start">through the API</a> or in the{' '}
            <Link to="/playground">playground</Link>.
          </p>
        </NoRows>
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
      {pageLinks({
        Newest: newer && withQuery('/jobs', query),
        Newer: newer !== searchedTo && newer && withQuery('/jobs', { ...query, after: newer }),
        Older: older !== searchedTo && older && withQuery('/jobs', { ...query, before: older }),
      })}
    </section>
  )
}

const isEmptyList = ({ rows, newer, searchedTo }: FoundPage) =>
  rows.length === 0 && searchedTo === null && newer === null

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
        <ShortId to={withQuery(`/jobs/${row.id}`, query)} id={row.id} />,
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
