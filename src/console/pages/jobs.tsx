// The list of jobs.
import { Hono } from 'hono'
import { z } from 'zod'
import { listWorkspaces } from '../../accounts/workspaces.ts'
import type { WorkspaceRow } from '../../db/schema.ts'
import { isId } from '../../ids.ts'
import { listPage } from '../../jobs/read.ts'
import { permits } from '../../domain/role.ts'
import { JOB_STATUSES } from '../../domain/job.ts'
import { DEFAULT_PAGE_SIZE } from '../../domain/limits.ts'
import type { ConsoleApp } from '../context.ts'
import { Button } from '../components/form.tsx'
import { job } from './job.tsx'
import { memberPage } from '../components/layout.tsx'
import { formatDuration, Timestamp } from '../components/time.tsx'
import { EmptyState, IdLink, Table } from '../components/table.tsx'
import { ModeBadge, StatusBadge } from '../components/badges.tsx'
import { scopeOf } from '../middleware/session.ts'
import { Link } from '../components/link.tsx'

/** Ignores invalid filters: users may edit the URL. */
const Query = z.object({
  status: z.enum(JOB_STATUSES).optional().catch(undefined),
  workspace: z
    .string()
    .refine((id) => isId('ws', id))
    .optional()
    .catch(undefined),
  before: z
    .string()
    .refine((id) => isId('job', id))
    .optional()
    .catch(undefined),
})

export const jobs = new Hono<ConsoleApp>()
  .get('/', async (c) => {
    const organisationId = c.var.membership.organisation.id
    const { status, workspace, before } = Query.parse(c.req.query())
    const [page, workspaces] = await Promise.all([
      listPage({
        env: c.env,
        organisationId,
        filter: { status, workspaceId: workspace },
        limit: DEFAULT_PAGE_SIZE,
        beforeId: before,
        workspaceIds: c.var.membership.workspaceIds,
      }),
      listWorkspaces(scopeOf(c)),
    ])
    const names = new Map(workspaces.map(({ id, name }) => [id, name]))
    const filter = { ...(status && { status }), ...(workspace && { workspace }) }
    const last = page.rows.at(-1)
    return memberPage(
      c,
      { title: 'Jobs' },
      <>
        <h1>Jobs</h1>
        <Filters workspaces={workspaces} status={status} workspace={workspace} />
        {page.rows.length === 0 ? (
          <EmptyState title={status || workspace ? 'No matching jobs' : 'No jobs yet'}>
            <p>
              Submit one <a href="/docs/quick-start">through the API</a>
              {permits(c.var.membership.role, 'develop') && (
                <>
                  {' '}
                  or in the <Link to="/playground">playground</Link>
                </>
              )}
              .
            </p>
          </EmptyState>
        ) : (
          <Table
            label="Jobs"
            columns={['Job', 'Status', 'Mode', 'Workspace', 'Submitted', 'Duration']}
            rows={page.rows.map((row) => [
              <IdLink to={`/jobs/${row.id}`} id={row.id} />,
              <StatusBadge status={row.status} />,
              <ModeBadge mode={row.mode} />,
              names.get(row.workspaceId) ?? row.workspaceId,
              <Timestamp at={row.createdAt} />,
              formatDuration(row.durationMs),
            ])}
          />
        )}
        <nav aria-label="Pages" class="pages">
          {before && <Link to={`/jobs?${new URLSearchParams(filter)}`}>Newest</Link>}
          {page.hasMore && last && (
            <Link to={`/jobs?${new URLSearchParams({ ...filter, before: last.id })}`}>Older</Link>
          )}
        </nav>
      </>,
    )
  })
  .route('/', job)

const Filters = ({
  workspaces,
  status,
  workspace,
}: {
  workspaces: WorkspaceRow[]
  status: string | undefined
  workspace: string | undefined
}) => (
  <form method="get" to="/jobs" class="filters">
    <div class="field">
      <label for="status">Status</label>
      <select id="status" name="status" data-submit-on-change>
        <option value="">All</option>
        {JOB_STATUSES.map((value) => (
          <option value={value} selected={value === status || undefined}>
            {value}
          </option>
        ))}
      </select>
    </div>
    <div class="field">
      <label for="workspace">Workspace</label>
      <select id="workspace" name="workspace" data-submit-on-change>
        <option value="">All</option>
        {workspaces.map(({ id, name }) => (
          <option value={id} selected={id === workspace || undefined}>
            {name}
          </option>
        ))}
      </select>
    </div>
    <Button kind="secondary">Filter</Button>
  </form>
)
