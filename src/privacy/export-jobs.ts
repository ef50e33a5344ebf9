// Exports the jobs of a search as rows of a table, without URLs.
import { auditInsert } from '../organisations/audit-log.ts'
import { SUBMITTED_IN_CONSOLE } from '../domain/job.ts'
import { snakeCase } from '../domain/text.ts'
import { creditCost } from '../jobs/present-job.ts'
import {
  searchOf,
  type ListRequest,
  SCAN_LIMIT,
  searchJobs,
  type FoundJob,
  type JobSearch,
} from '../jobs/reports/search.ts'
import { listKeyNames } from '../organisations/api-keys.ts'
import { listWorkspaces } from '../organisations/workspaces.ts'

/** The maximum number of jobs in a file. */
const MAX_ROWS = 50_000
/** The maximum number of searches for a file, each with at most SCAN_LIMIT jobs. */
const MAX_SEARCHES = 100
const ROWS_PER_SEARCH = 1_000

type Row = (string | number | Date | null | undefined)[]

/** The cell of each column. @param names of workspaces and API keys by their id */
const COLUMNS: Record<string, (job: FoundJob, names: Map<string, string>) => Row[number]> = {
  job_id: ({ id }) => id,
  status: ({ status }) => status,
  mode: ({ mode }) => mode,
  workspace_id: ({ workspaceId }) => workspaceId,
  workspace: ({ workspaceId }, names) => names.get(workspaceId),
  api_key_id: ({ apiKeyId }) => (apiKeyId === SUBMITTED_IN_CONSOLE ? null : apiKeyId),
  api_key: ({ apiKeyId }, names) =>
    apiKeyId === SUBMITTED_IN_CONSOLE ? 'Console' : names.get(apiKeyId ?? ''),
  error_code: ({ status, errorCode }) => (status === 'failed' ? errorCode : null),
  created_at: ({ createdAt }) => createdAt,
  completed_at: ({ completedAt }) => completedAt,
  duration_ms: ({ durationMs }) => durationMs,
  credits: ({ status, mode }) => (status === 'completed' ? creditCost(mode) : 0),
}

/**
 * Exports the jobs of a search, newest first, and records the export. The first row is the header. A
 * last row says so if the rows do not contain all jobs.
 * @returns the rows, page by page, each of which is read when it is pulled
 * @throws AppError not_found
 */
export async function exportJobs({
  filter,
  maxRows = MAX_ROWS,
  ...request
}: ListRequest & { maxRows?: number }): Promise<AsyncGenerator<Row[]>> {
  const search = await searchOf({ ...request, filter })
  const [keys, workspaces] = await Promise.all([listKeyNames(request), listWorkspaces(request)])
  await auditInsert({ ...request, action: 'job.exported', details: detailsOf(filter) })
  const names = new Map([...keys, ...workspaces].map(({ id, name }) => [id, name]))
  return pagesOf(search, names, maxRows)
}

const detailsOf = ({ createdAfter, createdBefore, ...filter }: ListRequest['filter']) =>
  Object.fromEntries(
    Object.entries({
      ...filter,
      from: createdAfter?.toISOString(),
      before: createdBefore?.toISOString(),
    }).flatMap(([name, value]) => (value === undefined ? [] : [[snakeCase(name), value]])),
  )

async function* pagesOf(search: JobSearch, names: Map<string, string>, maxRows: number) {
  yield [Object.keys(COLUMNS)]
  let before: string | null = null
  let left = maxRows
  for (let count = 0; count < MAX_SEARCHES; count++) {
    const limit = Math.min(left, ROWS_PER_SEARCH)
    const cursor = before === null ? undefined : { before }
    const page = await searchJobs({ ...search, cursor, limit })
    yield page.rows.map((job) => Object.values(COLUMNS).map((cellOf) => cellOf(job, names)))
    left -= page.rows.length
    before = page.older
    if (before === null) return
    if (left === 0) {
      yield [[`Only the newest ${maxRows} jobs are included. Export a shorter period.`]]
      return
    }
  }
  yield [
    [
      `Only matches among the newest ${MAX_SEARCHES * SCAN_LIMIT} jobs are included. Export a shorter period.`,
    ],
  ]
}
