// Inserts completed jobs directly into the database, which is much faster than submitting them.
import type { BenchOrganisation } from './harness.ts'

/** One statement must end within D1's time limit. */
const JOBS_PER_STATEMENT = 50_000

/** The digits of a job's number in its id. */
const DIGITS = 7

/**
 * The start and the end of the ids of an organisation's jobs. The number of a job replaces the characters before the
 * last two of the organisation's id, so that the result is a valid id of the same shard (src/ids.ts).
 */
const affixesOf = ({ orgId }: BenchOrganisation) =>
  [`job_${orgId.slice('org_'.length, -DIGITS - 2)}`, orgId.slice(-2)] as const

/** The id of the n-th inserted job of an organisation. Ids of different organisations differ. */
export const jobId = (organisation: BenchOrganisation, n: number) =>
  affixesOf(organisation).join(String(n).padStart(DIGITS, '0'))

/**
 * Inserts completed jobs with a picture, numbered `from` to `to` (exclusive).
 * @param startedAt of job 0, ms since 1970; each further job is 1 ms later
 */
export async function fillJobs(
  database: D1Database,
  organisation: BenchOrganisation,
  from: number,
  to: number,
  startedAt = 0,
): Promise<void> {
  const [start, end] = affixesOf(organisation)
  for (let at = from; at < to; at += JOBS_PER_STATEMENT) {
    await database
      .prepare(
        `WITH RECURSIVE n (i) AS (VALUES (?1) UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?2)
         INSERT INTO jobs (id, organisation_id, workspace_id, mode, status, model_image_url,
           garment_image_url, base_url, created_at, started_at, completed_at, duration_ms,
           output_format, attempts, due_at)
         SELECT ?3 || printf('%0${DIGITS}d', i) || ?6, ?4, ?5, 'live', 'completed',
           'https://cdn.bench.test/model.jpg', 'https://cdn.bench.test/garment.jpg',
           'https://try-on.bench.test', ?7 + i, ?7 + i, ?7 + i, 900, 'jpeg', 1, ?7 + i FROM n`,
      )
      .bind(
        at,
        Math.min(at + JOBS_PER_STATEMENT, to),
        start,
        organisation.orgId,
        organisation.workspaceId,
        end,
        startedAt,
      )
      .run()
  }
}
