// Cleanup of the Organisation's SQLite by its alarm.
import { evictDurableObject, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { newId } from '../../src/platform/ids.ts'
import { Ledger } from '../../src/credits/ledger.ts'
import { violationsOf } from '../support/facts.ts'
import { fakePictures } from '../support/live-job.ts'
import { DAY_MS, endedJob, fakeClock, pass, retain, runAlarm } from '../support/retention.ts'
import {
  ledgerOf,
  newOrganisation,
  operator,
  submit,
  type TestOrganisation,
} from '../support/world.ts'

fakePictures()
fakeClock()

const stubOf = ({ orgId }: TestOrganisation) => env.ORGANISATION.getByName(orgId)

const reservations = (shop: TestOrganisation) =>
  runInDurableObject(stubOf(shop), (_, { storage }) =>
    storage.sql
      .exec<{ job_id: string }>('SELECT job_id FROM reservations ORDER BY job_id')
      .toArray()
      .map(({ job_id }) => job_id),
  )

const alarmOf = (shop: TestOrganisation) =>
  runInDurableObject(stubOf(shop), (_, { storage }) => storage.getAlarm())

const kindsOf = async (shop: TestOrganisation) =>
  (await stubOf(shop).entries({ limit: 10_000 })).map(({ kind }) => kind).reverse()

async function cancelledJob({ live }: TestOrganisation): Promise<string> {
  const { job_id: jobId } = await submit(live)
  expect((await live.delete(`/v1/jobs/${jobId}`)).status).toBe(200)
  return jobId
}

describe('closed reservations', () => {
  it('are not read again by the search for open ones, which includes jobs after a change of the clock', async () => {
    const shop = await newOrganisation({ credits: 500 })
    await endedJob(shop) // sets the alarm
    await runInDurableObject(stubOf(shop), (_, { storage }) => {
      const ledger = new Ledger(storage)
      const openJobs = () => ledger.openSince(Number.MAX_SAFE_INTEGER, 10)
      const [earlier, open] = [newId('job'), newId('job')]
      ledger.reserve(open)
      for (let n = 0; n < 150; n++) {
        const jobId = newId('job')
        ledger.reserve(jobId)
        ledger.capture(jobId)
      }
      ledger.cleanUp(Date.now())
      expect(openJobs()).toEqual([open])
      ledger.capture(open)
      pass(1_000)
      ledger.cleanUp(Date.now())
      expect(storage.kv.get<string>('first-open-reservation')).toSatisfy((id) => id > open)
      ledger.reserve(earlier)
      expect(openJobs()).toEqual([earlier])
    })
  })

  it('are deleted after 31 days, and repeated messages change nothing', async () => {
    const shop = await newOrganisation({ credits: 10 })
    const completed = await endedJob(shop)
    const cancelled = await cancelledJob(shop)
    const { job_id: open } = await submit(shop.live)
    pass(31 * DAY_MS - 1_000)
    await runAlarm(shop)
    expect(await reservations(shop)).toEqual([completed, cancelled, open])
    pass(2_000)
    await runAlarm(shop)
    expect(await reservations(shop)).toEqual([open])
    const before = await ledgerOf(shop)
    await stubOf(shop).capture(completed)
    await stubOf(shop).capture(cancelled)
    await stubOf(shop).release([completed, cancelled])
    expect(await ledgerOf(shop)).toEqual(before)
    expect(await reservations(shop)).toEqual([open])
    // The open reservation can still be settled.
    expect((await shop.live.delete(`/v1/jobs/${open}`)).status).toBe(200)
    expect(await ledgerOf(shop)).toEqual({ granted: 10, balance: 9, reserved: 0, consumed: 1 })
    expect(await violationsOf(shop.orgId)).toEqual([])
  })

  it('of younger jobs can still be captured late', async () => {
    const shop = await newOrganisation({ credits: 10 })
    await stubOf(shop).capture(newId('job'))
    expect(await ledgerOf(shop)).toMatchObject({ balance: 9, consumed: 1 })
  })
})

describe('ledger entries', () => {
  it('are rolled up per day between grants after 400 days', async () => {
    const shop = await newOrganisation({ credits: 10 })
    pass(DAY_MS - (Date.now() % DAY_MS))
    await endedJob(shop)
    await cancelledJob(shop)
    await operator.post(`/operator/organisations/${shop.orgId}/credits`, {
      amount: 5,
      reason: 'Bought',
      reference: 'invoice-1',
    })
    await endedJob(shop)
    pass(DAY_MS)
    await endedJob(shop)
    await endedJob(shop)
    pass(399 * DAY_MS)
    await runAlarm(shop)
    expect(await kindsOf(shop)).not.toContain('rollup')
    pass(DAY_MS)
    await runAlarm(shop)
    expect((await kindsOf(shop)).join()).toBe(
      'grant,rollup,grant,rollup,reserve,capture,reserve,capture',
    )
    pass(DAY_MS)
    await runAlarm(shop)
    expect(await kindsOf(shop)).toEqual(['grant', 'rollup', 'grant', 'rollup', 'rollup'])
    await retain()
    const totals = { granted: 15, balance: 11, reserved: 0, consumed: 4 }
    expect(await ledgerOf(shop)).toEqual(totals)
    expect(await violationsOf(shop.orgId, { deletedCompleted: 4 })).toEqual([])
    // The reference of an old grant cannot be used again.
    await operator.post(`/operator/organisations/${shop.orgId}/credits`, {
      amount: 5,
      reason: 'Bought',
      reference: 'invoice-1',
    })
    expect(await ledgerOf(shop)).toEqual(totals)
  })

  it('are rolled up in batches with the same result', async () => {
    const shop = await newOrganisation({ credits: 5_000 })
    await endedJob(shop) // sets the alarm
    pass(DAY_MS - (Date.now() % DAY_MS))
    await runInDurableObject(stubOf(shop), (_, { storage }) => {
      const ledger = new Ledger(storage)
      for (let day = 0; day < 3; day++) {
        for (let n = 0; n < 700; n++) {
          const jobId = newId('job')
          ledger.reserve(jobId)
          if (n % 3 === 0) ledger.release(jobId)
          else ledger.capture(jobId)
        }
        pass(DAY_MS)
      }
    })
    await evictDurableObject(stubOf(shop)) // its memory does not know the entries of another ledger
    const before = await ledgerOf(shop)
    pass(402 * DAY_MS)
    for (let batch = 0; batch < 10; batch++) await runAlarm(shop)
    expect(await kindsOf(shop)).toEqual(['grant', ...Array<string>(4).fill('rollup')])
    expect(await ledgerOf(shop)).toEqual(before)
    expect(await reservations(shop)).toEqual([])
    const found = await violationsOf(shop.orgId, { deletedCompleted: before.consumed - 1 })
    expect(found).toEqual([])
  })
})

describe('the alarm for the cleanup', () => {
  it('is set at most once a day and not by requests', async () => {
    const shop = await newOrganisation()
    await endedJob(shop)
    pass(6 * 60_000)
    await runAlarm(shop)
    const at = (await alarmOf(shop)) ?? 0
    expect(at).toBeGreaterThan(Date.now() + 29 * DAY_MS)
    await endedJob(shop)
    pass(32 * DAY_MS)
    await runAlarm(shop)
    expect((await alarmOf(shop)) ?? 0).toBeGreaterThanOrEqual(Date.now() + DAY_MS)
  })
})
