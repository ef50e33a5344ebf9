// The service in Chromium, for browser tests.
import {
  chromium,
  type APIRequestContext,
  type Browser,
  type BrowserContextOptions,
  type Locator,
  type Page,
} from 'playwright-core'
import { launchOptions } from '../../../scripts/chromium.ts'
import { sharedService, type Service } from '../../node/support/service.ts'

export const DESKTOP = { width: 1280, height: 900 }
export const TABLET = { width: 768, height: 1024 }
export const PHONE = { width: 390, height: 844 }
export const PASSWORD = 'a long enough password'

export interface Console extends Service {
  browser: Browser
  /** Opens a window with its own cookies. */
  open(options?: BrowserContextOptions): Promise<Page>
  close(): Promise<void>
}

/** Chromium: the one that `npm test` started for all files, or a new one. */
export function openBrowser(): Promise<Browser> {
  const shared = process.env['TEST_BROWSER']
  return shared ? chromium.connect(shared) : chromium.launch(launchOptions())
}

export async function openConsole(service: Service = sharedService()): Promise<Console> {
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
    close: () => browser.close(),
  }
}

let userCount = 0

/** An unused email address: other files use the same service. */
export const newAddress = (): string =>
  `user${++userCount}.${process.pid}.${Date.now()}@shop.example`

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

/** SQL for the id of the organisation of a user. */
export const organisationOf = (email: string): string =>
  `(SELECT organisation_id FROM members JOIN users ON users.id = user_id WHERE email = '${email}')`

/** The last owner of an organisation cannot leave. */
export async function addSecondOwner(service: Service, email: string): Promise<void> {
  const id = `usr_${crypto.randomUUID()}`
  await service.sql(
    `INSERT INTO users (id, name, email, created_at, updated_at)
     VALUES ('${id}', 'Second', '${id}@shop.example', 0, 0);
     INSERT INTO members (organisation_id, user_id, role, created_at)
     VALUES (${organisationOf(email)}, '${id}', 'owner', 0)`,
  )
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
  await openMail(page, email)
  await page.getByRole('button', { name: 'Verify and continue' }).click()
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('radio', { name: /European Union/ }).check()
  await createOrganisation(page)
  return email
}

/** Opens the link of the latest email to an address. */
export async function openMail(page: Page, email: string): Promise<void> {
  await page.goto('/console/dev/mail')
  const mail = page.getByRole('article').filter({ hasText: `To ${email}` })
  await mail.getByRole('link', { name: 'Open the link' }).first().click()
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
