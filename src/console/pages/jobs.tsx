// The list of jobs in the mode of the console, with search, filters, live rows and export.
import { Hono } from 'hono'
import { z } from 'zod'
import { mayAccess } from '../../access/workspace-rights.ts'
import { streamOf } from '../../accounts/export-file.ts'
import { exportJobs } from '../../accounts/export-jobs.ts'
import { listKeyNames } from '../../accounts/key-names.ts'
import { listWorkspaces } from '../../accounts/workspaces.ts'
import { csvHeaders, csvPages } from '../../http/csv.ts'
import { isId } from '../../ids.ts'
import { countNewJobs, readJobList, readJobRows } from '../../jobs/read-list.ts'
import { findJobNearby } from '../../jobs/read.ts'
import type { ConsoleApp, ConsoleContext } from '../context.ts'
import { memberPage } from '../components/layout.tsx'
import { OrganisationPath } from '../components/link.tsx'
import { Cursors, fieldsOf, filterOf, isIdPart, JobListQuery, withQuery } from '../job-filter.ts'
import { scopeOf } from '../middleware/session.ts'
import { pathOf, redirectTo } from '../organisation-path.ts'
import { job } from './job.tsx'
import { JobList, NewJobs } from './job-list.tsx'
import { JobRows } from './job-rows.tsx'

const PAGE_SIZE = 25
/** Sorts before every id of a job. */
const FIRST_ID = `job_${'0'.repeat(26)}`

/** The query of the fragment that jobs.js polls. */
const LiveQuery = z.object({
  /** The newest job of the first page; missing on other pages. */
  first: z
    .string()
    .refine((id) => isId('job', id))
    .optional()
    .catch(undefined),
  /** The unfinished jobs of the page. */
  ids: z
    .string()
    .transform((text) => text.split(',').filter((id) => isId('job', id)))
    .pipe(z.array(z.string()).max(PAGE_SIZE))
    .catch([]),
})

export const jobs = new Hono<ConsoleApp>()
  .get('/', async (c) => {
    const query = JobListQuery.parse(c.req.query())
    const { q = '' } = query
    if (isId('job', q) && (await isOwnJob(c, q))) return redirectTo(c, `/jobs/${q}`)
    const { before, after } = Cursors.parse(c.req.query())
    const cursor = after ? { after } : before ? { before } : undefined
    const [list, names] = await Promise.all([
      readJobList({ ...searchOf(c, query), cursor, limit: PAGE_SIZE }),
      namesOf(c),
    ])
    const isFirstPage = list.newer === null
    return memberPage(
      c,
      { title: 'Jobs', stylesheet: '/static/jobs.css', script: '/static/jobs.js' },
      <JobList
        query={query}
        mode={c.var.mode}
        list={list}
        names={names}
        problem={q === '' || isIdPart(q) ? undefined : SHORT_ID}
        live={pathOf(
          c,
          withQuery('/jobs/live', {
            ...fieldsOf(query),
            ...(isFirstPage && { first: list.rows[0]?.id ?? FIRST_ID }),
          }),
        )}
      />,
    )
  })
  // jobs.js polls this fragment: the unfinished jobs of the page, and how many jobs are new.
  .get('/live', async (c) => {
    const query = JobListQuery.parse(c.req.query())
    const { first, ids } = LiveQuery.parse(c.req.query())
    const search = searchOf(c, query)
    const [rows, newJobs, names] = await Promise.all([
      ids.length > 0 ? readJobRows(search, ids) : [],
      first === undefined ? 0 : countNewJobs(search, first),
      namesOf(c),
    ])
    return c.html(
      <OrganisationPath.Provider value={pathOf(c, '')}>
        <NewJobs count={newJobs} query={query} />
        <JobRows rows={rows} names={names} query={query} />
      </OrganisationPath.Provider>,
    )
  })
  .post('/export', async (c) => {
    const query = JobListQuery.parse(await c.req.parseBody())
    const pages = await exportJobs(searchOf(c, query))
    const date = new Date().toISOString().slice(0, 10)
    return c.body(
      streamOf(csvPages(pages)),
      200,
      csvHeaders(`try-on-jobs-${c.var.mode}-${date}.csv`),
    )
  })
  .get('/export', (c) => redirectTo(c, '/jobs'))
  .route('/', job)

const SHORT_ID = 'Enter a complete job ID or at least 6 characters of one.'

/** The search of a list in the mode of the console. */
const searchOf = (c: ConsoleContext, query: JobListQuery) => ({
  ...scopeOf(c),
  filter: filterOf(query, c.var.mode),
})

async function isOwnJob(c: ConsoleContext, jobId: string): Promise<boolean> {
  const found = (await findJobNearby(c.env, jobId))?.job
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
