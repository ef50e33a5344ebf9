// Auto-reload under concurrent submissions, with alarms that the runtime delivers.
import { env } from 'cloudflare:workers'
import { runDurableObjectAlarm } from 'cloudflare:test'
import { beforeEach, expect, it, vi } from 'vitest'
import { billedShop, mailsTo, paymentsOf, setAutoReload } from '../support/billed-shop.ts'
import { violationsOf } from '../support/facts.ts'
import { fakePayments } from '../support/fake-payment-provider.ts'
import { dropMessages, PICTURES } from '../support/live-job.ts'
import { ledgerOf } from '../support/world.ts'

beforeEach(() => void dropMessages())

it('starts one payment when 200 concurrent submissions cross the threshold', async () => {
  const provider = fakePayments()
  const shop = await billedShop({ credits: 300 })
  await setAutoReload(shop, { threshold: 200, pack: 500 })
  const responses = await Promise.all(
    Array.from({ length: 200 }, () => shop.live.post('/v1/tryon', PICTURES)),
  )
  expect(responses.map(({ status }) => status)).toEqual(Array(200).fill(202))
  await vi.waitUntil(async () => (await ledgerOf(shop)).granted > 300)
  // Further runs of the alarm change nothing.
  const organisation = env.ORGANISATION.getByName(shop.orgId)
  for (let n = 0; n < 3; n++) {
    await organisation.scheduleBilling({ organisationId: shop.orgId, at: Date.now() })
    await runDurableObjectAlarm(organisation)
  }
  expect(await paymentsOf(shop)).toEqual([
    expect.objectContaining({ status: 'paid', credits: 500 }),
  ])
  expect(provider.paidBy(shop.orgId)).toHaveLength(1)
  expect(provider.calls.filter((call) => call === 'charge')).toHaveLength(1)
  expect(await ledgerOf(shop)).toEqual({ granted: 800, balance: 600, reserved: 200, consumed: 0 })
  const ledger = (await violationsOf(shop.orgId)).filter((found) => !found.includes('is still'))
  expect(ledger).toEqual([])
})

it('starts one payment when 200 concurrent submissions use up all credits', async () => {
  const provider = fakePayments()
  const shop = await billedShop({ credits: 100 })
  await setAutoReload(shop, { threshold: 50, pack: 100 })
  const responses = await Promise.all(
    Array.from({ length: 200 }, () => shop.live.post('/v1/tryon', PICTURES)),
  )
  const accepted = responses.filter(({ status }) => status === 202).length
  expect(accepted).toBeGreaterThanOrEqual(100)
  expect(responses.filter(({ status }) => status === 402)).toHaveLength(200 - accepted)
  await vi.waitUntil(async () => (await ledgerOf(shop)).granted === 200)
  expect(await paymentsOf(shop)).toHaveLength(1)
  expect(provider.paidBy(shop.orgId)).toHaveLength(1)
  const subjects = mailsTo(shop)
  expect(new Set(subjects).size).toBe(subjects.length)
})
