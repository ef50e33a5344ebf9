// GET /v1/usage: counted days and today, ranges, and what it costs.
import { describe, expect, it } from 'vitest'
import { DAY_MS } from '../../src/domain/limits.ts'
import { codeOf, errorOf } from '../support/client.ts'
import { jobsDb } from '../support/jobs-database.ts'
import { endedJob, fakeClock, pass } from '../support/retention.ts'
import { newOrganisation, submit } from '../support/world.ts'

fakeClock()

const FAILED = { model_image_url: 'https://test.invalid/fail/person_not_found' }
const today = () => Math.floor(Date.now() / DAY_MS)
const dateOf = (day: number) => new Date(day * DAY_MS).toISOString().slice(0, 10)

/** Stores what cron has counted for a day. */
async function count(orgId: string, day: number, mode: string, completed: number) {
  const db = jobsDb(orgId)
  await db.batch([
    db
      .prepare("INSERT INTO job_statistics VALUES (?, ?, ?, 'ws_1', ?, 2, 1, '{}', '{}')")
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
