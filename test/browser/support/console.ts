// Starts the service and Chromium for browser tests.
import {
  chromium,
  type APIRequestContext,
  type Browser,
  type BrowserContextOptions,
  type Locator,
  type Page,
} from 'playwright-core'
import { launchOptions } from '../../../scripts/chromium.ts'
import { startService, type Service } from '../../node/support/service.ts'

export const DESKTOP = { width: 1280, height: 900 }
export const TABLET = { width: 768, height: 1024 }
export const PHONE = { width: 390, height: 844 }
export const PASSWORD = 'a long enough password'

export interface Console extends Service {
  browser: Browser
  /** Opens a window with its own cookies. */
  open(options?: BrowserContextOptions): Promise<Page>
}

/** Chromium: the one that `npm test` started for all files, or a new one. */
export function openBrowser(): Promise<Browser> {
  const shared = process.env['TEST_BROWSER']
  return shared ? chromium.connect(shared) : chromium.launch(launchOptions())
}

/** Takes a few seconds. */
export async function startConsole(): Promise<Console> {
  const service = await startService({ WEBHOOK_RETRY_DELAYS: '600' })
  // The service loads the console at its first page, which takes longest.
  await fetch(`${service.url}/console/sign-in`)
  const browser = await openBrowser()
  return {
    ...service,
    browser,
    async open(options = {}) {
      const context = await browser.newContext({
        baseURL: service.url,
        viewport: DESKTOP,
        // Without transitions, the colours change at once.
        reducedMotion: 'reduce',
        ...options,
      })
      context.setDefaultTimeout(60_000)
      return context.newPage()
    },
    async close() {
      await browser.close()
      await service.close()
    },
  }
}

let userCount = 0

/** An unused email address. */
export const newAddress = (): string => `user${++userCount}.${Date.now()}@shop.example`

/** Signs up by requests, up to the last form of onboarding, which creates the organisation. */
export async function signUp(
  request: APIRequestContext,
  email: string,
  organisation: string,
): Promise<void> {
  const { origin } = new URL((await request.get('/console/sign-in')).url())
  const post = async (path: string, form: Record<string, string>) => {
    const response = await request.post(path, { form, headers: { Origin: origin } })
    if (!response.ok()) throw new Error(`POST ${path}: ${response.status()}`)
  }
  await post('/console/sign-up', { email, password: PASSWORD, organisation })
  const mails = await (await request.get('/console/dev/mail')).text()
  const mail = mails.split('<article').find((part) => part.includes(email)) ?? ''
  const token = /[?&;]token=([\w.-]+)/.exec(mail)?.[1] ?? ''
  await post('/console/verify', { token })
  await post('/console/onboarding/name', { name: organisation })
  await post('/console/onboarding/region', { region: 'EU' })
}

/**
 * Signs up by requests, and opens the page with the first API key. Four times as fast as `onboardByHand`.
 * @returns the email address
 */
export async function onboard(page: Page, email = newAddress(), organisation = 'Acme Fashion') {
  await signUp(page.request, email, organisation)
  await page.goto('/console/onboarding/workspace')
  await createOrganisation(page)
  return email
}

async function createOrganisation(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Create organisation' }).click()
  await page.getByRole('heading', { name: 'Your test API key' }).waitFor()
}

/** Signs up and completes onboarding in the pages. Returns the email address. */
export async function onboardByHand(
  page: Page,
  email = newAddress(),
  organisation = 'Acme Fashion',
) {
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
  await createOrganisation(page)
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

/** Opens a page and reloads it, 60 times at most, until it has the part, which work of the background brings. */
export async function openUntil(page: Page, path: string, part: Locator): Promise<void> {
  await page.goto(path)
  for (let count = 0; count < 60 && (await part.count()) === 0; count++) {
    await page.waitForTimeout(500)
    await page.reload()
  }
  await part.first().waitFor({ state: 'attached' })
}
