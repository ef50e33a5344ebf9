// Inserts completed jobs directly into the database, which is much faster than submitting them.
import type { BenchOrganisation } from './harness.ts'

/** One statement must end within D1's time limit. */
const JOBS_PER_STATEMENT = 50_000

/** The start of the ids of an organisation's jobs; its last character is the mark of a shard (src/ids). */
const prefixOf = ({ orgId }: BenchOrganisation) => `job_0${orgId.slice(-8, -2)}0001`
/** The end of their ids, which names the shard. */
const endOf = ({ orgId }: BenchOrganisation) => orgId.slice(-2)

/** The id of the n-th inserted job of an organisation. Ids of different organisations differ. */
export const jobId = (organisation: BenchOrganisation, n: number) =>
  `${prefixOf(organisation)}${String(n).padStart(13, '0')}${endOf(organisation)}`

/** Inserts completed jobs with a picture, numbered `from` to `to` (exclusive). */
export async function fillJobs(
  database: D1Database,
  organisation: BenchOrganisation,
  from: number,
  to: number,
): Promise<void> {
  for (let at = from; at < to; at += JOBS_PER_STATEMENT) {
    await database
      .prepare(
        `WITH RECURSIVE n (i) AS (VALUES (?1) UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?2)
         INSERT INTO jobs (id, organisation_id, workspace_id, mode, status, model_image_url,
           garment_image_url, base_url, created_at, started_at, completed_at, duration_ms,
           output_format, attempts, due_at)
         SELECT ?3 || printf('%013d', i) || ?6, ?4, ?5, 'live', 'completed',
           'https://cdn.bench.test/model.jpg', 'https://cdn.bench.test/garment.jpg',
           'https://try-on.bench.test', i, i, i, 900, 'jpeg', 1, i FROM n`,
      )
      .bind(
        at,
        Math.min(at + JOBS_PER_STATEMENT, to),
        prefixOf(organisation),
        organisation.orgId,
        organisation.workspaceId,
        endOf(organisation),
      )
      .run()
  }
}
