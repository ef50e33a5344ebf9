// The list of jobs in the mode of the console, with search, filters, live rows and export.
import { Hono } from 'hono'
import { mayAccess } from '../../organisations/workspace-rights.ts'
import { exportJobs } from '../../privacy/export-jobs.ts'
import { listKeyNames } from '../../organisations/key-names.ts'
import { listWorkspaces } from '../../organisations/workspaces.ts'
import { isFinal } from '../../domain/job.ts'
import { isId } from '../../platform/ids.ts'
import { readJobList } from '../../jobs/reports/read-list.ts'
import { findJobNearby } from '../../jobs/read-job.ts'
import type { ConsoleApp, ConsoleContext } from '../console-context.ts'
import { memberFragment, memberPage } from '../components/layout.tsx'
import { Cursors, filterOf, isIdPart, JobListQuery } from '../job-filter.ts'
import { scopeOf } from '../middleware/session.ts'
import { csvResponse } from '../csv-response.ts'
import { pathOf, redirectTo } from '../organisation-path.ts'
import { job } from './job-page.tsx'
import { JobList, JobListSection } from './job-list.tsx'
import { withQuery } from '../query-string.ts'

const PAGE_SIZE = 25
/** How often the list is read again while a job of it is unfinished, and while it can get new ones. */
const UNFINISHED_SECONDS = 2
const IDLE_SECONDS = 10

export const jobs = new Hono<ConsoleApp>()
  .get('/', async (c) => {
    const query = JobListQuery.parse(c.req.query())
    const { q = '' } = query
    if (isId('job', q) && (await isOwnJob(c, q))) return redirectTo(c, `/jobs/${q}`)
    const list = await readList(c, query)
    return memberPage(
      c,
      { title: 'Jobs' },
      <JobList {...list} problem={q === '' || isIdPart(q) ? undefined : SHORT_ID} />,
    )
  })
  .get('/live', async (c) =>
    memberFragment(c, <JobListSection {...await readList(c, JobListQuery.parse(c.req.query()))} />),
  )
  .post('/export', async (c) => {
    const query = JobListQuery.parse(await c.req.parseBody())
    const pages = await exportJobs(searchOf(c, query))
    return csvResponse(c, { name: `jobs-${c.var.mode}` }, pages)
  })
  .get('/export', (c) => redirectTo(c, '/jobs'))
  .route('/', job)

/** A page of the list. The first one is live, since it gets new jobs, and others while a job can change. */
async function readList(c: ConsoleContext, query: JobListQuery) {
  const cursors = Cursors.parse(c.req.query())
  const { before, after } = cursors
  const cursor = after ? { after } : before ? { before } : undefined
  const [list, names] = await Promise.all([
    readJobList({ ...searchOf(c, query), cursor, limit: PAGE_SIZE }),
    namesOf(c),
  ])
  const isUnfinished = list.rows.some(({ status }) => !isFinal(status))
  const address = pathOf(c, withQuery('/jobs/live', { ...query, ...cursors }))
  const seconds = isUnfinished ? UNFINISHED_SECONDS : IDLE_SECONDS
  const live = isUnfinished || !cursor ? { address, seconds } : undefined
  return { query, mode: c.var.mode, list, names, live }
}

const SHORT_ID = 'Enter a complete job ID or at least 6 characters of one.'

/** The search of a list in the mode of the console. */
const searchOf = (c: ConsoleContext, query: JobListQuery) => ({
  ...scopeOf(c),
  filter: filterOf(query, c.var.mode),
})

async function isOwnJob(c: ConsoleContext, jobId: string): Promise<boolean> {
  const found = await findJobNearby(c.env, jobId)
  const { organisation, workspaceIds } = c.var.membership
  return found?.organisationId === organisation.id && mayAccess(workspaceIds, found.workspaceId)
}

/** What the ids of workspaces and keys stand for. */
export async function namesOf(c: ConsoleContext) {
  const [keys, workspaces] = await Promise.all([
    listKeyNames(scopeOf(c)),
    listWorkspaces(scopeOf(c)),
  ])
  return { keys, workspaces }
}
