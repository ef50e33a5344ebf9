// Every page of the console with long names, in Chromium: the layout at three widths, accessibility,
// script errors and the transferred bytes.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, afterEach, before, describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import {
  findAxeViolations,
  findLowContrast,
  findOverflowsInWindows,
  LOOKS,
  sampleOf,
} from './support/checks.ts'
import {
  newAddress,
  addSecondOwner,
  openMail,
  organisationOf,
  openUntil,
  PASSWORD,
  openConsole,
  type Console,
} from './support/console.ts'
import { shoot } from './support/shoot.ts'
import { GUEST_PAGES, ORGANISATION_PAGES, USER_PAGES } from './support/pages.ts'

const MAX_BYTES = 60_000
const LONG_NAME = 'W'.repeat(100)
/** 254 characters, the maximum. */
const LONG_EMAIL = `${newAddress().split('@')[0]}${'a'.repeat(80)}`
  .slice(0, 64)
  .concat(`@${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(53)}.example`)

let site: Console
/** The window of an owner, shared by all tests. */
let page: Page
/** What is wrong with the pages; a test reports all of it at once. */
const problems: string[] = []
/** Violations of the Content Security Policy and errors of scripts in `page`. */
const scriptErrors: string[] = []
const sizes = new Map<string, number>()
/** The number of pages so far. */
let checked = 0
/** The lowest contrast is reported but not required: WCAG AAA, 7:1. */
const lowContrast = new Set<string>()

before(async () => {
  site = await openConsole()
  page = await site.open()
  page.on('pageerror', (error) => scriptErrors.push(`${page.url()}: ${error.message}`))
  page.on('console', (message) => {
    if (message.text().includes('Content Security Policy')) scriptErrors.push(message.text())
  })
})
after(() => site.close())
afterEach(() => assert.deepEqual(problems.splice(0), []))

describe('every page fits the window, is accessible and small:', () => {
  it('sign-up and onboarding', async () => {
    await page.goto('/console/sign-up')
    await check()
    await page.getByLabel('Work email').fill(LONG_EMAIL)
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByLabel('Organisation name').fill(LONG_NAME)
    await page.getByRole('button', { name: 'Create account' }).click()
    await page.getByRole('heading', { name: 'Check your inbox' }).waitFor()
    await check()
    await openMail(page, LONG_EMAIL)
    await check()
    await page.getByRole('button', { name: 'Verify and continue' }).click()
    await page.getByRole('heading', { name: 'Confirm your organisation' }).waitFor()
    await check()
    await page.getByRole('button', { name: 'Continue' }).click()
    await check()
    await page.getByRole('radio', { name: /European Union/ }).check()
    await page.getByLabel('Name of the first workspace').fill(LONG_NAME)
    await check()
    await page.getByRole('button', { name: 'Create organisation' }).click()
    await page.getByRole('heading', { name: 'Your test API key' }).waitFor()
    await check()
  })

  it('the organisation', async () => {
    const jobId = await runJob()
    await addLongNames()
    await page.goto('/console')
    const [, organisation = ''] = /^\/console\/(org_\w+)/.exec(new URL(page.url()).pathname) ?? []
    const placeholders: Record<string, string> = {
      ':jobId': jobId,
      ':eventId': jobId.replace('job_', 'evt_'),
      ':userId': 'usr_second',
      ':keyId': await linkedId('/settings/api-keys'),
      ':id': await linkedId('/settings/webhooks/endpoints', '/settings/webhooks'),
      ':requestId': await linkedId('/requests'),
    }
    for (const path of ORGANISATION_PAGES) {
      const replaced = path.replace(/:\w+/, (name) => placeholders[name] ?? name)
      await page.goto(`/console/${organisation}${replaced}`)
      await check()
    }
  })

  it('the account', async () => {
    for (const path of USER_PAGES) {
      await page.goto(path)
      await check()
    }
  })

  it('guests', async () => {
    await page.context().clearCookies()
    for (const path of GUEST_PAGES) {
      await page.goto(path)
      await check()
    }
  })

  it('without errors of scripts', (test) => {
    assert.deepEqual(scriptErrors, [])
    const largest = [...sizes].toSorted(([, one], [, other]) => other - one).slice(0, 5)
    test.diagnostic(`largest pages in bytes: ${JSON.stringify(largest)}`)
    test.diagnostic(`contrast below 7:1: ${JSON.stringify([...lowContrast])}`)
  })
})

/** Checks the open page: layout at each width, accessibility in `LOOKS`, contrast; size. */
async function check(): Promise<void> {
  const path = new URL(page.url()).pathname
  await page.waitForLoadState()
  const bytes = await transferredBytes()
  sizes.set(path, bytes)
  if (bytes > MAX_BYTES) problems.push(`${path} has ${bytes} bytes`)
  if (process.env['SHOTS']) await shoot(page, `pages${path.replaceAll('/', '-')}`)
  for (const action of await page.locator('td summary').all()) await action.click()
  // The clicks scroll, and the header, which stays, would cover a part of links that axe measures.
  await page.evaluate('scrollTo(0, 0)')
  problems.push(...(await findOverflowsInWindows(page)).map((part) => `${path} ${part}`))
  for (const { viewport, colorScheme } of sampleOf(LOOKS, checked++)) {
    await page.setViewportSize(viewport)
    await page.emulateMedia({ colorScheme })
    const violations = await findAxeViolations(page, [AAA, 'target-size'])
    for (const violation of violations) {
      if (violation.startsWith(AAA)) lowContrast.add(`${path} ${colorScheme}: ${violation}`)
      else problems.push(`${path} at ${viewport.width} px, ${colorScheme}: ${violation}`)
    }
  }
  await page.keyboard.press('Tab') // makes the browser show focus indicators
  problems.push(...(await findLowContrast(page)).map((part) => `${path}, ${part}`))
}

const AAA = 'color-contrast-enhanced'

const compressed = new Map<string, Promise<number>>()

/** The bytes of the page and its own files, with gzip. Pictures of customers do not count. */
async function transferredBytes(): Promise<number> {
  const files = await page.evaluate(
    `performance.getEntriesByType('resource').map(({ name }) => name)
      .filter((name) => /\\/static\\/.*\\.(css|js|svg|woff2?)$/.test(name.split('#')[0]))`,
  )
  const own = await Promise.all(
    [...new Set((files as string[]).map((name) => name.split('#')[0] ?? ''))].map((url) => {
      let size = compressed.get(url)
      if (!size) compressed.set(url, (size = sizeOf(url)))
      return size
    }),
  )
  return own.reduce((sum, size) => sum + size, gzipSync(await page.content()).length)
}

const sizeOf = async (url: string) =>
  gzipSync(new Uint8Array(await (await fetch(url)).arrayBuffer())).length

/** Submits a job whose webhook fails, so that its pages show an error. Returns its ID. */
async function runJob(): Promise<string> {
  const key = await page.locator('[data-copy-source]').first().textContent()
  const receiver = createServer((request, response) => {
    request.resume()
    response.writeHead(500).end('x'.repeat(1_500))
  }).listen(0)
  const { port } = receiver.address() as AddressInfo
  const headers = { Authorization: `Bearer ${key}` }
  const response = await fetch(`${site.url}/v1/tryon`, {
    method: 'POST',
    headers,
    body: JSON.stringify({
      model_image_url: `https://shop.example/${'m'.repeat(200)}.jpg`,
      garment_image_url: 'https://shop.example/garment.jpg',
      webhook_url: `http://localhost:${port}/${'h'.repeat(200)}`,
    }),
  })
  const { job_id: jobId } = (await response.json()) as { job_id: string }
  try {
    const event = `/console/settings/webhooks/${jobId.replace('job_', 'evt_')}`
    await openUntil(page, event, page.getByText('Attempt 1'))
  } finally {
    receiver.close()
  }
  return jobId
}

/** The ID in the first link to a page below `path`. @param list the page with the links */
async function linkedId(path: string, list = path): Promise<string> {
  await page.goto(`/console${list}`)
  const href = await page.locator(`#content td a[href*="${path}/"]`).first().getAttribute('href')
  return href?.split(`${path}/`)[1] ?? ''
}

/** A key and a webhook endpoint with a long name, and an invitation to a long address. A second owner allows to leave. */
async function addLongNames(): Promise<void> {
  await page.goto('/console/settings/api-keys')
  await page.getByLabel('Name', { exact: true }).fill(LONG_NAME)
  await page.getByRole('button', { name: 'Create API key' }).click()
  await page.locator('[data-copy-source]').first().waitFor()
  await page.goto('/console/settings/webhooks/endpoints/new')
  await page.getByLabel('Name', { exact: true }).fill(LONG_NAME)
  await page.getByLabel('URL').fill(`https://shop.example/${'h'.repeat(200)}`)
  await page.getByRole('button', { name: 'Add endpoint' }).click()
  await page.getByText('Endpoint added.').waitFor()
  await addSecondOwner(site, LONG_EMAIL)
  await site.sql(
    `INSERT INTO invitations (id, organisation_id, email, role, token_hash, created_at, expires_at)
     VALUES ('inv_long', ${organisationOf(LONG_EMAIL)}, '${LONG_EMAIL.replace(/^./, 'z')}', 'viewer', 'x', 0, 9e12)`,
  )
}
