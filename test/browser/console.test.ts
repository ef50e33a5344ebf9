// What people do in the console, in a real browser.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { DESKTOP, onboard, startConsole } from './support/console.ts'
import type { Console } from './support/console.ts'

let site: Console

before(async () => {
  site = await startConsole()
})
after(() => site.close())

describe('onboarding', () => {
  it('leads from the sign-up to a finished test job with its picture in sight', async () => {
    const page = await site.open({ viewport: DESKTOP })
    await onboard(page)
    const key = await page.locator('[data-copy-source]').first().textContent()
    assert.match(key ?? '', /^svc_test_sk_\w+$/)
    await page.getByRole('button', { name: 'Run it now' }).click()
    await resultShown(page)
    await page.getByRole('link', { name: /go to the console/ }).click()
    await page.getByRole('heading', { name: 'Acme Fashion' }).waitFor()
    await page.locator('.figures', { hasText: 'Credits' }).getByText('100').waitFor()
  })
})

/** Waits until the result's picture has arrived, and is one. */
async function resultShown(page: Page): Promise<void> {
  const picture = page.getByRole('img', { name: 'Result picture' })
  await picture.waitFor()
  await page.waitForFunction(
    'document.querySelector("img[alt=\\"Result picture\\"]").naturalWidth > 0',
  )
}
