// Jobs that have ended, without a submission.
import { env } from 'cloudflare:workers'
import { newId } from '../../src/ids.ts'
import { BASE } from './client.ts'

/** Inserts a job that has ended. @returns its id */
export async function insertJob(
  organisationId: string,
  columns: Record<string, string | number | null>,
) {
  const id = newId('job')
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
  await env.DB.prepare(
    `INSERT INTO jobs (${Object.keys(row).join()}) VALUES (${Object.keys(row)
      .map(() => '?')
      .join()})`,
  )
    .bind(...Object.values(row))
    .run()
  return id
}
