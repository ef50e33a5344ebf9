// Starts the console for browser tests: `wrangler dev` with an empty database, and Chromium.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { chromiumPath } from '../../../scripts/chromium.ts'
import { startDevServer, wrangler } from '../../../scripts/wrangler.ts'

export const DESKTOP = { width: 1280, height: 900 }
export const TABLET = { width: 768, height: 1024 }
export const PHONE = { width: 390, height: 844 }
export const OPERATOR_TOKEN = 'browser-tests-operator-token'
export const PASSWORD = 'a long enough password'

export interface Console {
  url: string
  browser: Browser
  /** Opens a window with its own cookies. */
  open(options?: BrowserContextOptions): Promise<Page>
  /** Runs SQL on the console's database. */
  sql(command: string): void
  close(): Promise<void>
}

/** Takes a few seconds. */
export async function startConsole(): Promise<Console> {
  const folder = mkdtempSync(join(tmpdir(), 'try-on-browser-'))
  const persistTo = ['--persist-to', folder]
  wrangler('d1', 'migrations', 'apply', 'DB', '--local', ...persistTo)
  const vars = Object.entries({
    OUTPUT_SIGNING_SECRET: 'browser-tests-secret-of-32-characters',
    ENCRYPTION_KEY: 'browser-tests-secret-of-32-characters',
    AUTH_SECRET: 'browser-tests-secret-of-32-characters',
    OPERATOR_TOKEN,
    DEV_MAILBOX: 'true',
    ALLOW_PRIVATE_URLS: 'true',
    WEBHOOK_RETRY_DELAYS: '60',
  }).flatMap(([name, value]) => ['--var', `${name}:${value}`])
  let serverLog = ''
  const server = await startDevServer(['--port', '0', ...persistTo, ...vars], (text) => {
    serverLog += text
  })
  const executablePath = chromiumPath()
  if (!executablePath) throw new Error('Chromium was not found')
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
      wrangler('d1', 'execute', 'DB', '--local', ...persistTo, '--command', command)
    },
    async close() {
      await browser.close()
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
      if (process.env['SHOW_SERVER_LOG']) process.stderr.write(serverLog)
    },
  }
}

let userCount = 0

/** An unused email address. */
export const newAddress = (): string => `user${++userCount}.${Date.now()}@shop.example`

/** Signs up and completes onboarding, up to the page with the first API key. Returns the email address. */
export async function onboard(page: Page, email = newAddress(), organisation = 'Acme Fashion') {
  await page.goto('/console/sign-up')
  await page.getByLabel('Work email').fill(email)
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByLabel('Organisation name').fill(organisation)
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.getByRole('heading', { name: 'Check your inbox' }).waitFor()
  await verify(page)
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('radio', { name: /European Union/ }).check()
  await page.getByRole('button', { name: 'Confirm region' }).click()
  await page.getByRole('button', { name: 'Create organisation' }).click()
  await page.getByRole('heading', { name: 'Your test API key' }).waitFor()
  return email
}

/** Opens the verification link of the latest email and confirms it. */
export async function verify(page: Page): Promise<void> {
  await openMail(page)
  await page.getByRole('button', { name: 'Verify and continue' }).click()
}

/** Opens the link of the latest email. */
export async function openMail(page: Page): Promise<void> {
  await page.goto('/console/dev/mail')
  await page.getByRole('link', { name: 'Open the link' }).first().click()
  await page.waitForLoadState()
}
