// The strip of the latest jobs of the playground. A click loads the pictures of a job into the form.
import { getCookie, setCookie } from 'hono/cookie'
import type { JobRow } from '../../platform/db/schema.ts'
import { SAMPLE_GARMENTS, sampleThumbnail, sampleUrl, type Sample } from '../../domain/samples.ts'
import { baseUrlOf } from '../../http/base-url.ts'
import { isId } from '../../platform/ids.ts'
import type { ConsoleContext } from '../console-context.ts'
import { pathOf } from '../organisation-path.ts'
import { cookieOptions } from '../cookies.ts'
import { ModeBadge, StatusBadge } from './badges.tsx'
import { Link } from './link.tsx'
import { Timestamp } from './time.tsx'

interface HistoryProps {
  c: ConsoleContext
  jobs: JobRow[]
  /** The job whose pictures are in the form. */
  current: string | undefined
}

export const PlaygroundHistory = ({ c, jobs, current }: HistoryProps) => (
  <section data-history aria-labelledby="history">
    {jobs.length > 0 && (
      <>
        <h2 id="history">Your latest jobs here</h2>
        <ul class="history">
          {jobs.map((job) => (
            <li>
              <Link
                to={`/playground?job=${job.id}`}
                aria-current={job.id === current ? 'true' : undefined}
              >
                <span class="frame">{thumbnailOf(c, job)}</span>
                <Timestamp at={job.createdAt} />
                <ModeBadge mode={job.mode} />
              </Link>
            </li>
          ))}
        </ul>
      </>
    )}
  </section>
)

/** The result of a live job; of other jobs, the garment if it is a sample, or else the status. */
function thumbnailOf(c: ConsoleContext, job: JobRow) {
  const isOf = ({ file }: Sample) => job.garmentImageUrl === sampleUrl(baseUrlOf(c), file)
  const sample = SAMPLE_GARMENTS.find(isOf)
  const hasResult = job.mode === 'live' && job.status === 'completed' && job.outputFormat
  const source = hasResult
    ? pathOf(c, `/jobs/${job.id}/thumbnail`)
    : sample && sampleThumbnail(sample.file)
  if (!source) return <StatusBadge status={job.status} />
  return <img src={source} alt={`Job ${job.status}`} loading="lazy" />
}

const COOKIE = 'try-on.playground'
const MAX_JOBS = 10
/** As long as the pictures of jobs are usually stored. */
const MAX_AGE_SECONDS = 30 * 24 * 60 * 60

/** The newest first. */
export const recentJobIds = (c: ConsoleContext): string[] =>
  (getCookie(c, COOKIE) ?? '')
    .split('.')
    .filter((id) => isId('job', id))
    .slice(0, MAX_JOBS)

/** Only for requests to the playground: others do not send the cookie, and would replace the history. */
export function rememberJob(c: ConsoleContext, jobId: string): void {
  const jobIds = new Set([jobId, ...recentJobIds(c)])
  setCookie(c, COOKIE, [...jobIds].slice(0, MAX_JOBS).join('.'), {
    ...cookieOptions(c, MAX_AGE_SECONDS),
    path: pathOf(c, '/playground'),
  })
}
