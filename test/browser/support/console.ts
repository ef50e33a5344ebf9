// The console as people meet it: `wrangler dev` with an empty database of its own, and Chromium.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { chromiumPath } from '../../../scripts/chromium.ts'
import { startDevServer, wrangler } from '../../../scripts/wrangler.ts'

export const DESKTOP = { width: 1280, height: 900 }
export const PHONE = { width: 390, height: 844 }
export const PASSWORD = 'a long enough password'

export interface Console {
  url: string
  browser: Browser
  /** A browser window with cookies of its own. */
  open(options?: BrowserContextOptions): Promise<Page>
  /** Runs SQL on the console's database. */
  sql(command: string): void
  close(): Promise<void>
}

/** Starts both; takes a few seconds. */
export async function startConsole(): Promise<Console> {
  const folder = mkdtempSync(join(tmpdir(), 'try-on-browser-'))
  const where = ['--persist-to', folder]
  wrangler('d1', 'migrations', 'apply', 'DB', '--local', ...where)
  const vars = Object.entries({
    OUTPUT_SIGNING_SECRET: 'of-the-browser-tests-32-characters',
    ENCRYPTION_KEY: 'of-the-browser-tests-32-characters',
    AUTH_SECRET: 'of-the-browser-tests-32-characters',
    OPERATOR_TOKEN: 'of-the-browser-tests',
    DEV_MAILBOX: 'true',
    ALLOW_PRIVATE_URLS: 'true',
    WEBHOOK_RETRY_DELAYS: '60',
  }).flatMap(([name, value]) => ['--var', `${name}:${value}`])
  let printed = ''
  const server = await startDevServer(['--port', '0', ...where, ...vars], (text) => {
    printed += text
  })
  const executablePath = chromiumPath()
  if (!executablePath) throw new Error('no Chromium')
  const args = ['--no-sandbox', '--disable-dev-shm-usage']
  const browser = await chromium.launch({ executablePath, args })
  return {
    url: server.url,
    browser,
    async open(options = {}) {
      const context = await browser.newContext({
        baseURL: server.url,
        viewport: DESKTOP,
        ...options,
      })
      context.setDefaultTimeout(15_000)
      return context.newPage()
    },
    sql: (command) => {
      wrangler('d1', 'execute', 'DB', '--local', ...where, '--command', command)
    },
    async close() {
      await browser.close()
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
      if (process.env['SHOW_SERVER_LOG']) process.stderr.write(printed)
    },
  }
}

let people = 0

/** An address that nobody has used yet. */
export const newAddress = (): string => `person${++people}.${Date.now()}@shop.example`

/** From nothing to the page with the first key. */
export async function onboard(page: Page, email = newAddress(), organisation = 'Acme Fashion') {
  await page.goto('/console/sign-up')
  await page.getByLabel('Work email').fill(email)
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByLabel('Organisation name').fill(organisation)
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.getByRole('heading', { name: 'Check your inbox' }).waitFor()
  await verify(page)
  await page.getByRole('button', { name: 'Confirm' }).click()
  await page.getByRole('radio', { name: /European Union/ }).check()
  await page.getByRole('button', { name: 'Choose for good' }).click()
  await page.getByRole('button', { name: 'Create and show my API key' }).click()
  await page.getByRole('heading', { name: 'Your test API key' }).waitFor()
  return email
}

/** Opens the verification link of the latest mail in the browser that signed up, and confirms. */
export async function verify(page: Page): Promise<void> {
  await openMail(page)
  await page.getByRole('button', { name: 'Verify and continue' }).click()
}

/** Follows the link of the latest mail. */
export async function openMail(page: Page): Promise<void> {
  await page.goto('/console/dev/mail')
  await page.getByRole('link', { name: 'Open the link' }).first().click()
  await page.waitForLoadState()
}
