// The list of jobs in the mode of the console, with search, filters, live rows and export.
import { Hono } from 'hono'
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
import { isId } from '../../platform/ids.ts'
import { readJobList } from '../../jobs/reports/read-list.ts'
import { Button, FilterSelect, PostForm } from '../components/form.tsx'
import { memberFragment, memberPage } from '../components/layout.tsx'
import { Filters } from '../components/section.tsx'
import { Notice } from '../components/text.tsx'
import { Cursors, filterOf, isIdPart, JobListQuery } from '../job-filter.ts'
import { scopeOf, pathOf, type ConsoleApp, type ConsoleContext } from '../console-context.ts'
import { csvResponse } from '../downloads.ts'
import { redirectTo } from '../form-notices.ts'
import { isEmptyList, JobList, type ListedJobs } from './job-list.tsx'
import { findOwnJob, job } from './job-page.tsx'
import { fieldsOf, withQuery } from '../forms.ts'

const PAGE_SIZE = 25
/** How often the list is read again while a job of it is unfinished, and while it can get new ones. */
const UNFINISHED_SECONDS = 2
const IDLE_SECONDS = 10

export const jobs = new Hono<ConsoleApp>()
  .get('/', async (c) => {
    const query = JobListQuery.parse(c.req.query())
    const { q = '' } = query
    if (isId('job', q) && (await findOwnJob(c, q))) return redirectTo(c, `/jobs/${q}`)
    const listed = await readList(c, query)
    return memberPage(
      c,
      { title: 'Jobs' },
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
async function readList(c: ConsoleContext, query: JobListQuery): Promise<ListedJobs> {
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
  const live = isUnfinished || !cursor ? { address, seconds } : undefined
  return { query, mode: c.var.mode, list, keys, workspaces, live }
}

/** The statuses whose names do not say who ended the job. */
const STATUS_LABELS: Partial<Record<JobStatus, string>> = {
  refunded: 'refunded (cancelled by you)',
  cancelled: 'cancelled (withdrawn by the service)',
}

const JobFilters = ({ query, keys, workspaces }: ListedJobs) => {
  const { error, workspace, key, from, to } = query
  const isExpanded = [error, workspace, key, from, to].some((value) => value !== undefined)
  return (
    <Filters
      to="/jobs"
      query={query}
      search={{ label: 'Job ID', maxlength: 100, placeholder: 'Complete ID or a part' }}
      selects={[
        [
          'status',
          'Status',
          JOB_STATUSES.map((status) => [status, STATUS_LABELS[status] ?? status]),
        ],
      ]}
      submit="Search"
    >
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
              ...keys.map(
                (apiKey) =>
                  [apiKey.id, isActive(apiKey) ? apiKey.name : `${apiKey.name} (revoked)`] as const,
              ),
            ]}
          />
          {[['from', 'From (UTC)', from] as const, ['to', 'To (UTC)', to] as const].map(
            ([name, label, value]) => (
              <div class="field">
                <label for={name}>{label}</label>
                <input id={name} name={name} type="date" value={value} />
              </div>
            ),
          )}
        </div>
      </details>
    </Filters>
  )
}
