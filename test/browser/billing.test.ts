// Buying credits and plans with the sandbox, and auto-reload, in Chromium.
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { assertAccessible, assertSound, findLowContrast, findOverflows } from './support/checks.ts'
import { onboard, openUntil, openConsole, type Console } from './support/console.ts'

const CARDS = {
  success: '4242 4242 4242 4242',
  declined: '4000 0000 0000 0002',
  confirm: '4000 0025 0000 3155',
  late: '4000 0000 0000 3030',
}

let site: Console
/** The window of an owner of a new organisation with 100 credits. */
let page: Page

before(async () => {
  site = await openConsole()
})
beforeEach(async () => {
  page = await site.open()
  await onboard(page)
})
after(() => site.close())

describe('buying credits', () => {
  it('adds the credits and stores the payment method', async () => {
    await buy(page, '500', CARDS.success)
    await page.getByText('500 credits were added').waitFor()
    assert.equal(await balance(page), '600')
    await page.getByRole('button', { name: 'Back to Billing' }).click()
    await page.getByText('Visa •••• 4242').first().waitFor()
    await page.getByRole('link', { name: 'Payments', exact: true }).click()
    const row = page.getByRole('row', { name: /500 credits/ })
    assert.match((await row.textContent()) ?? '', /€40.*paid/)
    const [invoice] = await Promise.all([
      page.context().waitForEvent('page'),
      row.getByRole('link', { name: /Invoice/ }).click(),
    ])
    await invoice.getByText('500 credits').first().waitFor()
  })

  it('shows a late confirmation without a reload', async () => {
    await buy(page, '100', CARDS.late)
    await page
      .getByText(/We are waiting for the confirmation|The payment is not complete/)
      .waitFor()
    await page.waitForLoadState() // without its styles, the page is wider
    await page.evaluate('window.marker = true')
    assert.deepEqual(await findOverflows(page), [])
    await assertAccessible(page)
    await page.getByText('100 credits were added').waitFor({ timeout: 60_000 })
    assert.equal(await balance(page), '200')
    assert.equal(await page.locator('[data-announcer]').textContent(), 'Payment paid')
    assert.equal(await page.evaluate('window.marker'), true)
  })

  it('works without JavaScript', async () => {
    const page = await site.open({ javaScriptEnabled: false })
    await onboard(page)
    await buy(page, '100', CARDS.success)
    await page.getByText('100 credits were added').waitFor()
  })

  it('charges nothing when the card is declined, and can be continued', async () => {
    await buy(page, '100', CARDS.declined)
    await page.getByText('The card was declined.').waitFor()
    await page.goto('/console/billing#payments')
    assert.match((await page.locator('.metrics').textContent()) ?? '', /Credit balance100/)
    await page.getByRole('link', { name: /Continue payment/ }).click()
    await pay(page, CARDS.success)
    await page.getByText('100 credits were added').waitFor()
    assert.equal(await balance(page), '200')
  })

  it('asks the holder of the card for a confirmation', async () => {
    await buy(page, '100', CARDS.confirm)
    await page.getByRole('heading', { name: 'Confirm the payment' }).waitFor()
    await page.getByRole('button', { name: 'Decline' }).click()
    await page.getByText('The confirmation was declined.').waitFor()
    await pay(page, CARDS.confirm)
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByText('100 credits were added').waitFor()
    assert.equal(await balance(page), '200')
  })
})

describe('a plan', () => {
  it('is started, upgraded and ended', async () => {
    await page.goto('/console/billing#plan')
    await page.getByRole('button', { name: 'Upgrade to Growth' }).click()
    await pay(page, CARDS.success)
    await page.getByText('750 credits were added').waitFor()
    await page.goto('/console/billing#plan')
    await page.getByRole('heading', { name: 'Plan Growth' }).waitFor()
    await page.getByRole('button', { name: 'Upgrade to Scale' }).click()
    await page.getByText('€250 plus tax').waitFor()
    await assertAccessible(page)
    await page.getByRole('button', { name: 'Pay €250 and upgrade' }).click()
    await page.getByText('5,250 credits were added').waitFor()
    await page.goto('/console/billing#plan')
    await page.getByText('1,200 requests per minute').first().waitFor()
    await choose(page, 'Downgrade to Starter')
    await page.getByText('The plan changes to Starter on').waitFor()
    await assertAccessible(page)
    await page.getByRole('button', { name: 'Keep the plan' }).click()
    await page.getByText('Your plan remains Scale.').waitFor()
  })
})

describe('auto-reload', () => {
  it('buys a pack when the balance is below the threshold', async () => {
    await page.goto('/console/billing')
    await page.getByLabel('Turn on auto-reload').check()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Auto-reload requires a stored payment method.').waitFor()
    await buy(page, '100', CARDS.success)
    await page.getByText('100 credits were added').waitFor()
    await page.goto('/console/billing')
    await page.getByLabel('Turn on auto-reload').check()
    await page.getByLabel('When the balance is below').fill('300')
    await page.getByLabel('Buy', { exact: true }).selectOption({ label: '500 credits for €40' })
    await page.getByLabel('Monthly maximum in EUR').fill('10')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The monthly maximum must be').waitFor()
    assert.equal(await page.getByLabel('When the balance is below').inputValue(), '300')
    assert.equal(await page.getByLabel('Turn on auto-reload').isChecked(), true)
    await page.getByLabel('Monthly maximum in EUR').fill('100')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Auto-reload settings saved.').waitFor()
    const payment = page.getByRole('row', { name: /500 credits \(auto-reload\)/ })
    await openUntil(page, '/console/billing#payments', payment.filter({ hasText: 'paid' }))
    assert.match((await page.locator('.metrics').textContent()) ?? '', /Credit balance700/)
    await page.goto('/console/billing')
    await page.getByText('€40 spent this month').waitFor()
  })
})

describe('the pages of billing', () => {
  it('fit every window width and are accessible, light and dark', async () => {
    await buy(page, '2,000', CARDS.declined)
    await buy(page, '100', CARDS.success)
    await page.getByText('100 credits were added').waitFor()
    const payment = new URL(page.url()).pathname
    await page.goto('/console/billing#plan')
    await page.getByRole('button', { name: 'Upgrade to Growth' }).click()
    await pay(page, CARDS.success)
    for (const path of [
      '/console/billing',
      '/console/billing#plan',
      payment,
      '/pricing?currency=INR',
    ]) {
      await page.goto(path)
      for (const action of await page.locator('main summary:visible').all()) await action.click()
      await assertSound(page, path)
      await page.keyboard.press('Tab') // makes the browser show focus indicators
      assert.deepEqual(await findLowContrast(page), [], path)
    }
  })
})

/** Opens the payment page for a pack and pays with a test card. */
async function buy(page: Page, credits: string, card: string): Promise<void> {
  await page.goto('/console/billing')
  await page.getByRole('button', { name: `Buy ${credits} credits` }).click()
  await pay(page, card)
}

/** Pays on the open payment page. */
async function pay(page: Page, card: string): Promise<void> {
  await page.getByRole('radio', { name: card }).check()
  await page.getByRole('button', { name: /^Pay / }).click()
}

/** Opens the confirmation of a plan change and confirms it. */
async function choose(page: Page, name: string): Promise<void> {
  await page.locator('summary').and(page.getByLabel(name)).click()
  await page.locator('form').getByRole('button', { name }).click()
}

const balance = (page: Page) => page.locator('[data-balance]').textContent()
