// Webhooks in the console: endpoints, deliveries and events, in Chromium.
import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, it } from 'node:test'
import type { Page } from 'playwright-core'
import { assertSound } from './support/checks.ts'
import { onboard, openConsole, organisationOf, type Console } from './support/console.ts'

let site: Console
let page: Page
let receiver: Server
let hook: string
let status = 410
let email: string
const bodies: string[] = []

before(async () => {
  site = await openConsole()
  page = await site.open()
  page.setDefaultTimeout(60_000)
  receiver = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => (body += String(chunk)))
    request.on('end', () => {
      bodies.push(body)
      response.writeHead(status, { 'X-Receiver': 'shop-1' }).end('{"error":"maintenance"}')
    })
  }).listen(0)
  hook = `http://localhost:${(receiver.address() as AddressInfo).port}/hook`
  email = await onboard(page)
})
after(async () => {
  receiver.close()
  await site.close()
})

it('adds an endpoint and shows its secret with code', async () => {
  await page.goto('/console/settings/webhooks')
  await assertSound(page, 'webhooks-empty')
  await page.getByRole('button', { name: 'Add endpoint' }).click()
  await page.getByRole('checkbox', { name: 'job.refunded' }).waitFor()
  for (const type of ['completed', 'failed', 'refunded', 'cancelled']) {
    await page.getByRole('checkbox', { name: `job.${type}` }).uncheck()
  }
  await page.getByLabel('Name').fill('Order system')
  await page.getByLabel('URL').fill('ftp://shop.example')
  await page.getByRole('button', { name: 'Add endpoint' }).click()
  await page.getByText('Choose at least one event type.').waitFor()
  await assertSound(page, 'endpoint-rejected')
  await page.getByRole('checkbox', { name: 'job.completed' }).check()
  await page.getByLabel('URL').fill(hook)
  await page.getByRole('button', { name: 'Add endpoint' }).click()
  await page.getByText('Endpoint added.').waitFor()
  await page.getByRole('button', { name: 'Reveal the signing secret' }).click()
  await page.getByText(/^export TRY_ON_WEBHOOK_SECRET=whsec_[\w+/]{10}/).waitFor()
  await page.getByText('Go', { exact: true }).click()
  await page.getByText('package main').waitFor()
  await assertSound(page, 'endpoint')
})

it('shows a failed test event, sends it again and follows it until it is delivered', async () => {
  await page.goto('/console/settings/webhooks')
  await page.getByRole('button', { name: 'Send job.completed' }).click()
  await page.waitForURL(/jobs\/job_/)
  const eventId = `evt_${page.url().slice(-26)}`
  await page.goto(`/console/settings/webhooks/${eventId}`)
  await page.getByText('{"error":"maintenance"}').waitFor()
  const body = page.getByRole('group', { name: 'Request body of attempt 1' })
  assert.equal(await body.textContent(), bodies[0])
  await page.getByText('It matches the signature.').waitFor()
  await assertSound(page, 'event-failed')
  status = 200
  await page.getByRole('button', { name: 'Send again' }).click()
  await page.locator('.badge', { hasText: 'delivered' }).waitFor()
  await page.getByText('Attempt 2').waitFor()
  assert.equal(bodies.length, 2)
  await assertSound(page, 'event')
})

it('lists deliveries and sends the failed ones again', async () => {
  status = 410
  await page.goto('/console/settings/webhooks')
  await page.getByRole('button', { name: 'Send job.failed' }).click()
  await page.waitForURL(/jobs\/job_/)
  await page.goto('/console/settings/webhooks/deliveries')
  // The list updates itself.
  await page.locator('.badge', { hasText: 'failed' }).waitFor()
  await assertSound(page, 'deliveries')
  await page.getByLabel('Status').selectOption('failed')
  await page.getByRole('button', { name: 'Filter' }).click()
  status = 200
  await page.getByRole('button', { name: 'Send 1 failed event again' }).click()
  await assertSound(page, 'deliveries-confirm')
  await page.getByRole('button', { name: 'Send 1 failed event again' }).last().click()
  await page.getByText('1 failed event is being sent again.').waitFor()
  await page.goto('/console/settings/webhooks')
  await assertSound(page, 'webhooks')
})

it('shows a banner with a button while an endpoint is disabled', async () => {
  await site.sql(
    `INSERT OR REPLACE INTO failing_receivers (organisation_id, receiver, origin, failing_since, failures, timed_out, disabled_at)
     VALUES (${organisationOf(email)}, 'default', '${new URL(hook).origin}', 1795000000000, 40, 0, 1795300000000)`,
  )
  await page.goto('/console/settings/webhooks')
  await page.getByRole('heading', { name: 'A webhook endpoint is disabled' }).waitFor()
  await assertSound(page, 'webhooks-disabled')
  await page.getByRole('button', { name: /^Enable Default/ }).click()
  await page.getByText('Endpoint enabled.').waitFor()
})
