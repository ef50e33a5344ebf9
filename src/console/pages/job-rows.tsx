// The rows of the list of jobs.
import { useContext } from 'hono/jsx'
import type { NamedKey } from '../../organisations/key-names.ts'
import type { JobRow, WorkspaceRow } from '../../platform/db/schema.ts'
import { SUBMITTED_IN_CONSOLE } from '../../domain/job.ts'
import { timesOf } from './job-timeline.tsx'
import type { FoundJob } from '../../jobs/reports/search.ts'
import { StatusBadge } from '../components/badges.tsx'
import { IdLink, Table } from '../components/table.tsx'
import { formatDuration, Timestamp } from '../components/time.tsx'
import { OrganisationPath } from '../components/link.tsx'
import type { JobListQuery } from '../job-filter.ts'
import { withQuery } from '../query-string.ts'

export interface Names {
  keys: NamedKey[]
  workspaces: Pick<WorkspaceRow, 'id' | 'name'>[]
}

/** @param query the filters of the list, which the page of a job uses for its neighbours */
export const JobRows = ({
  rows,
  names,
  query,
}: {
  rows: FoundJob[]
  names: Names
  query: JobListQuery
}) => {
  const workspaces = new Map(names.workspaces.map(({ id, name }) => [id, name]))
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
        keyName(row.apiKeyId, names.keys) ?? NONE,
        <span class="name">{workspaces.get(row.workspaceId) ?? row.workspaceId}</span>,
        <Timestamp at={row.createdAt} as="ago" />,
        formatDuration(timesOf(row).totalMs),
      ])}
    />
  )
}

const NONE = <span class="muted">–</span>

/** What submitted a job; undefined for jobs from before keys were stored. */
export function keyName(apiKeyId: string | null, keys: NamedKey[]) {
  if (apiKeyId === null) return undefined
  if (apiKeyId === SUBMITTED_IN_CONSOLE) return <span class="name">Console</span>
  return <span class="name">{keys.find(({ id }) => id === apiKeyId)?.name ?? 'Deleted key'}</span>
}

/** The picture is decorative: the link to the job is next to it. */
export const JobThumbnail = ({
  job: { id, mode, status, outputFormat },
}: {
  job: Pick<JobRow, 'id' | 'mode' | 'status' | 'outputFormat'>
}) => {
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
