// The settings of auto-reload: who may change them, and which values are accepted.
import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, it } from 'vitest'
import { AUTO_RELOAD_DEFAULTS, autoReloadSettings } from '../../src/billing/auto-reload-settings.ts'
import { updateOrganisation } from '../../src/billing/update-organisation.ts'
import { newId } from '../../src/platform/ids.ts'
import {
  auditActionsOf,
  billedShop,
  failBatches,
  paymentsOf,
  RELOAD,
  reserve,
  rowOf,
  setAutoReload,
  type BilledShop,
} from '../support/billed-shop.ts'
import { newUser } from '../support/billing.ts'
import { fakePayments } from '../support/fake-payment-provider.ts'
import { runAlarm } from '../support/retention.ts'
import { operator } from '../support/world.ts'

beforeEach(() => void fakePayments())

const enabledOnApi = async ({ live }: BilledShop) =>
  (await (await live.get('/v1/account')).json<{ auto_reload_enabled: boolean }>())
    .auto_reload_enabled

describe('an owner', () => {
  it('turns auto-reload on and off with effect from the next request', async () => {
    const shop = await billedShop({ credits: 100 })
    expect(await enabledOnApi(shop)).toBe(false)
    await setAutoReload(shop, { threshold: 20, pack: 500, monthlyMax: 4_000 })
    expect(await enabledOnApi(shop)).toBe(true)
    expect(await rowOf(shop)).toMatchObject({
      autoReloadEnabled: true,
      autoReloadThreshold: 20,
      autoReloadPack: 500,
      autoReloadMonthlyMax: 4_000,
    })
    await setAutoReload(shop, { enabled: false })
    expect(await enabledOnApi(shop)).toBe(false)
    expect(
      (await auditActionsOf(shop)).filter((action) => action === 'auto_reload.updated'),
    ).toHaveLength(2)
  })

  it('records nothing when nothing has changed', async () => {
    const shop = await billedShop({ credits: 100 })
    await setAutoReload(shop)
    await setAutoReload(shop)
    expect(
      (await auditActionsOf(shop)).filter((action) => action === 'auto_reload.updated'),
    ).toHaveLength(1)
  })

  it.each([
    [{ pack: 250 }, 'The pack must be one of 100, 500, 2,000 and 10,000 credits.'],
    [{ pack: NaN }, 'The pack must be one of'],
    [{ threshold: 0 }, 'The threshold must be a whole number of credits from 1 to 1,000,000.'],
    [{ threshold: 2.5 }, 'The threshold must be'],
    [{ threshold: 1_000_001 }, 'The threshold must be'],
    [{ monthlyMax: 799 }, 'The monthly maximum must be from $8, the price of the pack, to'],
    [{ monthlyMax: 500_001 }, 'to $5,000. Contact support for a higher one.'],
    [{ monthlyMax: 800.5 }, 'The monthly maximum must be'],
    [{ monthlyMax: Infinity }, 'The monthly maximum must be'],
  ])('cannot save %o', async (settings, message) => {
    const shop = await billedShop({ credits: 100 })
    await expect(setAutoReload(shop, settings)).rejects.toMatchObject({
      code: 'validation_error',
      message: expect.stringContaining(message),
    })
    expect(await rowOf(shop)).toMatchObject({ autoReloadEnabled: false, autoReloadPack: null })
  })

  it('needs a payment method to turn it on, but not to turn it off', async () => {
    const shop = await billedShop({ credits: 100, card: false })
    await expect(setAutoReload(shop)).rejects.toMatchObject({
      code: 'validation_error',
      message: 'Auto-reload requires a stored payment method. Buy a pack first.',
    })
    await setAutoReload(shop, { enabled: false })
    expect(await rowOf(shop)).toMatchObject({ autoReloadEnabled: false, autoReloadThreshold: 5 })
  })

  it('needs a payment method of the provider in use', async () => {
    const shop = await billedShop({ credits: 100 })
    await env.DB.prepare(
      "UPDATE billing_accounts SET provider = 'stripe' WHERE organisation_id = ?",
    )
      .bind(shop.orgId)
      .run()
    await expect(setAutoReload(shop)).rejects.toMatchObject({ code: 'validation_error' })
  })

  it('cannot turn it on while the organisation is scheduled for deletion', async () => {
    const shop = await billedShop({ credits: 100 })
    await env.DB.prepare('UPDATE organisations SET delete_after = ? WHERE id = ?')
      .bind(Date.now() + 1_000_000, shop.orgId)
      .run()
    await expect(setAutoReload(shop)).rejects.toMatchObject({ code: 'deletion_scheduled' })
  })

  it('stores nothing when the change cannot be recorded', async () => {
    const shop = await billedShop({ credits: 100 })
    const failing = failBatches('auto_reload_threshold')
    await expect(setAutoReload(shop)).rejects.toThrow('D1 is unavailable')
    failing.mockRestore()
    expect(await rowOf(shop)).toMatchObject({ autoReloadEnabled: false })
  })
})

describe('other users', () => {
  it('get not_found: members, owners of other organisations and of unknown ones', async () => {
    const shop = await billedShop({ credits: 100 })
    const other = await billedShop({ credits: 100 })
    const member = await newUser(shop.orgId, 'developer')
    for (const owner of [member, other.owner]) {
      await expect(setAutoReload({ ...shop, owner })).rejects.toMatchObject({ code: 'not_found' })
    }
    const unknown = { ...shop, orgId: newId('org') }
    await expect(setAutoReload(unknown)).rejects.toMatchObject({ code: 'not_found' })
    expect(await rowOf(shop)).toMatchObject({ autoReloadEnabled: false })
  })
})

describe('the defaults', () => {
  it('apply to an organisation that an operator has enabled', async () => {
    const shop = await billedShop({ credits: 100 })
    const response = await operator.patch(`/operator/organisations/${shop.orgId}`, {
      auto_reload_enabled: true,
    })
    expect(response.status).toBe(200)
    expect(await enabledOnApi(shop)).toBe(true)
    expect(autoReloadSettings(await rowOf(shop), null)).toEqual({
      threshold: AUTO_RELOAD_DEFAULTS.threshold,
      pack: AUTO_RELOAD_DEFAULTS.pack,
      amount: 4_000,
      monthlyMax: 16_000,
    })
    expect(RELOAD.pack).not.toBe(AUTO_RELOAD_DEFAULTS.pack)
  })
})

describe('the ceiling of the monthly maximum', () => {
  const ceilingPath = ({ orgId }: BilledShop) => `/operator/organisations/${orgId}`

  it('depends on the currency', async () => {
    const shop = await billedShop({ credits: 100, region_code: 'IN' })
    await setAutoReload(shop, { monthlyMax: 40_000_000 })
    await expect(setAutoReload(shop, { monthlyMax: 40_000_001 })).rejects.toMatchObject({
      message: expect.stringContaining('to ₹4,00,000. Contact support'),
    })
  })

  it('is lifted and lowered by operators only', async () => {
    const shop = await billedShop({ credits: 100 })
    const lift = await operator.patch(ceilingPath(shop), { auto_reload_ceiling: 2_000_000 })
    expect(lift.status).toBe(200)
    await setAutoReload(shop, { monthlyMax: 2_000_000 })
    const billing = await operator.get(`${ceilingPath(shop)}/billing`)
    expect(await billing.json()).toMatchObject({
      auto_reload: { monthly_max: 2_000_000, ceiling: 2_000_000 },
    })
    // What is stored is limited to a ceiling that was lowered later.
    await operator.patch(ceilingPath(shop), { auto_reload_ceiling: null })
    const settings = autoReloadSettings(await rowOf(shop), null)
    expect(settings.monthlyMax).toBe(500_000)
    await expect(
      updateOrganisation({
        env,
        actor: shop.owner,
        organisationId: shop.orgId,
        change: { autoReloadCeiling: 9_000_000 },
      }),
    ).rejects.toMatchObject({ code: 'not_found' })
  })

  it('limits what is charged for a maximum that is stored above it', async () => {
    const provider = fakePayments()
    const shop = await billedShop({ credits: 5 })
    await setAutoReload(shop)
    await env.DB.prepare(
      'UPDATE organisations SET auto_reload_monthly_max = 1000000000, auto_reload_ceiling = 799 WHERE id = ?',
    )
      .bind(shop.orgId)
      .run()
    await env.ORGANISATION.getByName(shop.orgId).refresh()
    await reserve(shop, 1)
    await runAlarm(shop)
    expect(provider.calls).toEqual([])
    expect(await paymentsOf(shop)).toEqual([])
  })
})
