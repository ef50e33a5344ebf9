// The first hour and the playground, in Chromium.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { onboard, openConsole, type Console } from './support/console.ts'
import { assertSound } from './support/checks.ts'

/** A live job takes seconds of CPU time, and more on a busy machine. */
const LIVE_JOB_MS = 120_000

let site: Console
let page: Page

before(async () => {
  site = await openConsole()
  page = await site.open()
})
after(() => site.close())

const card = (role: 'Person' | 'Garment') => page.getByRole('group', { name: role, exact: true })
const result = () => page.locator('[data-run-result] img[alt^="Result"]')

describe('the last page of onboarding', () => {
  it('shows code in three languages, runs test jobs repeatedly, and makes a live picture', async () => {
    await onboard(page)
    await assertSound(page)
    await page.getByText('Python', { exact: true }).click()
    await page.getByText('from try_on import TryOnClient').waitFor()
    assert.equal(await page.locator('.snippets pre').first().isVisible(), false)

    const run = page.getByRole('button', { name: 'Submit sample job' })
    await run.click()
    await page.getByRole('img', { name: 'Result image' }).waitFor()
    const first = await page.getByRole('img', { name: 'Result image' }).getAttribute('src')
    await run.click()
    await page.locator(`.run img[alt^="Result"]:not([src="${first}"])`).waitFor()

    await page.getByRole('button', { name: 'Create live picture' }).click()
    const live = page.locator('.live-picture img[alt^="Result"]')
    await live.waitFor({ timeout: LIVE_JOB_MS })
    assert.match((await live.getAttribute('src')) ?? '', /\.jpg\?/)
    await assertSound(page)
  })
})

describe('the checklist', () => {
  it('shows what is left, and can be hidden', async () => {
    await page.goto('/console')
    await page.getByRole('heading', { name: 'Go live' }).waitFor()
    await page.getByText('2 of 4 done').waitFor()
    await assertSound(page)
    await page.getByRole('button', { name: 'Hide this list' }).click()
    await page.getByRole('heading', { name: 'Acme Fashion' }).waitFor()
    assert.equal(await page.getByRole('heading', { name: 'Go live' }).count(), 0)
  })
})

describe('the playground', () => {
  it('takes a sample with one click and shows the result on the same page', async () => {
    await page.goto('/console/playground')
    await page.getByRole('radio', { name: /Test/ }).check()
    await card('Garment').getByRole('link', { name: 'Use the sample: blue dress' }).click()
    assert.match(await card('Garment').getByLabel('URL').inputValue(), /dress-blue\.jpg$/)
    await page.getByRole('button', { name: 'Submit job' }).click()
    await result().waitFor()
    assert.match(page.url(), /\/playground$/)
    await page.getByRole('link', { name: 'Open the job' }).waitFor()
    await page.getByRole('heading', { name: 'Your latest jobs here' }).waitFor()
    await assertSound(page)
    const count = await page.locator('.history li').count()
    await page.getByRole('button', { name: 'Submit job' }).click()
    await page.locator('.history li').nth(count).waitFor()
  })

  it('uploads a file when it is chosen, and keeps it when the other one is rejected', async () => {
    await page.goto('/console/playground')
    await card('Person').getByLabel('Or upload a file').setInputFiles('samples/man-tee-hip.jpg')
    await card('Person').getByText('man-tee-hip.jpg', { exact: true }).waitFor()
    await page.locator('[name=model_upload]:not([value=""])').waitFor({ state: 'attached' })
    const size = await page.evaluate(
      "getComputedStyle(document.querySelector('#model_file')).fontSize",
    )
    assert.equal(size, '0px', 'the browser says "No file chosen"')
    await card('Garment').getByLabel('Or upload a file').setInputFiles('package.json')
    await card('Garment').getByText('Choose a JPEG, PNG or WebP file.').waitFor()
    await page.getByRole('button', { name: 'Submit job' }).click()
    await card('Garment').getByText('Enter a URL or choose a file.').waitFor()
    await card('Person').getByText('man-tee-hip.jpg', { exact: true }).waitFor()
    await assertSound(page)
    await card('Garment').getByRole('link', { name: 'Use the sample: yellow top' }).click()
    await page.getByRole('button', { name: 'Submit job' }).click()
    await result().waitFor()
  })

  it('accepts dropped and pasted pictures', async () => {
    await page.goto('/console/playground')
    const bytes = JSON.stringify([...(await readFile('samples/dress-blue.jpg'))])
    const transfer = (name: string) => `(() => {
      const data = new DataTransfer()
      data.items.add(new File([new Uint8Array(${bytes})], '${name}', { type: 'image/jpeg' }))
      return data
    })()`
    await page.evaluate(`document.querySelector('[data-picture=garment]').dispatchEvent(
      new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer: ${transfer('drop.jpg')} }))`)
    await card('Garment').getByText('drop.jpg', { exact: true }).waitFor()
    await page.evaluate(`document.body.dispatchEvent(
      new ClipboardEvent('paste', { bubbles: true, clipboardData: ${transfer('paste.jpg')} }))`)
    await card('Person').getByText('paste.jpg', { exact: true }).waitFor()
    assert.match(
      (await card('Person').getByRole('img').first().getAttribute('src')) ?? '',
      /^data:/,
    )
  })

  it('shows the code of the chosen pictures', async () => {
    await page.getByText('Use these pictures in your code').click()
    await page.locator('.code pre', { hasText: '/uploads/upl_' }).first().waitFor()
    await card('Person').getByLabel('URL').fill('https://shop.example/person.jpg')
    await card('Person').getByLabel('URL').press('Tab')
    await page
      .locator('.code pre', { hasText: 'https://shop.example/person.jpg' })
      .first()
      .waitFor()
    await assertSound(page)
  })

  it('loads the pictures of an earlier job', async () => {
    await page.goto('/console/playground')
    await page.locator('.history a').first().click()
    await page.waitForURL('**/playground?job=job_*')
    await result().waitFor()
    await card('Person').getByText('Uploaded picture').waitFor()
    const count = await page.locator('.history li').count()
    await page.getByRole('button', { name: 'Submit job' }).click()
    await page.locator('.history li').nth(count).waitFor()
  })

  it('submits the form and shows the job without JavaScript', async () => {
    const other = await site.open({
      javaScriptEnabled: false,
      storageState: await page.context().storageState(),
    })
    await other.goto('/console/playground')
    await other.getByRole('link', { name: 'Use the sample: yellow top' }).click()
    await other.getByRole('button', { name: 'Submit job' }).click()
    await other.waitForURL('**/jobs/job_*')
    await other.getByRole('img', { name: 'Result image' }).waitFor()
    await other.context().close()
  })
})
