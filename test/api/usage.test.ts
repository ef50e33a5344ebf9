// GET /v1/usage: counted days and today, ranges, and what it costs.
import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { DAY_MS } from '../../src/domain/limits.ts'
import { countFinishedDay } from '../../src/jobs/reports/daily-statistics.ts'
import { clientOf, codeOf, errorOf } from '../support/client.ts'
import { jobsDb } from '../support/jobs-database.ts'
import { endedJob, fakeClock, pass } from '../support/retention.ts'
import { newOrganisation, operator, submit } from '../support/world.ts'

fakeClock()

const FAILED = { model_image_url: 'https://test.invalid/fail/person_not_found' }
const today = () => Math.floor(Date.now() / DAY_MS)
const dateOf = (day: number) => new Date(day * DAY_MS).toISOString().slice(0, 10)

/** Stores what cron had counted for a day before the statistics had keys. */
async function count(orgId: string, day: number, mode: string, completed: number) {
  const db = jobsDb(orgId)
  await db.batch([
    db
      .prepare(
        `INSERT INTO job_statistics (day, organisation_id, mode, workspace_id, completed, failed, other,
                                     errors, durations)
         VALUES (?, ?, ?, 'ws_1', ?, 2, 1, '{}', '{}')`,
      )
      .bind(day, orgId, mode, completed),
    db.prepare('INSERT OR IGNORE INTO job_statistics_days VALUES (?)').bind(day),
  ])
}

describe('GET /v1/usage', () => {
  it('adds the days that cron has counted and today, in the mode of the key', async () => {
    const shop = await newOrganisation()
    await count(shop.orgId, today() - 2, 'live', 0)
    await count(shop.orgId, today() - 1, 'live', 7)
    await count(shop.orgId, today() - 40, 'live', 5)
    await count(shop.orgId, today() - 1, 'test', 3)
    await endedJob(shop, 'test')
    await endedJob(shop, 'test', FAILED)
    await submit(shop.test)
    const { job_id } = await submit(shop.live)
    await shop.live.delete(`/v1/jobs/${job_id}`)

    const live = await (await shop.live.get('/v1/usage')).json<{ days: object[] }>()
    expect(live.days).toHaveLength(30)
    const yesterday = { completed: 7, failed: 2, other: 1, credits_consumed: 7 }
    const cancelled = { completed: 0, failed: 0, other: 1, credits_consumed: 0 }
    expect(live).toMatchObject({
      mode: 'live',
      from: dateOf(today() - 29),
      to: dateOf(today()),
      total: { completed: 7, failed: 4, other: 3, credits_consumed: 7 },
      is_complete: true,
    })
    expect(live.days.slice(-2)).toEqual([
      { date: dateOf(today() - 1), ...yesterday },
      { date: dateOf(today()), ...cancelled },
    ])

    const range = `from=${dateOf(today() - 40)}&to=${dateOf(today() - 40)}`
    const early = await (await shop.live.get(`/v1/usage?${range}`)).json()
    expect(early).toMatchObject({ days: [{ completed: 5 }], total: { completed: 5 } })

    const test = await (await shop.test.get(`/v1/usage?from=${dateOf(today() - 1)}`)).json()
    expect(test).toMatchObject({
      mode: 'test',
      days: [{ completed: 3 }, { completed: 1, failed: 1, other: 1, credits_consumed: 0 }],
      total: { credits_consumed: 0 },
    })
    const other = await (await (await newOrganisation()).live.get('/v1/usage')).json()
    expect(other).toMatchObject({ total: { completed: 0, failed: 0, other: 0 } })
  })

  it('divides the days by API key, before and after cron has counted them', async () => {
    const shop = await newOrganisation()
    const keys = `/operator/organisations/${shop.orgId}/api-keys`
    const app = await (
      await operator.post(keys, { mode: 'test' })
    ).json<{ id: string; key: string }>()
    await endedJob(shop, 'test')
    await endedJob({ ...shop, test: clientOf(app.key) }, 'test', FAILED)
    await operator.delete(`${keys}/${app.id}`)
    const inConsole = await endedJob(shop, 'test')
    await jobsDb(shop.orgId)
      .prepare("UPDATE jobs SET api_key_id = 'console' WHERE id = ?")
      .bind(inConsole)
      .run()
    await count(shop.orgId, today() - 5, 'test', 3)

    const range = `from=${dateOf(today() - 5)}&to=${dateOf(today())}`
    const read = async (query: string) =>
      (await (await shop.test.get(`/v1/usage?${range}${query}`)).json()) as { api_keys: object[] }
    const outcomes = (completed: number, failed: number, other = 0) => ({
      completed,
      failed,
      other,
      credits_consumed: 0,
    })
    const usageOf = (name: string | null, id: unknown, total: object, age = 0) => ({
      api_key_id: id,
      name,
      days: [{ date: dateOf(today() - age), ...total }],
      total,
    })
    const expected = [
      usageOf(null, 'console', outcomes(1, 0)),
      usageOf('First test key', expect.stringMatching(/^key_/), outcomes(1, 0)),
      usageOf('Created by an operator', app.id, outcomes(0, 1)),
      usageOf(null, null, outcomes(3, 2, 1), 5),
    ]
    const live = await read('&group_by=api_key')
    expect(live.api_keys).toEqual(expected)
    expect(live).toMatchObject({ total: outcomes(5, 3, 1), is_complete: true })
    expect(await read('')).not.toHaveProperty('api_keys')

    // A day with jobs of other files that are unfinished waits for two more, and cron counts ten minutes late.
    pass(4 * DAY_MS)
    for (let day = 0; day < 4; day++) await countFinishedDay(env)
    await jobsDb(shop.orgId)
      .prepare('DELETE FROM jobs WHERE organisation_id = ?')
      .bind(shop.orgId)
      .run()
    expect((await read('&group_by=api_key')).api_keys).toEqual(expected)
  })

  it('ends today, and rejects other ranges', async () => {
    const { live } = await newOrganisation()
    const tomorrow = await live.get(`/v1/usage?to=${dateOf(today() + 9)}&form=1`)
    expect(await tomorrow.json()).toMatchObject({ to: dateOf(today()) })
    expect(tomorrow.headers.get('Ignored-Fields')).toBe('form')
    const all = await live.get(`/v1/usage?from=${dateOf(today() - 89)}`)
    expect((await all.json<{ days: object[] }>()).days).toHaveLength(90)
    for (const query of [
      `from=${dateOf(today() - 90)}`,
      `from=${dateOf(today() + 1)}`,
      `from=${dateOf(today() - 1)}&to=${dateOf(today() - 2)}`,
      'from=2026-02-30',
      'to=yesterday',
      'to=2026-11-01&to=2026-11-02',
      'group_by=workspace',
    ]) {
      const response = await live.get(`/v1/usage?${query}`)
      expect([response.status, await codeOf(response)]).toEqual([422, 'validation_error'])
    }
    const malformed = await errorOf(await live.get('/v1/usage?from=1'))
    expect(malformed.message).toBe('from must be a date such as 2026-11-20.')
  })

  it('counts the jobs of today at most once a minute', async () => {
    const shop = await newOrganisation()
    const total = async () =>
      (await (await shop.test.get('/v1/usage')).json<{ total: { other: number } }>()).total.other
    expect(await total()).toBe(0)
    await submit(shop.test)
    expect(await total()).toBe(0)
    pass(61_000)
    expect(await total()).toBe(1)
  })
})
