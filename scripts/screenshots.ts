// `npm run screenshots [-- part-of-a-path]`: screenshots of every page of the console for review, at the widths of
// a desktop and a phone, light and dark, in test/browser/shots, which git ignores. Takes about two minutes.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { newId } from '../src/platform/ids.ts'
import { DESKTOP, onboard, openConsole, PHONE } from '../test/browser/support/console.ts'
import { GUEST_PAGES, ORGANISATION_PAGES, USER_PAGES } from '../test/browser/support/pages.ts'
import { prepareService, SLOW_RETRIES, startService } from './test-service.ts'
import { ROOT } from './wrangler.ts'

const FOLDER = join(ROOT, 'test/browser/shots')
const SIZES = { desktop: DESKTOP, phone: PHONE }
const HOUR_MS = 3_600_000
/** How the inserted jobs ended, in turn. */
const ENDINGS = [
  { status: 'completed', format: `'jpeg'`, code: 'NULL' },
  { status: 'completed', format: `'jpeg'`, code: 'NULL' },
  { status: 'failed', format: 'NULL', code: `'garment_image_unsupported_format'` },
  { status: 'completed', format: `'png'`, code: 'NULL' },
  { status: 'refunded', format: 'NULL', code: 'NULL' },
]

const only = process.argv[2] ?? ''
mkdirSync(FOLDER, { recursive: true })
const files = mkdtempSync(join(tmpdir(), 'try-on-screenshots-'))
await prepareService(files)
const service = await startService(SLOW_RETRIES)
const site = await openConsole(service)
let count = 0
try {
  const page = await site.open()
  for (const path of GUEST_PAGES) await shoot(page, path, path)
  await onboard(page)
  await shoot(page, page.url(), '/onboarding/key', false)
  const key = /svc_test_sk_\w+/.exec(await page.content())?.[0] ?? ''
  await page.goto('/console')
  const orgId = /org_\w+/.exec(page.url())?.[0] ?? ''
  const ids = await createData(page, orgId, key)
  for (const mode of ['live', 'test'] as const) {
    await switchTo(page, orgId, mode)
    for (const path of [...ORGANISATION_PAGES, '/billing#plan', '/billing#payments']) {
      // Most pages look the same in both modes.
      if (mode === 'test' && path !== '' && path !== '/playground') continue
      const address = path.replace(/:\w+/, (name) => ids[name] ?? name)
      await shoot(page, `/console/${orgId}${address}`, `${mode}${path}`)
    }
  }
  for (const path of USER_PAGES) await shoot(page, path, path)
} finally {
  await site.close()
  await service.close()
  rmSync(files, { recursive: true })
}
console.log(`${count} screenshots in ${FOLDER}`)

async function switchTo(page: Page, orgId: string, mode: 'live' | 'test'): Promise<void> {
  await page.goto(`/console/${orgId}`)
  await page.getByRole('button', { name: mode === 'live' ? 'Live' : 'Test', exact: true }).click()
  await page.waitForLoadState()
}

/** Jobs, requests, a delivery, payments, a member and an endpoint. @returns the ids in the addresses of pages */
async function createData(page: Page, orgId: string, key: string): Promise<Record<string, string>> {
  const headers = { Authorization: `Bearer ${key}` }
  const url = 'https://test.invalid/model.jpg'
  const data = { model_image_url: url, garment_image_url: url, webhook_url: 'https://example.com' }
  const response = await page.request.post('/v1/tryon', { headers, data })
  const { job_id: testJob } = (await response.json()) as { job_id: string }
  await page.request.get(`/v1/jobs/${testJob}`, { headers: { ...headers, Prefer: 'wait=10' } })
  await page.request.post('/v1/tryon', { headers, data: {} })
  const workspace = `(SELECT id FROM workspaces WHERE organisation_id = '${orgId}' LIMIT 1)`
  const now = Date.now()
  const jobs = Array.from({ length: 30 }, (_, index) => {
    const ending = ENDINGS[index % ENDINGS.length]
    // Ids sort by time.
    const at = now - ((29 - index) ** 2 * HOUR_MS) / 4
    return `INSERT INTO jobs (id, organisation_id, workspace_id, mode, status, error_code, output_format, api_key_id,
        model_image_url, garment_image_url, base_url, created_at, started_at, completed_at, duration_ms, due_at)
      VALUES ('${newId('job')}', '${orgId}', ${workspace}, 'live', '${ending?.status}', ${ending?.code},
        ${ending?.format}, 'console', '${url}', '${url}', '', ${at}, ${at + 1_200}, ${at + 5_400}, 4200, 0);`
  })
  const userId = newId('usr')
  const payment = (status: string, more: string) =>
    `INSERT INTO payments (id, organisation_id, kind, status, credits, amount, currency, provider, created_at, checked_at,
        paid_at, failure)
      VALUES ('${newId('pay')}', '${orgId}', 'pack', '${status}', 500, 4000, 'EUR', 'sandbox', ${now}, ${now}, ${more});`
  site.sql(
    [
      ...jobs,
      payment('paid', `${now}, NULL`),
      payment('failed', `NULL, 'The card was declined.'`),
      `INSERT INTO users (id, name, email, email_verified, created_at, updated_at)
        VALUES ('${userId}', 'Second member', 'member@${orgId}.example', 1, ${now}, ${now});`,
      `INSERT INTO members (organisation_id, user_id, role, created_at)
        VALUES ('${orgId}', '${userId}', 'developer', ${now});`,
      `UPDATE organisations SET plan = 'growth', rate_limit_per_minute = 300;`,
      `INSERT INTO billing_accounts (organisation_id, provider, customer_id, payment_method, subscription_id,
          subscription_status, period_end)
        VALUES ('${orgId}', 'sandbox', 'cus_1', 'Visa •••• 4242', 'sub_1', 'active', ${now + 480 * HOUR_MS});`,
    ].join('\n'),
  )
  await switchTo(page, orgId, 'test')
  await page.goto(`/console/${orgId}/settings/webhooks/endpoints/new`)
  await page.getByLabel('Name').fill('Order system')
  await page.getByLabel('URL').fill('https://example.com/hook')
  await page.getByRole('button', { name: 'Add endpoint' }).click()
  await page.getByText('Endpoint added.').waitFor()
  const idOn = async (path: string, pattern: RegExp) => {
    // Requests appear in their log after some seconds.
    for (let attempt = 0; attempt < 30; attempt++) {
      await page.goto(`/console/${orgId}${path}`)
      const id = pattern.exec(await page.content())?.[1]
      if (id) return id
      await page.waitForTimeout(1_000)
    }
    throw new Error(`${path} has no link to ${pattern.source}`)
  }
  return {
    ':jobId': testJob,
    ':eventId': testJob.replace('job_', 'evt_'),
    ':keyId': await idOn('/settings/api-keys', /api-keys\/(key_\w+)/),
    ':userId': userId,
    ':id': await idOn('/settings/webhooks', /endpoints\/(we_\w+)/),
    ':requestId': await idOn('/requests', /requests\/([\w-]+)\?/),
  }
}

/** @param isOpened whether to open the address first */
async function shoot(page: Page, address: string, name: string, isOpened = true): Promise<void> {
  if (!name.includes(only)) return
  if (isOpened) await page.goto(address)
  await page.waitForLoadState()
  for (const [size, viewport] of Object.entries(SIZES)) {
    await page.setViewportSize(viewport)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      const file = `${name.replaceAll(/\W+/g, '-').replace(/^-|-$/g, '')}-${size}-${colorScheme}.png`
      await page.screenshot({ path: join(FOLDER, file), fullPage: true, animations: 'disabled' })
      count++
    }
    const height = await page.evaluate('document.documentElement.scrollHeight')
    console.log(`${name} ${size}: ${height} px high`)
  }
}
