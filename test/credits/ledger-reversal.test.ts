// Reversals: credits that are taken back after a refund or a lost dispute.
import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { Ledger } from '../../src/credits/ledger.ts'
import { violationsOf } from '../support/facts.ts'
import { fakePictures, PICTURES } from '../support/live-job.ts'
import { DAY_MS, endedJob, fakeClock, pass } from '../support/retention.ts'
import { ledgerOf, newOrganisation, type TestOrganisation } from '../support/world.ts'

fakePictures()
fakeClock()

const stubOf = ({ orgId }: TestOrganisation) => env.ORGANISATION.getByName(orgId)

const grant = (shop: TestOrganisation, amount: number, reference = 'pay_1') =>
  stubOf(shop).grant({ amount, reference, reason: 'Credits bought' })

const reverse = (shop: TestOrganisation, credits: number, reference = 'pay_1') =>
  stubOf(shop).reverse({ reference, credits, reason: 'Payment refunded' })

const reversals = async (shop: TestOrganisation) =>
  (await stubOf(shop).entries({ limit: 1_000 }))
    .filter(({ kind }) => kind === 'reversal')
    .map(({ amount, reference }) => ({ amount, reference }))
    .reverse()

describe('a reversal', () => {
  it('takes the credits of a grant back once when it is repeated', async () => {
    const shop = await newOrganisation({ credits: 10 })
    await grant(shop, 100)
    for (let n = 0; n < 3; n++) await reverse(shop, 100)
    expect(await ledgerOf(shop)).toEqual({ granted: 10, balance: 10, reserved: 0, consumed: 0 })
    expect(await reversals(shop)).toEqual([{ amount: -100, reference: 'pay_1:reversed:100' }])
    expect(await violationsOf(shop.orgId)).toEqual([])
  })

  it('adds up partial refunds and ignores an earlier total after a later one', async () => {
    const shop = await newOrganisation({ credits: 10 })
    await grant(shop, 100)
    await reverse(shop, 30)
    await reverse(shop, 70)
    await reverse(shop, 30)
    expect(await ledgerOf(shop)).toMatchObject({ granted: 40, balance: 40 })
    expect((await reversals(shop)).map(({ amount }) => amount)).toEqual([-30, -40])
    expect(await violationsOf(shop.orgId)).toEqual([])
  })

  it('takes back at most what was granted', async () => {
    const shop = await newOrganisation({ credits: 10 })
    await grant(shop, 100)
    await reverse(shop, 60)
    await reverse(shop, 1_000)
    await reverse(shop, 2_000)
    expect(await ledgerOf(shop)).toMatchObject({ granted: 10, balance: 10 })
    expect((await reversals(shop)).map(({ amount }) => amount)).toEqual([-60, -40])
  })

  it('of an unknown reference changes nothing', async () => {
    const shop = await newOrganisation({ credits: 10 })
    await grant(shop, 100)
    await reverse(shop, 50, 'pay_2')
    expect(await ledgerOf(shop)).toMatchObject({ granted: 110, balance: 110 })
    expect(await reversals(shop)).toEqual([])
  })

  it('does not touch a grant whose reference starts with the same characters', async () => {
    const shop = await newOrganisation({ credits: 10 })
    await grant(shop, 100, 'pay_1')
    await grant(shop, 200, 'pay_10')
    await grant(shop, 5, 'pay_1:')
    await reverse(shop, 200, 'pay_10')
    await reverse(shop, 40, 'pay_1')
    expect((await reversals(shop)).map(({ amount }) => amount)).toEqual([-200, -40])
    expect(await ledgerOf(shop)).toMatchObject({ granted: 75, balance: 75 })
  })

  it('of zero credits or of a negative number changes nothing', async () => {
    const shop = await newOrganisation({ credits: 10 })
    await grant(shop, 100)
    await reverse(shop, 0)
    await reverse(shop, -5)
    expect(await reversals(shop)).toEqual([])
  })

  it('does not make its grant possible again', async () => {
    const shop = await newOrganisation({ credits: 10 })
    await grant(shop, 100)
    await reverse(shop, 100)
    await grant(shop, 100)
    expect(await ledgerOf(shop)).toMatchObject({ granted: 10, balance: 10 })
  })
})

describe('a negative balance', () => {
  it('rejects live submissions with 402 until credits are added, and accepts test ones', async () => {
    const shop = await newOrganisation({ credits: 0 })
    await grant(shop, 2)
    await endedJob(shop)
    await reverse(shop, 2)
    expect(await ledgerOf(shop)).toEqual({ granted: 0, balance: -1, reserved: 0, consumed: 1 })
    expect(await stubOf(shop).creditStatus()).toEqual({ balance: -1, level: 'empty' })
    const submit = (mode: 'live' | 'test') => shop[mode].post('/v1/tryon', PICTURES)
    expect((await submit('live')).status).toBe(402)
    expect((await submit('test')).status).toBe(202)
    await grant(shop, 1, 'pay_2')
    expect((await submit('live')).status).toBe(402)
    await grant(shop, 1, 'pay_3')
    expect((await submit('live')).status).toBe(202)
  })

  it('can be the result of a reversal while a job is in progress', async () => {
    const shop = await newOrganisation({ credits: 0 })
    await grant(shop, 1)
    expect((await shop.live.post('/v1/tryon', PICTURES)).status).toBe(202)
    await reverse(shop, 1)
    expect(await ledgerOf(shop)).toEqual({ granted: 0, balance: -1, reserved: 1, consumed: 0 })
  })
})

describe('old reversals', () => {
  it('remain after a roll-up, so that they are not repeated', async () => {
    const shop = await newOrganisation({ credits: 10 })
    pass(DAY_MS - (Date.now() % DAY_MS))
    await endedJob(shop)
    await grant(shop, 5)
    await endedJob(shop)
    await reverse(shop, 3)
    await endedJob(shop)
    const before = await ledgerOf(shop)
    pass(402 * DAY_MS)
    await runInDurableObject(stubOf(shop), (_, { storage }) => {
      new Ledger(storage).cleanUp(Date.now())
    })
    const kinds = (await stubOf(shop).entries({ limit: 100 })).map(({ kind }) => kind).reverse()
    expect(kinds).toEqual(['grant', 'rollup', 'grant', 'rollup', 'reversal', 'rollup'])
    await reverse(shop, 3)
    expect(await ledgerOf(shop)).toEqual(before)
    await reverse(shop, 4)
    expect(await ledgerOf(shop)).toEqual({
      ...before,
      granted: before.granted - 1,
      balance: before.balance - 1,
    })
  })

  it('are in the closing record', async () => {
    const shop = await newOrganisation({ credits: 10 })
    await grant(shop, 5)
    await reverse(shop, 3)
    const { totals, grants } = await stubOf(shop).closingRecord()
    expect(totals).toEqual({ granted: 12, balance: 12, reserved: 0, consumed: 0 })
    expect(grants.map(({ amount, reference }) => ({ amount, reference }))).toEqual([
      { amount: 10, reference: 'sign-up' },
      { amount: 5, reference: 'pay_1' },
      { amount: -3, reference: 'pay_1:reversed:3' },
    ])
  })
})
