// The list of jobs and the page of a job, in Chromium.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { assertSound } from './support/checks.ts'
import { onboard, openConsole, type Console } from './support/console.ts'

let site: Console
let page: Page
let key: string

before(async () => {
  site = await openConsole()
  // The first request loads the console, which takes long on a busy machine.
  await (await fetch(`${site.url}/console/sign-up`)).text()
  page = await site.open()
  await onboard(page)
  key = (await page.locator('[data-copy-source]').first().textContent()) ?? ''
})
after(() => site.close())

/** Submits a test job. @param model a scenario */
async function submit(model = 'https://shop.example/model.jpg', body: object = {}) {
  const response = await fetch(`${site.url}/v1/tryon`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({
      model_image_url: model,
      garment_image_url: 'https://shop.example/garment.jpg',
      ...body,
    }),
  })
  const { job_id } = (await response.json()) as { job_id: string }
  return job_id
}

const row = (id: string) => page.getByRole('row', { name: id })

describe('the list of jobs', () => {
  it('shows new jobs and the state of unfinished ones without a reload', async () => {
    const slow = await submit('https://test.invalid/delay/3')
    await page.goto('/console/jobs')
    await row(slow)
      .getByText(/pending|processing/)
      .waitFor()
    await page.evaluate('window.isSamePage = true')
    const newer = await submit()
    await row(slow).getByText('completed').waitFor()
    await row(newer).waitFor()
    assert.equal(await page.evaluate('window.isSamePage'), true)
  })

  it('is filtered, and the filters can be cleared', async () => {
    const failed = await submit('https://test.invalid/fail/person_not_found')
    await page.goto('/console/jobs')
    await row(failed).getByText('failed').waitFor()
    await page.getByText('More filters').click()
    await page.getByLabel('Error code').selectOption('person_not_found')
    await page.getByRole('button', { name: 'Search' }).click()
    await page.getByText('1 test job', { exact: true }).waitFor()
    await page.getByRole('link', { name: 'Clear filters' }).click()
    await page.getByText(/\d test jobs/).waitFor()
    await page.getByLabel('Job ID').fill(failed)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: `Job ${failed}` }).waitFor()
    await page.getByRole('link', { name: 'Older job' }).click()
    await page.getByRole('link', { name: 'Newer job' }).click()
    await page.getByRole('heading', { name: `Job ${failed}` }).waitFor()
  })

  it('is downloaded as CSV', async () => {
    await page.goto('/console/jobs')
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export CSV' }).click(),
    ])
    assert.match(download.suggestedFilename(), /^try-on-jobs-test-.*\.csv$/)
    assert.equal(await page.getByRole('button', { name: 'Export CSV' }).isEnabled(), true)
  })
})

describe('the page of a job', () => {
  it('keeps a confirmation open while it follows the job', async () => {
    const id = await submit('https://test.invalid/pending/60')
    await page.goto(`/console/jobs/${id}`)
    const cancel = page.getByRole('button', { name: 'Cancel job' })
    await cancel.first().click()
    await page.waitForResponse(/\/live$/)
    await page.locator('form').getByRole('button', { name: 'Cancel job' }).click()
    await page.getByText('cancelled at your request').waitFor()
  })

  it('runs a job again, and downloads its result', async () => {
    const id = await submit()
    await page.goto(`/console/jobs/${id}`)
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download result' }).click(),
    ])
    assert.equal(download.suggestedFilename(), `try-on-${id}.png`)
    await page.getByRole('button', { name: 'Run again' }).click()
    await page.waitForURL((url) => /\/jobs\/job_/.test(url.pathname) && !url.pathname.includes(id))
    await page.getByRole('img', { name: 'Result image' }).waitFor()
  })
})

describe('both pages', () => {
  it('fit each width, in light and dark, without findings of axe or errors', async () => {
    const errors: string[] = []
    page.on('pageerror', (error) => errors.push(error.message))
    const id = await submit('https://test.invalid/fail/model_image_unsupported_format')
    for (const path of [
      '/console/jobs',
      '/console/jobs?error=internal_error',
      `/console/jobs/${id}`,
    ]) {
      await page.goto(path)
      await assertSound(page, path)
    }
    assert.deepEqual(errors, [])
  })
})
