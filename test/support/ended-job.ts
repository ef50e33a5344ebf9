// Jobs that have ended, without a submission.
import { newId } from '../../src/platform/ids.ts'
import { BASE } from './client.ts'
import { jobsDb, newJobId } from './jobs-database.ts'

/** Inserts a job that has ended. @returns its id */
export async function insertJob(
  organisationId: string,
  columns: Record<string, string | number | null>,
) {
  const id = newJobId(organisationId)
  const row = {
    id,
    organisation_id: organisationId,
    workspace_id: newId('ws'),
    mode: 'test',
    status: 'completed',
    base_url: BASE,
    created_at: Date.now(),
    due_at: 0,
    ...columns,
  }
  await jobsDb(organisationId)
    .prepare(
      `INSERT INTO jobs (${Object.keys(row).join()}) VALUES (${Object.keys(row)
        .map(() => '?')
        .join()})`,
    )
    .bind(...Object.values(row))
    .run()
  return id
}
