// The search of jobs: pages in both directions, and the number of rows that it reads.
import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, it } from 'vitest'
import { SYSTEM } from '../../src/domain/actor.ts'
import { newId } from '../../src/platform/ids.ts'
import {
  countMatches,
  readNeighbours,
  SCAN_LIMIT,
  searchJobs,
  type JobSearchFilter,
  type SearchCursor,
} from '../../src/jobs/reports/search.ts'
import { jobsDb, spyPrepare } from '../support/jobs-database.ts'

/** Two batches of live jobs with test jobs between them: 100 new, 12,000 test jobs, 30 old. */
const NEW = 100
const TEST = 12_000
const OLD = 30
const TOTAL = NEW + TEST + OLD
const organisationId = newId('org')
const [workspaceId, otherWorkspaceId] = [newId('ws'), newId('ws')]
const keyId = newId('key')

const idOf = (number: number) => `job_01${String(number).padStart(24, '0')}`

beforeAll(async () => {
  await jobsDb(organisationId)
    .prepare(
      `INSERT INTO jobs (id, organisation_id, workspace_id, mode, status, error_code, api_key_id,
                       base_url, created_at, due_at)
     WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?1)
     SELECT printf('job_01%024d', n), ?2, CASE WHEN n % 10 = 0 THEN ?4 ELSE ?3 END,
            CASE WHEN n <= ?5 OR n > ?6 THEN 'live' ELSE 'test' END,
            CASE WHEN n % 5 = 0 THEN 'failed' ELSE 'completed' END,
            CASE WHEN n % 5 = 0 THEN 'person_not_found' END,
            CASE WHEN n % 2 = 0 THEN ?7 ELSE 'console' END,
            'https://try-on.test', n, 0
     FROM numbers`,
    )
    .bind(TOTAL, organisationId, workspaceId, otherWorkspaceId, OLD, OLD + TEST, keyId)
    .run()
})

const search = (filter: Partial<JobSearchFilter> = {}, workspaceIds: string[] | null = null) => ({
  env,
  organisationId,
  filter: { mode: 'live' as const, ...filter },
  workspaceIds,
})

const page = (filter: Partial<JobSearchFilter> = {}, cursor?: SearchCursor, ids?: string[]) =>
  searchJobs({ ...search(filter, ids), cursor, limit: 25 })

const idsOf = ({ rows }: Awaited<ReturnType<typeof page>>) => rows.map(({ id }) => id)

/** Descending ids. */
const ids = (newest: number, oldest: number, step = 1) =>
  Array.from({ length: Math.floor((newest - oldest) / step) + 1 }, (_, at) =>
    idOf(newest - at * step),
  )

/** The rows that D1 reads while `work` runs. */
async function rowsRead(work: () => Promise<unknown>): Promise<number> {
  let rows = 0
  const spy = spyPrepare((prepare, text) => {
    const statement = prepare(text)
    return new Proxy(statement, {
      get: (target, name) =>
        name === 'bind'
          ? (...values: unknown[]) => {
              const all = async () => {
                const result = await target.bind(...values).all<object>()
                rows += result.meta.rows_read
                return result
              }
              const raw = async () => (await all()).results.map((row) => Object.values(row))
              return { all, raw }
            }
          : Reflect.get(target, name),
    })
  })
  await work()
  spy.mockRestore()
  return rows
}

describe('a search', () => {
  it('pages to older jobs and back', async () => {
    const first = await page()
    expect(idsOf(first)).toEqual(ids(TOTAL, TOTAL - 24))
    expect(first).toMatchObject({ newer: null, older: idOf(TOTAL - 24), searchedTo: null })
    const second = await page({}, { before: first.older ?? '' })
    expect(idsOf(second)).toEqual(ids(TOTAL - 25, TOTAL - 49))
    const third = await page({}, { before: second.older ?? '' })
    const back = await page({}, { after: third.newer ?? '' })
    expect(back).toEqual(second)
    expect(await page({}, { after: second.newer ?? '' })).toEqual(first)
  })

  it('shows the first page when fewer jobs than a page are newer', async () => {
    expect(await page({}, { after: idOf(TOTAL - 3) })).toEqual(await page())
  })

  it('stops at the limit, says how far it has read, and continues', async () => {
    const found: string[] = []
    const searched: string[] = []
    let cursor: SearchCursor = { before: idOf(OLD + TEST + 1) }
    for (;;) {
      const result = await page({}, cursor)
      found.push(...idsOf(result))
      if (result.searchedTo) searched.push(result.searchedTo)
      if (result.older === null) break
      cursor = { before: result.older }
    }
    expect(found).toEqual(ids(OLD, 1))
    expect(searched).toEqual([
      idOf(OLD + TEST - SCAN_LIMIT + 1),
      idOf(OLD + TEST - 2 * SCAN_LIMIT + 1),
    ])
  })

  it('continues to newer jobs as well', async () => {
    const result = await page({}, { after: idOf(OLD) })
    expect(result).toMatchObject({ rows: [], newer: idOf(OLD + SCAN_LIMIT), older: null })
    expect(result.searchedTo).toBe(result.newer)
  })

  it('filters by status, workspace, error code, key, time and part of an id', async () => {
    const top = TOTAL - (TOTAL % 10)
    expect(idsOf(await page({ status: 'failed' })).slice(0, 2)).toEqual(ids(top, top - 5, 5))
    expect(idsOf(await page({ errorCode: 'person_not_found' }))).toHaveLength(25)
    expect(idsOf(await page({ errorCode: 'garment_not_found' }))).toEqual([])
    expect(idsOf(await page({ errorCode: 'person_not_found', status: 'completed' }))).toEqual([])
    expect(idsOf(await page({ workspaceId: otherWorkspaceId })).slice(0, 10)).toEqual(
      ids(top, TOTAL - NEW + 1, 10),
    )
    expect(idsOf(await page({ apiKeyId: keyId })).slice(0, 2)).toEqual(ids(TOTAL, TOTAL - 2, 2))
    expect(idsOf(await page({ apiKeyId: newId('key') }))).toEqual([])
    expect(idsOf(await page({ idPart: idOf(TOTAL).slice(-8) }))).toEqual([idOf(TOTAL)])
    expect(idsOf(await page({ idPart: idOf(TOTAL).slice(0, -1) }))).toEqual(ids(TOTAL, TOTAL))
    expect(idsOf(await page({ createdAfter: new Date() }))).toEqual([])
    expect(idsOf(await page({ createdBefore: new Date(0) }))).toEqual([])
  })

  it('finds only jobs of the workspaces that the member may see', async () => {
    const found = await page({}, undefined, [otherWorkspaceId])
    expect(new Set(found.rows.map((row) => row.workspaceId))).toEqual(new Set([otherWorkspaceId]))
    expect(idsOf(await page({ workspaceId }, undefined, [otherWorkspaceId]))).toEqual([])
    expect(idsOf(await page({}, undefined, []))).toEqual([])
  })

  it('counts up to 1,000 matches and says whether there can be more', async () => {
    expect(await countMatches(search())).toEqual({ matches: NEW, isComplete: false })
    expect(await countMatches(search({ mode: 'test' }))).toEqual({
      matches: 1_000,
      isComplete: false,
    })
    expect(await countMatches(search({ status: 'pending' }))).toEqual({
      matches: 0,
      isComplete: true,
    })
  })

  it('finds the neighbours of a job in the list', async () => {
    const neighbours = (list: ReturnType<typeof search>, jobId: string) =>
      readNeighbours({ ...list, actor: SYSTEM }, jobId)
    expect(await neighbours(search({ status: 'failed' }), idOf(TOTAL - 50))).toEqual({
      newerId: idOf(TOTAL - 45),
      olderId: idOf(TOTAL - 55),
    })
    expect(await neighbours(search(), idOf(TOTAL))).toEqual({
      newerId: null,
      olderId: idOf(TOTAL - 1),
    })
    expect(await neighbours(search(), idOf(OLD + TEST + 1))).toMatchObject({ olderId: null })
  })
})

describe('the rows that are read', () => {
  const FILTERS: [string, Partial<JobSearchFilter>][] = [
    ['no filter', {}],
    ['mode', { mode: 'test' }],
    ['status', { status: 'completed' }],
    ['workspace', { workspaceId }],
    ['workspace and status', { workspaceId, status: 'failed' }],
    ['error code', { errorCode: 'internal_error' }],
    ['unused key', { apiKeyId: newId('key') }],
    ['part of an id', { idPart: 'zzzzzz' }],
    ['start of an id', { idPart: 'job_01000000' }],
    ['time', { createdAfter: new Date(0), createdBefore: new Date() }],
  ]
  it.each(FILTERS)('are at most two steps for a page, with %s', async (_, filter) => {
    const limit = 2 * SCAN_LIMIT + 100
    expect(await rowsRead(() => page(filter))).toBeLessThanOrEqual(limit)
    expect(await rowsRead(() => page(filter, { before: idOf(9_000) }))).toBeLessThanOrEqual(limit)
    expect(await rowsRead(() => page(filter, { after: idOf(OLD) }))).toBeLessThanOrEqual(limit)
    expect(await rowsRead(() => countMatches(search(filter)))).toBeLessThanOrEqual(limit + 1_000)
  })

  it('are those of the index for the filters', async () => {
    const spy = spyPrepare()
    await page({ workspaceId, status: 'failed', apiKeyId: keyId }, { before: idOf(TOTAL) })
    const statements = spy.mock.calls.map(([text]) => text)
    spy.mockRestore()
    expect(statements).toHaveLength(2)
    for (const text of statements) {
      const { results } = await env.DB.prepare(`EXPLAIN QUERY PLAN ${text}`)
        .bind(...Array.from({ length: text.split('?').length - 1 }, () => 1))
        .all<{ detail: string }>()
      const plan = results.map(({ detail }) => detail).join('\n')
      expect(plan).toMatch(
        /SEARCH jobs USING (COVERING )?INDEX jobs_by_workspace_status \(organisation_id=\? AND workspace_id=\? AND status=\? AND id/,
      )
      expect(plan).not.toContain('SCAN jobs')
    }
  })
})
