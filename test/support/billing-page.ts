// What tests of the console's Billing page share.
import { env } from 'cloudflare:workers'
import { expect } from 'vitest'
import { settingsOf } from '../../src/platform/settings.ts'
import type { Browser, Owner } from './browser.ts'

export const PAGE = '/console/billing'
export const PACK = { pack: '500', amount: '4000', currency: 'EUR' }
export const GROWTH = { plan: 'growth', amount: '4900', currency: 'EUR' }

/** Sets PAYMENT_PROVIDER. The address of the tests is public, where the sandbox requires it. */
export const setPaymentProvider = (name: 'sandbox' | 'stripe' | undefined) => {
  settingsOf(env).paymentProvider = name
}

/** The ids of an organisation's payments, newest first. */
export async function paymentIdsOf(organisationId: string): Promise<string[]> {
  const { results } = await env.DB.prepare(
    'SELECT id FROM payments WHERE organisation_id = ? ORDER BY id DESC',
  )
    .bind(organisationId)
    .all<{ id: string }>()
  return results.map(({ id }) => id)
}

/** Makes the next reads of an organisation's payments ask the provider. */
export const expireReads = (organisationId: string) =>
  env.DB.prepare('UPDATE payments SET checked_at = 0 WHERE organisation_id = ?')
    .bind(organisationId)
    .run()

/** Starts the purchase of a pack. */
export async function buy({ browser, organisationId }: Owner): Promise<string> {
  await browser.get(PAGE)
  const page = await browser.post(`${PAGE}/packs`, PACK)
  expect(page.path).toMatch(/^https:\/\/pay\.test\//)
  const [paymentId = ''] = await paymentIdsOf(organisationId)
  return paymentId
}

/** The section of a payment that console.js polls. */
export const open = async (browser: Browser, paymentId: string) =>
  (await browser.get(`${PAGE}/payments/${paymentId}/live`)).html
