import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { deleteStatistics, countFinishedDay } from '../../src/jobs/reports/daily-statistics.ts'
import { readStatistics, type StatisticsRange } from '../../src/jobs/reports/job-statistics.ts'
import { SYSTEM } from '../../src/domain/actor.ts'
import { jobsBindings } from '../../src/platform/db/database.ts'
import { firstIdSince, newId } from '../../src/platform/ids.ts'
import { runRetention } from '../../src/privacy/run-retention.ts'
import { count, DAY_MS, HOUR_MS } from '../support/retention.ts'
import { newOrganisation, type TestOrganisation } from '../support/world.ts'
import { jobsDb, spyBatch, type Batch } from '../support/jobs-database.ts'

/** A time on a day in the future, so that all tests of this file have their own days. */
let today = Math.ceil(Date.now() / DAY_MS)
const at = (age: number, hour = 12) => (today - age) * DAY_MS + hour * HOUR_MS

beforeEach(() => {
  today += 200
  vi.useFakeTimers({ toFake: ['Date'] })
  vi.setSystemTime(at(0))
})
afterEach(() => void vi.useRealTimers())

interface Jobs {
  count?: number
  mode?: 'live' | 'test'
  status?: string
  errorCode?: string | null
  durationMs?: number | null
  workspaceId?: string
}

/** Inserts jobs that were created at `time`. */
async function insertJobs(organisation: TestOrganisation, time: number, jobs: Jobs = {}) {
  const { count: rows = 1, mode = 'live', status = 'completed' } = jobs
  // The ids of one millisecond differ in their last characters.
  const prefix = firstIdSince('job', time).slice(0, -8)
  await jobsDb(organisation.orgId)
    .prepare(
      `WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ?1)
     INSERT INTO jobs (id, organisation_id, workspace_id, mode, status, base_url, created_at, due_at,
                       error_code, duration_ms, sweep_at)
     SELECT ?2 || printf('%08d', n + ?3), ?4, ?5, ?6, ?7, 'http://localhost', ?8, ?8, ?9, ?10,
            iif(?7 IN ('pending', 'processing'), ?8, 0) FROM n`,
    )
    .bind(
      rows,
      prefix,
      Math.floor(Math.random() * 90_000_000),
      organisation.orgId,
      jobs.workspaceId ?? organisation.workspaceId,
      mode,
      status,
      time,
      jobs.errorCode ?? null,
      jobs.durationMs === undefined ? 1_000 : jobs.durationMs,
    )
    .run()
}

const read = (
  { orgId }: TestOrganisation,
  range: StatisticsRange,
  options: { mode?: 'live' | 'test'; workspaceId?: string } = {},
) => readStatistics({ env, actor: SYSTEM, organisationId: orgId, mode: 'live', range, ...options })

/** Runs cron until the latest finished days of the organisation's shard are counted. */
async function countDays({ orgId }: TestOrganisation, days: number) {
  for (const db of jobsBindings(env)) {
    if (db !== jobsDb(orgId)) await markCounted(db)
  }
  for (let run = 0; run < days; run++) await countFinishedDay(env)
}

/** Makes cron skip the days of another shard: each costs 24 statements. */
const markCounted = (db: D1Database) =>
  db
    .prepare(
      `WITH RECURSIVE n(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n WHERE n < 200)
       INSERT OR IGNORE INTO job_statistics_days (day) SELECT ? - n FROM n`,
    )
    .bind(Math.floor(Date.now() / DAY_MS))
    .run()

describe('the statistics of an organisation', () => {
  it('count the jobs of the mode by day, outcome, error and duration', async () => {
    const shop = await newOrganisation()
    await insertJobs(shop, at(0), { count: 3, durationMs: 2_345 })
    await insertJobs(shop, at(0), { count: 2, status: 'failed', errorCode: 'person_not_found' })
    await insertJobs(shop, at(1), { status: 'failed', errorCode: 'generation_timeout' })
    await insertJobs(shop, at(1), { status: 'refunded', durationMs: null })
    await insertJobs(shop, at(0), { count: 5, mode: 'test', durationMs: 10 })
    const live = await read(shop, '7d')
    expect(live).toMatchObject({
      completed: 3,
      failed: 3,
      total: 7,
      medianMs: 2_300,
      p95Ms: 2_300,
      otherMode: 5,
      limitedTo: null,
      errors: [
        { code: 'person_not_found', count: 2 },
        { code: 'generation_timeout', count: 1 },
      ],
    })
    expect(live.periods.map(({ startsAt }) => startsAt / DAY_MS)).toEqual(
      Array.from({ length: 7 }, (_, index) => today - 6 + index),
    )
    expect(live.periods.slice(-2)).toMatchObject([
      { completed: 0, failed: 1, other: 1 },
      { completed: 3, failed: 2, other: 0 },
    ])
    expect(await read(shop, '7d', { mode: 'test' })).toMatchObject({ completed: 5, medianMs: 10 })
  })

  it('divide the last 24 hours into hours', async () => {
    const shop = await newOrganisation()
    await insertJobs(shop, at(0, 11), { count: 2 })
    await insertJobs(shop, at(1, 13))
    await insertJobs(shop, at(1, 12))
    const { periods, total } = await read(shop, '24h')
    expect(total).toBe(3)
    expect(periods).toHaveLength(24)
    expect(periods[0]).toMatchObject({ startsAt: at(1, 13), completed: 1 })
    expect(periods.at(-2)).toMatchObject({ startsAt: at(0, 11), completed: 2 })
  })

  it('have the figures of the range before, without those that are no longer stored', async () => {
    const shop = await newOrganisation()
    await insertJobs(shop, at(0, 11), { count: 2 })
    await insertJobs(shop, at(1, 11), { count: 3, durationMs: 2_000 })
    await insertJobs(shop, at(1, 11), { status: 'failed', errorCode: 'person_not_found' })
    const before = { completed: 3, failed: 1, total: 4, medianMs: 2_000, p95Ms: 2_000 }
    expect(await read(shop, '24h')).toMatchObject({ total: 2, errors: [], before })
    expect(await read(shop, '7d')).toMatchObject({ total: 6, before: null })
    expect(await read(shop, '90d')).toMatchObject({ total: 6, before: null })
    today += 7
    vi.setSystemTime(at(0))
    await countDays(shop, 14)
    expect(await read(shop, '7d')).toMatchObject({
      total: 0,
      before: { ...before, completed: 5, total: 6, medianMs: 2_000 },
    })
  })

  it('are the same before and after cron has counted the finished days', async () => {
    const shop = await newOrganisation()
    const other = newId('ws')
    for (const age of [0, 1, 2]) {
      await insertJobs(shop, at(age), { count: 20, durationMs: 1_500 })
      await insertJobs(shop, at(age), { count: 2, durationMs: 8_000, workspaceId: other })
      await insertJobs(shop, at(age), { status: 'failed', errorCode: 'generation_failed' })
      await insertJobs(shop, at(age), { mode: 'test' })
    }
    const before = await read(shop, '30d')
    const inOther = await read(shop, '30d', { workspaceId: other })
    expect(before).toMatchObject({ completed: 66, medianMs: 1_500, p95Ms: 8_000, otherMode: 3 })
    expect(inOther).toMatchObject({ completed: 6, total: 6, medianMs: 8_000 })
    await countDays(shop, 3)
    expect(await read(shop, '30d')).toEqual(before)
    expect(await read(shop, '30d', { workspaceId: other })).toEqual(inOther)
  })

  it('include a day that waits for an unfinished job while a later day is counted', async () => {
    const shop = await newOrganisation()
    await insertJobs(shop, at(1), { count: 3 })
    await insertJobs(shop, at(2), { count: 4 })
    await insertJobs(shop, at(2), { status: 'processing', durationMs: null })
    await insertJobs(shop, at(3), { count: 5 })
    await countDays(shop, 3)
    const { results } = await jobsDb(shop.orgId)
      .prepare('SELECT day FROM job_statistics_days WHERE day > ? ORDER BY day')
      .bind(today - 4)
      .all<{ day: number }>()
    expect(results.map(({ day }) => today - day)).toEqual([3, 1])
    const { periods } = await read(shop, '7d')
    expect(periods.map(({ completed, other }) => completed + other)).toEqual([0, 0, 0, 5, 5, 3, 0])
  })

  it('are limited to the workspaces of the member', async () => {
    const shop = await newOrganisation()
    const other = newId('ws')
    const userId = newId('usr')
    await insertJobs(shop, at(0), { count: 2 })
    await insertJobs(shop, at(0), { count: 3, workspaceId: other })
    await insertJobs(shop, at(1), { count: 4 })
    await env.DB.batch([
      env.DB.prepare(
        `INSERT INTO users (id, name, email, email_verified, created_at, updated_at)
         VALUES (?1, '', ?1 || '@shop.example', 1, 0, 0)`,
      ).bind(userId),
      env.DB.prepare(
        `INSERT INTO members (organisation_id, user_id, role, created_at, workspace_ids)
         VALUES (?, ?, 'viewer', 0, ?)`,
      ).bind(shop.orgId, userId, JSON.stringify([other, newId('ws')])),
    ])
    const actor = { type: 'user', userId, email: '', ipAddress: null } as const
    const request = { env, actor, organisationId: shop.orgId, mode: 'live', range: '7d' } as const
    const { workspaceId } = shop
    expect((await readStatistics(request)).total).toBe(3)
    expect((await readStatistics({ ...request, workspaceId: other })).total).toBe(3)
    expect((await readStatistics({ ...request, workspaceId })).total).toBe(0)
    await countDays(shop, 1)
    expect((await readStatistics(request)).total).toBe(3)
    expect((await read(shop, '7d')).total).toBe(9)
  })

  it('include the days of deleted test jobs', async () => {
    const shop = await newOrganisation()
    await insertJobs(shop, at(10), { count: 4, mode: 'test', durationMs: 10 })
    await countDays(shop, 11)
    await jobsDb(shop.orgId)
      .prepare('DELETE FROM jobs WHERE organisation_id = ?')
      .bind(shop.orgId)
      .run()
    expect(await read(shop, '30d', { mode: 'test' })).toMatchObject({ completed: 4, medianMs: 10 })
    expect(await read(shop, '7d', { mode: 'test' })).toMatchObject({ completed: 0 })
  })

  it('are read without the jobs of finished days', async () => {
    const shop = await newOrganisation()
    for (let age = 1; age < 15; age++) await insertJobs(shop, at(age), { count: 100 })
    await insertJobs(shop, at(0), { count: 50 })
    await countDays(shop, 15)
    const rowsRead = await rowsReadBy(() => read(shop, '30d'))
    expect((await read(shop, '30d')).completed).toBe(50 + 14 * 100)
    // The 50 jobs of today through an index, 14 rows of counts, and the list of days twice.
    expect(rowsRead).toBeLessThan(250)
  })
})

/** The rows that D1 reads, which it bills. */
async function rowsReadBy(work: () => Promise<unknown>): Promise<number> {
  let rows = 0
  const prototype = Object.getPrototypeOf(env.DB.prepare('SELECT 1')) as D1PreparedStatement
  const raw = prototype.raw
  vi.spyOn(prototype, 'raw').mockImplementation(async function (
    this: D1PreparedStatement,
    ...rest
  ) {
    rows += (await this.run()).meta.rows_read
    return raw.apply(this, rest)
  })
  spyBatch(async <T>(batch: Batch, statements: D1PreparedStatement[]) => {
    const results = await batch<T>(statements)
    for (const { meta } of results) rows += meta.rows_read
    return results
  })
  await work()
  return rows
}

describe('cron', () => {
  it('waits for the unfinished jobs of a day, for two days at most', async () => {
    const shop = await newOrganisation()
    await countDays(shop, 1)
    vi.setSystemTime(at(-1))
    await insertJobs(shop, at(0), { status: 'processing', durationMs: null })
    const counted = () =>
      jobsDb(shop.orgId)
        .prepare('SELECT count(*) AS n FROM job_statistics_days WHERE day = ?')
        .bind(today)
        .first<number>('n')
    await countFinishedDay(env)
    expect(await counted()).toBe(0)
    vi.setSystemTime(at(-2))
    await countFinishedDay(env)
    expect(await counted()).toBe(0)
    vi.setSystemTime(at(-3))
    await countDays(shop, 3)
    expect(await counted()).toBe(1)
    await jobsDb(shop.orgId)
      .prepare('DELETE FROM jobs WHERE organisation_id = ?')
      .bind(shop.orgId)
      .run()
  })

  it('writes no row per job and none for deleted organisations', async () => {
    const shop = await newOrganisation()
    await insertJobs(shop, at(1), { count: 30 })
    await insertJobs({ ...shop, orgId: newId('org') }, at(1))
    await countDays(shop, 1)
    expect(await count('job_statistics', 'day = ?', today - 1)).toBe(1)
    await deleteStatistics(env, shop.orgId)
    expect(await count('job_statistics', 'organisation_id = ?', shop.orgId)).toBe(0)
  })

  it('deletes the counts after 100 days', async () => {
    const shop = await newOrganisation()
    await insertJobs(shop, at(3))
    await countDays(shop, 3)
    const rows = () => count('job_statistics', 'organisation_id = ?', shop.orgId)
    vi.setSystemTime(at(-96))
    await runRetention(env)
    expect(await rows()).toBe(1)
    vi.setSystemTime(at(-98))
    await runRetention(env)
    expect(await rows()).toBe(0)
  })
})
