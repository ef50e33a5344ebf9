// The history of the browser after a rejected form, in Chromium.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { onboard, startConsole } from './support/console.ts'
import type { Console } from './support/console.ts'

let site: Console

before(async () => {
  site = await startConsole()
})
after(() => site.close())

for (const javaScriptEnabled of [true, false]) {
  describe(`a rejected form ${javaScriptEnabled ? 'with' : 'without'} JavaScript`, () => {
    it('leaves no POST in the history', async () => {
      const page = await site.open({ javaScriptEnabled })
      await onboard(page)
      await page.goto('/console')
      await page.goto('/console/settings/webhooks')
      const address = page.url()
      await page.locator('#url').fill('https://not a url')
      await page.getByRole('button', { name: 'Save' }).click()
      await page.locator('#url-error').waitFor()
      assert.equal(page.url(), address)
      assert.equal(await page.locator('#url').inputValue(), 'https://not a url')

      const reloaded = await page.reload()
      assert.equal(reloaded?.request().method(), 'GET')
      assert.equal(reloaded?.status(), 200)
      assert.equal(await page.locator('#url-error').count(), 0)

      await page.locator('#url').fill('https://not a url')
      await page.getByRole('button', { name: 'Save' }).click()
      await page.locator('#url-error').waitFor()
      await page.getByRole('link', { name: 'Team' }).click()
      await page.getByRole('heading', { name: 'Team' }).waitFor()
      await page.goBack()
      await page.getByRole('heading', { name: 'Webhooks' }).waitFor()
      assert.equal(page.url(), address)
      await page.goBack()
      assert.equal(await page.locator('#url-error').count(), 0)
    })
  })
}
