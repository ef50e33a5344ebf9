// What all pages share: the navigation and menus, and the history after a rejected form, in Chromium.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { onboard, PHONE, openConsole, type Console } from './support/console.ts'

let site: Console

before(async () => {
  site = await openConsole()
})
after(() => site.close())

describe('on a phone', () => {
  it('the menu button shows every page, without JavaScript, below a header of one row', async () => {
    const page = await site.open({ viewport: PHONE, javaScriptEnabled: false })
    await onboard(page, undefined, 'W'.repeat(100))
    await page.goto('/console/settings/team')
    const header = await page.locator('body > header').boundingBox()
    assert.ok(header && header.height < 64)
    const navigation = page.getByRole('navigation', { name: 'Console' })
    assert.equal(await navigation.isVisible(), false)
    await page.locator('summary', { hasText: 'Menu' }).click()
    assert.equal(await navigation.getByRole('link').count(), 15)
    assert.equal(await navigation.locator('[aria-current=page]').textContent(), 'Team')
    await navigation.getByRole('link', { name: 'Audit log' }).click()
    await page.getByRole('heading', { name: 'Audit log' }).waitFor()
  })
})

describe('the menu of organisations', () => {
  it('leads to the other organisations of the user, also in another tab', async () => {
    const page = await site.open()
    const email = await onboard(page, undefined, 'First Fashion')
    const other = await site.open()
    await onboard(other, undefined, 'Second Fashion')
    await site.sql(
      `INSERT INTO members (organisation_id, user_id, role, created_at) SELECT organisations.id, users.id, 'developer', 0 FROM organisations, users
       WHERE organisations.name = 'Second Fashion' AND users.email = '${email}'`,
    )
    await page.goto('/console')
    const first = page.url()
    const menu = page.locator('.organisation-menu')
    await menu.locator('summary').click()
    await menu.getByRole('link', { name: 'Second Fashion' }).click()
    await page.waitForURL((url) => url.href !== first)
    assert.match((await menu.locator('summary').textContent()) ?? '', /Second Fashion/)
    assert.equal(await page.getByRole('link', { name: 'Billing', exact: true }).count(), 0)
    // The first organisation is still at its address.
    await page.goto(`${first}/settings/team`)
    assert.match((await menu.locator('summary').textContent()) ?? '', /First Fashion/)
  })
})

describe('a rejected form', () => {
  it('is shown in place, without JavaScript', async () => {
    const page = await site.open({ javaScriptEnabled: false })
    await onboard(page)
    await page.goto('/console/settings/webhooks')
    await sendInvalidUrl(page)
    await page.locator('#url').fill('https://hooks.shop.example/try-on')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { name: 'Webhooks', exact: true }).waitFor()
    assert.equal(await page.locator('#url-error').count(), 0)
  })

  it('leaves no POST in the history', async () => {
    const page = await site.open()
    await onboard(page)
    await page.goto('/console')
    await page.goto('/console/settings/webhooks')
    const address = page.url()
    await sendInvalidUrl(page)
    const reloaded = await page.reload()
    assert.equal(reloaded?.request().method(), 'GET')
    assert.equal(reloaded?.status(), 200)
    assert.equal(page.url(), address)
    assert.equal(await page.locator('#url-error').count(), 0)

    await sendInvalidUrl(page)
    await page.getByRole('link', { name: 'Team' }).click()
    await page.getByRole('heading', { name: 'Team' }).waitFor()
    await page.goBack()
    await page.getByRole('heading', { name: 'Webhooks', exact: true }).waitFor()
    await page.goBack()
    assert.equal(await page.locator('#url-error').count(), 0)
  })
})

/** Sends the form of the default URL. The page shows the error and what was typed. */
async function sendInvalidUrl(page: Page): Promise<void> {
  await page.locator('#url').fill('https://not a url')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.locator('#url-error').waitFor()
  // The script of the page replaces the entry of the history.
  await page.waitForLoadState()
  assert.equal(await page.locator('#url').inputValue(), 'https://not a url')
}
