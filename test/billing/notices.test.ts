// Emails about the balance: at 20 % of the last grant and at 0, once each until the next grant.
import { evictDurableObject, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  billedShop,
  mailsTo,
  reserve,
  runDueAlarm,
  type BilledShop,
} from '../support/billed-shop.ts'
import { updatePreferences } from '../../src/users/notification-preferences.ts'
import { newUser } from '../support/billing.ts'
import { fakePayments } from '../support/fake-payment-provider.ts'
import { DAY_MS, fakeClock, pass } from '../support/retention.ts'
import { newOrganisation, type TestOrganisation } from '../support/world.ts'

fakeClock()
beforeEach(() => {
  fakePayments()
  pass(DAY_MS)
})

const LOW = 'Shop is running low on credits'
const EMPTY = 'Shop has no credits left'

const stubOf = ({ orgId }: TestOrganisation) => env.ORGANISATION.getByName(orgId)
const levelOf = async (shop: TestOrganisation) => (await stubOf(shop).creditStatus()).level

const grant = (shop: TestOrganisation, amount: number, reference: string) =>
  stubOf(shop).grant({ amount, reference, reason: 'Bought' })

/** Submits live jobs that complete. */
async function consume(shop: TestOrganisation, credits: number): Promise<void> {
  for (const jobId of await reserve(shop, credits)) await stubOf(shop).capture(jobId)
}

async function use(shop: BilledShop, credits: number): Promise<string[]> {
  for (let n = 0; n < credits; n++) {
    await consume(shop, 1)
    await runDueAlarm(shop)
  }
  return mailsTo(shop)
}

/** Brings the object into the state of an earlier version. */
async function forgetNotices(shop: TestOrganisation): Promise<void> {
  await runInDurableObject(stubOf(shop), (_, { storage }) => storage.kv.delete('balance-notices'))
  await evictDurableObject(stubOf(shop))
}

describe('the level of the balance', () => {
  it('is low at 20 % of the last grant and empty at 0', async () => {
    const shop = await newOrganisation({ credits: 10 })
    expect(await stubOf(shop).creditStatus()).toEqual({ balance: 10, level: 'ok' })
    await consume(shop, 7)
    expect(await levelOf(shop)).toBe('ok')
    await consume(shop, 1)
    expect(await levelOf(shop)).toBe('low')
    await consume(shop, 2)
    expect(await levelOf(shop)).toBe('empty')
  })

  it('follows the last grant, not a repeated or a reversed one', async () => {
    const shop = await newOrganisation({ credits: 10 })
    await grant(shop, 100, 'a')
    await grant(shop, 2, 'b')
    await grant(shop, 100, 'a')
    await stubOf(shop).reverse({ reference: 'a', credits: 90, reason: 'Refunded' })
    expect(await stubOf(shop).creditStatus()).toEqual({ balance: 22, level: 'ok' })
  })

  it('is empty for an organisation that never had credits', async () => {
    const shop = await newOrganisation({ credits: 0 })
    expect(await stubOf(shop).creditStatus()).toEqual({ balance: 0, level: 'empty' })
  })
})

describe('the owners', () => {
  it('are informed once at 20 % and once at 0', async () => {
    const shop = await billedShop({ credits: 10 })
    expect(await use(shop, 7)).toEqual([])
    expect(await use(shop, 1)).toEqual([LOW])
    expect(await use(shop, 1)).toEqual([LOW])
    expect(await use(shop, 3)).toEqual([LOW, EMPTY])
  })

  it('are informed unless they switched it off, and so are billing members', async () => {
    const shop = await billedShop({ credits: 10 })
    const accountant = await newUser(shop.orgId, 'billing')
    const developer = await newUser(shop.orgId)
    const choices = new Map([[`${shop.orgId}.low_balance`, false]])
    await updatePreferences({ env, actor: shop.owner, choices })
    await env.DB.prepare("UPDATE members SET role = 'developer' WHERE user_id = ?")
      .bind(developer.userId)
      .run()
    expect(await use(shop, 8)).toEqual([])
    expect(mailsTo({ ...shop, owner: accountant })).toEqual([LOW])
    expect(mailsTo({ ...shop, owner: developer })).toEqual([])
    // No recipient is left, so there is nothing to repeat.
    await updatePreferences({ env, actor: accountant, choices })
    await use(shop, 2)
    expect(mailsTo({ ...shop, owner: accountant })).toEqual([LOW])
    expect(await runDueAlarm(shop)).toBe(false)
  })

  it('are informed only that the balance is empty when it falls at once', async () => {
    const shop = await billedShop({ credits: 10 })
    await consume(shop, 10)
    await runDueAlarm(shop)
    expect(mailsTo(shop)).toEqual([EMPTY])
  })

  it('are not informed about reserved credits, which may return', async () => {
    const shop = await billedShop({ credits: 10 })
    const jobs = await reserve(shop, 10)
    await runDueAlarm(shop)
    expect(mailsTo(shop)).toEqual([])
    expect(await levelOf(shop)).toBe('empty')
    await stubOf(shop).release(jobs.slice(0, 5))
    expect(await levelOf(shop)).toBe('ok')
    for (const jobId of jobs.slice(5)) await stubOf(shop).capture(jobId)
    await runDueAlarm(shop)
    expect(mailsTo(shop)).toEqual([])
  })

  it('are not informed again after credits of jobs were released', async () => {
    const shop = await billedShop({ credits: 10 })
    await use(shop, 8)
    const { job_id: jobId } = await (
      await shop.live.post('/v1/tryon', {
        model_image_url: 'https://cdn.test/model',
        garment_image_url: 'https://cdn.test/garment',
      })
    ).json<{ job_id: string }>()
    await runDueAlarm(shop)
    expect(mailsTo(shop)).toEqual([LOW])
    await stubOf(shop).release([jobId])
    expect(await use(shop, 1)).toEqual([LOW])
  })

  it('are informed again after a grant that lifted the balance', async () => {
    const shop = await billedShop({ credits: 10 })
    expect(await use(shop, 10)).toEqual([LOW, EMPTY])
    await grant(shop, 5, 'a')
    expect(await use(shop, 4)).toEqual([LOW, EMPTY, LOW])
    expect(await use(shop, 1)).toEqual([LOW, EMPTY, LOW, EMPTY])
  })

  it('are not informed about a balance that stays negative after a grant', async () => {
    const shop = await billedShop({ credits: 10 })
    await grant(shop, 10, 'a')
    await use(shop, 20)
    await stubOf(shop).reverse({ reference: 'a', credits: 10, reason: 'Refunded' })
    await grant(shop, 1, 'b')
    await use(shop, 1)
    expect(mailsTo(shop)).toEqual([LOW, EMPTY])
  })

  it('of an organisation that never had credits are not informed', async () => {
    const shop = await billedShop({ credits: 0 })
    await stubOf(shop).scheduleBilling({ organisationId: shop.orgId, at: Date.now() })
    expect(await use(shop, 1)).toEqual([])
  })

  it('of an organisation that is scheduled for deletion are not informed', async () => {
    const shop = await billedShop({ credits: 10 })
    await consume(shop, 10)
    await env.DB.prepare('UPDATE organisations SET delete_after = ? WHERE id = ?')
      .bind(Date.now() + DAY_MS, shop.orgId)
      .run()
    await runDueAlarm(shop)
    expect(mailsTo(shop)).toEqual([])
  })

  it('of an object from before this version are informed, by the last grant of its ledger', async () => {
    const shop = await billedShop({ credits: 10 })
    await forgetNotices(shop)
    expect(await use(shop, 8)).toEqual([LOW])
  })
})

it('informs an organisation without owners without an error', async () => {
  const shop = await newOrganisation({ credits: 2 })
  await consume(shop, 2)
  expect(await runDueAlarm(shop)).toBe(true)
  expect(await levelOf(shop)).toBe('empty')
})
