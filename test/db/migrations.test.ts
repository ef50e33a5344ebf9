// The migration of a database with jobs of an earlier release.
import { applyD1Migrations } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { drizzle } from 'drizzle-orm/d1'
import { expect, it } from 'vitest'
import { JOB_STATUSES } from '../../src/domain/job.ts'
import { listJobs } from '../../src/jobs/lists.ts'
import { takeSweptJobs } from '../../src/jobs/store.ts'

const db = env.JOBS_DB_0
const ORGANISATION_ID = 'org_00000000000000000000000001'
const isRowsWritten = ({ queries }: { queries: string[] }) =>
  queries.some((query) => query.includes('WHERE sweep_at > 0'))

/** Drops all tables, each before those that it references. */
async function dropTables() {
  for (;;) {
    const { results } = await db
      .prepare(
        `SELECT name FROM sqlite_master AS parent
         WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
           AND name NOT LIKE '\\_cf\\_%' ESCAPE '\\'
           AND NOT EXISTS (
             SELECT 1 FROM sqlite_master AS child
             WHERE child.name <> parent.name AND instr(child.sql, 'REFERENCES ' || char(96) || parent.name || char(96)))`,
      )
      .all<{ name: string }>()
    if (results.length === 0) return
    await db.batch(results.map(({ name }) => db.prepare(`DROP TABLE "${name}"`)))
  }
}

it('lists and sweeps the jobs of a database from before the partial indexes', async () => {
  await dropTables()
  const next = env.TEST_MIGRATIONS.findIndex(isRowsWritten)
  await applyD1Migrations(db, env.TEST_MIGRATIONS.slice(0, next))
  const insert = (status: string, id: string, sweepAt: number) =>
    db
      .prepare(
        `INSERT INTO jobs (id, organisation_id, workspace_id, mode, status, base_url, created_at,
                           due_at, sweep_at)
         VALUES (?, '${ORGANISATION_ID}', 'ws_1', 'live', ?, '', 1, 1, ?)`,
      )
      .bind(id, status, sweepAt)
  await db.batch([
    ...JOB_STATUSES.map((status) => insert(status, `job_${status}`, 1)),
    insert('pending', 'job_pending_without_sweep_at', 0),
  ])
  await applyD1Migrations(db, env.TEST_MIGRATIONS)

  const migrated = { ...env, JOBS_DB_0: db }
  for (const status of JOB_STATUSES) {
    for (const workspaceId of [undefined, 'ws_1']) {
      const filter = { status, workspaceId }
      const listed = await listJobs({
        env: migrated,
        organisationId: ORGANISATION_ID,
        filter,
        limit: 10,
      })
      expect(listed).toHaveLength(status === 'pending' ? 2 : 1)
    }
  }
  // Ended by the version before, which still runs after the migration.
  await insert('completed', 'job_ended_by_old_version', 1).run()
  const swept = await takeSweptJobs({ db: drizzle(db), queued: [], limit: 10 })
  const { sweep_at } =
    (await db
      .prepare(`SELECT sweep_at FROM jobs WHERE id = 'job_ended_by_old_version'`)
      .first<{ sweep_at: number }>()) ?? {}
  expect(sweep_at).toBe(0)
  expect(swept.toSend.map(({ id }) => id).sort()).toEqual([
    'job_pending',
    'job_pending_without_sweep_at',
    'job_processing',
  ])
})
