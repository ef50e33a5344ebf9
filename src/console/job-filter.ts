// The filters of the list of jobs, as query parameters. Other pages link to the list with them.
import { z } from 'zod'
import { JOB_ERROR_CODES, JOB_STATUSES, SUBMITTED_IN_CONSOLE, type Mode } from '../domain/job.ts'
import { DAY_MS } from '../domain/limits.ts'
import { idParameter, parameter } from './forms.ts'
import type { JobSearchFilter } from '../jobs/reports/search.ts'

/** The minimum length of a part of an id. */
const MIN_ID_PART = 6
const PREFIX = 'job_'

export const JobListQuery = z.object({
  q: parameter(z.string().trim().toLowerCase().max(100)),
  status: parameter(z.enum(JOB_STATUSES)),
  workspace: idParameter('ws'),
  error: parameter(z.enum(JOB_ERROR_CODES)),
  key: z.literal(SUBMITTED_IN_CONSOLE).or(idParameter('key')),
  from: parameter(z.iso.date()),
  to: parameter(z.iso.date()),
})
export type JobListQuery = z.infer<typeof JobListQuery>

export const Cursors = z.object({
  before: idParameter('job'),
  after: idParameter('job'),
})

/** Whether the text can be the start of a job id, or a part of one, that is long enough. */
export const isIdPart = (text: string): boolean =>
  /^[a-z\d_]+$/.test(text) &&
  text.length >= MIN_ID_PART + (text.startsWith(PREFIX) ? PREFIX.length : 0)

/** The search that a query means. Ignores a `q` that is too short. Days are UTC; `to` is included. */
export const filterOf = (
  { q, status, workspace, error, key, from, to }: JobListQuery,
  mode: Mode,
): JobSearchFilter => ({
  mode,
  status,
  workspaceId: workspace,
  errorCode: error,
  apiKeyId: key,
  idPart: q && isIdPart(q) ? q : undefined,
  createdAfter: from === undefined ? undefined : new Date(from),
  createdBefore: to === undefined ? undefined : new Date(Date.parse(to) + DAY_MS),
})
