// The rows of the list of jobs.
import type { NamedKey } from '../../accounts/key-names.ts'
import type { WorkspaceRow } from '../../db/schema.ts'
import { isFinal, SUBMITTED_IN_CONSOLE } from '../../domain/job.ts'
import type { FoundJob } from '../../jobs/search.ts'
import { StatusBadge } from '../components/badges.tsx'
import { JobThumbnail } from '../components/job-thumbnail.tsx'
import { IdLink, Table } from '../components/table.tsx'
import { formatDuration, Timestamp } from '../components/time.tsx'
import { fieldsOf, withQuery } from '../job-filter.ts'
import type { JobListQuery } from '../job-filter.ts'

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
      columns={['Job', 'Status', 'Error', 'Key', 'Workspace', 'Submitted', 'Duration']}
      rows={rows.map((row) => [
        <span class="job-link">
          <JobThumbnail job={row} />
          <IdLink to={withQuery(`/jobs/${row.id}`, fieldsOf(query))} id={row.id} />
        </span>,
        // jobs.js finds the row by its id.
        <span data-job={row.id} data-unfinished={!isFinal(row.status) || undefined}>
          <StatusBadge status={row.status} />
        </span>,
        row.status === 'failed' && row.errorCode ? <ErrorCode code={row.errorCode} /> : NONE,
        keyName(row.apiKeyId, names.keys) ?? NONE,
        <span class="name">{workspaces.get(row.workspaceId) ?? row.workspaceId}</span>,
        <Timestamp at={row.createdAt} />,
        formatDuration(row.durationMs),
      ])}
    />
  )
}

/** A long code wraps at its underscores. */
const ErrorCode = ({ code }: { code: string }) => (
  <code>
    {code.split('_').map((word, index) => (
      <>
        {index > 0 && '_'}
        {index > 0 && <wbr />}
        {word}
      </>
    ))}
  </code>
)

const NONE = <span class="muted">–</span>

/** What submitted a job; undefined for jobs from before keys were stored. */
export function keyName(apiKeyId: string | null, keys: NamedKey[]) {
  if (apiKeyId === null) return undefined
  if (apiKeyId === SUBMITTED_IN_CONSOLE) return <span class="name">Console</span>
  return <span class="name">{keys.find(({ id }) => id === apiKeyId)?.name ?? 'Deleted key'}</span>
}
