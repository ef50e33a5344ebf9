// The request log and the notification settings in Chromium: journey, layout and accessibility.
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import type { Page } from 'playwright-core'
import { assertSound, findAxeViolations, findLowContrast, findOverflows } from './support/checks.ts'
import { onboard, openConsole, openUntil, type Console } from './support/console.ts'

let site: Console
let page: Page
let jobId: string

const call = (key: string, method: string, path: string, body?: object) =>
  fetch(`${site.url}${path}`, {
    method,
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })

/** The links to requests in the list. */
const rows = () => page.getByRole('table', { name: 'Requests' }).locator('tbody tr')

before(async () => {
  site = await openConsole()
  page = await site.open()
  await onboard(page)
  const key = /svc_test_sk_\w{64}/.exec(await page.content())?.[0] ?? ''
  await page.goto('/console/settings/api-keys')
  const images = {
    model_image_url: 'https://shop.example/model.jpg',
    garment_image_url: 'https://shop.example/garment.png',
  }
  const { job_id } = (await (await call(key, 'POST', '/v1/tryon', images)).json()) as {
    job_id: string
  }
  jobId = job_id
  await call(key, 'POST', '/v1/tryon', { model_image_url: 1 })
  await call(key, 'DELETE', `/v1/jobs/${jobId}/output`)
  await call(key, 'GET', '/v1/unknown')
  for (let n = 0; n < 60; n++) await call(key, 'GET', '/v1/account')
  await call(key, 'GET', `/v1/jobs/${jobId}`)
})
after(() => site.close())

it('leads from a job to the request that failed and to the help for its error', async () => {
  // The log is written after the responses: with 50 of them there is no second page yet.
  await openUntil(page, '/console/requests', page.getByRole('link', { name: 'Older' }))
  assert.equal(await rows().count(), 50)
  await assertSound(page, 'requests')
  assert.deepEqual(await findLowContrast(page), [])
  await page.getByRole('link', { name: 'Older' }).click()
  await page.waitForURL(/before=/)
  await page.getByRole('link', { name: 'Newer' }).click()
  await page.waitForURL(/after=/)
  await page.getByLabel('Status').selectOption('4xx')
  await page.getByRole('button', { name: 'Filter' }).click()
  await page.getByRole('link', { name: 'Clear filters' }).waitFor()
  await rows().getByText('validation_error').waitFor()
  await page.getByLabel('Request ID or job ID').fill(jobId)
  await page.getByLabel('Status').selectOption('')
  await page.getByLabel('Request ID or job ID').press('Enter')
  await page.waitForURL(/q=job_/)
  assert.ok((await rows().count()) >= 2)
  assert.deepEqual(await findOverflows(page), [])

  await page.goto('/console/requests?code=validation_error')
  await rows().first().getByRole('link').last().click()
  await page.getByRole('heading', { name: 'POST /v1/tryon' }).waitFor()
  await assertSound(page, 'request')
  assert.deepEqual(await findLowContrast(page), [])
  const help = page.getByRole('link', { name: 'Read about this error' })
  assert.equal(await help.getAttribute('href'), '/docs/errors#validation_error')
  await page.goto('/console/requests?status=5xx')
  await page.getByRole('heading', { name: 'No matching requests' }).waitFor()
  assert.deepEqual(await findAxeViolations(page), [])
  await page.getByRole('link', { name: 'Clear filters' }).last().click()
  await rows().first().waitFor()
})

it('switches notifications off', async () => {
  await page.goto('/console/account#notifications')
  await assertSound(page, 'notifications')
  assert.deepEqual(await findLowContrast(page), [])
  await page.getByLabel('New API key').uncheck()
  await page.getByRole('button', { name: 'Save notifications' }).click()
  await page.getByText('Notifications saved.').waitFor()
  assert.equal(await page.getByLabel('New API key').isChecked(), false)
  assert.equal(await page.getByLabel('Low balance').isChecked(), true)
})
