// The documentation site in Chromium: every page at two widths and in both themes, search, theme
// switch, copy buttons, the API reference and the links between console and documentation.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { SECTIONS, pathOf } from '../../docs/.vitepress/navigation.ts'
import { findAxeViolations, sampleOf } from './support/checks.ts'
import { DESKTOP, onboard, PHONE, openConsole, type Console } from './support/console.ts'

const PAGES = SECTIONS.flatMap(({ slugs }) => slugs).map(pathOf)
const GUIDES = PAGES.filter((path) => path !== '/docs/api')

let site: Console
before(async () => {
  site = await openConsole()
})
after(() => site.close())

/** Collects what the page reports: errors, violations of its policy and requests to other hosts. */
function watch(page: Page): string[] {
  const reports: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') reports.push(message.text())
  })
  page.on('pageerror', ({ message }) => reports.push(message))
  page.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(`${site.url}/`) && !/^(data|blob):/.test(url)) reports.push(url)
  })
  return reports
}

const overflow = (page: Page) =>
  page.evaluate('document.documentElement.scrollWidth - window.innerWidth')

const isDark = (page: Page) => page.evaluate("document.documentElement.classList.contains('dark')")

const navigation = (page: Page) => page.getByRole('navigation', { name: 'Sidebar Navigation' })

/**
 * Opens a page and waits until its scripts have started: a click before that is lost. `waitForFunction` would
 * evaluate its text again later, which the policy of the page forbids.
 */
async function open(page: Page, path: string): Promise<void> {
  await page.goto(path)
  await page.evaluate(`new Promise((started) => {
    const check = () =>
      '__vue_app__' in document.querySelector('#app') ? started() : requestAnimationFrame(check)
    check()
  })`)
}

/** Opens the search with the keyboard, and types. */
async function search(page: Page, text: string): Promise<void> {
  await page.keyboard.press('/')
  await page.getByRole('searchbox').waitFor()
  await page.keyboard.type(text)
}

const background = (page: Page) => page.evaluate('getComputedStyle(document.body).backgroundColor')

/** Both windows and both themes. */
const LOOKS = [
  { viewport: DESKTOP, colorScheme: 'light' },
  { viewport: PHONE, colorScheme: 'dark' },
  { viewport: DESKTOP, colorScheme: 'dark' },
  { viewport: PHONE, colorScheme: 'light' },
] as const

describe('every page', () => {
  it('is accessible, fits each window, light and dark, and has a heading, links and Markdown', async () => {
    const page = await site.open({ reducedMotion: 'reduce' })
    const reports = watch(page)
    for (const [at, path] of GUIDES.entries()) {
      const looks = sampleOf(LOOKS, at)
      for (const [n, { viewport, colorScheme }] of looks.entries()) {
        const where = `${path} at ${viewport.width} px, ${colorScheme}`
        await page.setViewportSize(viewport)
        await page.emulateMedia({ colorScheme })
        if (n === 0) assert.equal((await page.goto(path))?.status(), 200, path)
        await page.locator(colorScheme === 'dark' ? 'html.dark' : 'html:not(.dark)').waitFor()
        assert.equal(await overflow(page), 0, `${where} is too wide`)
        // The pages have the same parts, so a sample of them is enough.
        if (looks.length > 1 || at % 3 === 0)
          assert.deepEqual(await findAxeViolations(page), [], where)
      }
      await assertStructure(page, path)
    }
    assert.deepEqual(reports, [])
    await page.context().close()
  })
})

/** One h1, links to its neighbours, and the same page as Markdown. */
async function assertStructure(page: Page, path: string): Promise<void> {
  assert.equal(await page.locator('h1').count(), 1, path)
  const pager = page.getByRole('navigation', { name: 'Pager' })
  assert.ok((await pager.getByRole('link').count()) >= 1, path)
  const href = await page.getByRole('link', { name: 'View as Markdown' }).getAttribute('href')
  const markdown = await page.request.get(String(href))
  assert.equal(markdown.headers()['content-type'], 'text/markdown; charset=utf-8')
  const title = await page.locator('h1').innerText()
  assert.ok((await markdown.text()).startsWith(`# ${title.replace(/\s+\u200B$/, '')}\n`), path)
}

describe('the navigation', () => {
  it('is a menu on phones', async () => {
    const page = await site.open({ viewport: PHONE })
    await open(page, '/docs/jobs')
    const link = navigation(page).getByText('Errors')
    await page.locator('.VPSidebar').waitFor({ state: 'hidden' })
    await page.locator('.VPLocalNav').getByRole('button', { name: 'Menu' }).click()
    assert.deepEqual(await findAxeViolations(page), [])
    await link.click()
    await page.waitForURL('**/docs/errors')
    await page.context().close()
  })

  it('works without JavaScript', async () => {
    const page = await site.open({ viewport: PHONE, javaScriptEnabled: false })
    await page.goto('/docs/jobs')
    // What needs scripts is not offered, and the menu is open.
    assert.equal(await page.getByRole('button').count(), 0)
    await navigation(page).getByText('Errors').click()
    await page.waitForURL('**/docs/errors')
    await page.context().close()
  })
})

describe('the search', () => {
  it('finds an error code and opens its section', async () => {
    const page = await site.open()
    await open(page, '/docs')
    await search(page, 'person_not_found')
    await page.locator('.results a').first().waitFor()
    assert.deepEqual(await findAxeViolations(page), [])
    await page.keyboard.press('Enter')
    await page.waitForURL('**/docs/errors#person_not_found')
    await page.locator('#person_not_found').waitFor()
    await page.context().close()
  })

  it('finds the words of a code, with the arrow keys', async () => {
    const page = await site.open()
    await open(page, '/docs')
    await search(page, 'person not found')
    await page.locator('.results a[href="/docs/errors#person_not_found"]').first().waitFor()
    const [first, second] = [0, 1].map((at) => page.locator(`#localsearch-item-${at} > a.selected`))
    await first!.waitFor()
    // The excerpts, which come last, select the first result once more.
    for (let tries = 0; tries < 30 && (await second!.count()) === 0; tries++) {
      if ((await first!.count()) > 0) await page.keyboard.press('ArrowDown')
      await page.waitForTimeout(100)
    }
    assert.equal(await second!.count(), 1)
    await page.keyboard.press('Escape')
    await page.locator('.results').waitFor({ state: 'hidden' })
    await page.context().close()
  })

  it('says that there are no results', async () => {
    const page = await site.open()
    await open(page, '/docs/nowhere')
    await page.getByRole('button', { name: 'Search' }).click()
    await page.getByRole('searchbox').fill('xylophone')
    await page.getByText('No results for "xylophone"').waitFor()
    await page.context().close()
  })
})

it('remembers the chosen theme', async () => {
  const page = await site.open({ colorScheme: 'light' })
  await open(page, '/docs')
  const light = await background(page)
  const themeSwitch = page.getByRole('switch', { name: 'Dark theme' })
  await themeSwitch.click()
  const dark = await background(page)
  assert.notEqual(dark, light)
  await open(page, '/docs/jobs')
  assert.deepEqual([await isDark(page), await background(page)], [true, dark])
  await themeSwitch.click()
  await page.reload()
  assert.deepEqual([await isDark(page), await background(page)], [false, light])
  await page.context().close()
})

it('copies code with the address of this service', async () => {
  const page = await site.open({ permissions: ['clipboard-read', 'clipboard-write'] })
  await open(page, '/docs')
  await page.locator('.language-sh', { hasText: site.url }).first().hover()
  await page.locator('.language-sh', { hasText: site.url }).first().getByTitle('Copy').click()
  await page.locator('button.copied').waitFor()
  const copied = String(await page.evaluate('navigator.clipboard.readText()'))
  assert.ok(copied.includes(site.url), copied)
  assert.doesNotMatch(String(await page.locator('main').textContent()), /try-on\.example/)

  await open(page, '/docs/cli')
  const session = page.locator('.language-shell', { hasText: '$ try-on login' }).first()
  await session.hover()
  await session.getByTitle('Copy').click()
  await session.locator('button.copied').waitFor()
  const command = await page.evaluate('navigator.clipboard.readText()')
  assert.equal(command, `try-on login --base-url ${site.url}`, 'without prompt and output')
  await page.context().close()
})

describe('an unknown page', () => {
  it('is a 404 page with search and links', async () => {
    const page = await site.open()
    const response = await page.goto('/docs/nowhere')
    assert.equal(response?.status(), 404)
    await page.getByRole('heading', { name: 'Page not found' }).waitFor()
    assert.ok(await page.getByRole('button', { name: 'Search' }).isVisible())
    assert.deepEqual(await findAxeViolations(page), [])
    await page.locator('main').getByRole('link', { name: 'Quick start' }).click()
    await page.waitForURL('**/docs/quick-start')
    await page.context().close()
  })
})

describe('the API reference', () => {
  /** The viewer is large, and a busy machine needs its time to run it. */
  async function openReference(options: BrowserContextOptions = {}): Promise<Page> {
    const page = await site.open(options)
    page.setDefaultTimeout(60_000)
    return page
  }

  for (const viewport of [DESKTOP, PHONE]) {
    it(`shows the operations at ${viewport.width} pixels and sends no request to other hosts`, async () => {
      const page = await openReference({ viewport })
      const reports = watch(page)
      await page.goto('/docs/api')
      await page.getByRole('heading', { name: 'Virtual Try-On API' }).waitFor()
      await page.getByText('/v1/tryon').first().waitFor()
      await page.waitForLoadState('networkidle')
      assert.equal(await overflow(page), 0)
      // The viewer has links in the buttons that open a parameter, which its settings cannot change.
      const violations = await findAxeViolations(page)
      const others = violations.filter((violation) => !violation.startsWith('nested-interactive'))
      assert.deepEqual(others, [])
      assert.deepEqual(reports, [])
      await page.context().close()
    })
  }

  it('follows the theme switch', async () => {
    const page = await openReference({ colorScheme: 'light' })
    await page.goto('/docs/api')
    await page.locator('body.light-mode').waitFor()
    await page.getByRole('switch', { name: 'Dark theme' }).click()
    await page.locator('body.dark-mode').waitFor()
    await page.context().close()
  })

  it('sends a request with a test key', async () => {
    const page = await openReference()
    const { api_keys: keys } = await site.newOrganisation()
    const reports = watch(page)
    await page.goto('/docs/api')
    await page.getByPlaceholder('Token').first().fill(keys.test)
    await page.getByRole('button', { name: /Test Request.*post \/v1\/tryon/ }).click()
    const [response] = await Promise.all([
      page.waitForResponse('**/v1/tryon'),
      page.getByRole('button', { name: /^Send/ }).last().click(),
    ])
    assert.ok([200, 202].includes(response.status()), await response.text())
    assert.deepEqual(reports, [])
    await page.context().close()
  })
})

describe('the console', () => {
  it('links to the documentation on its pages', async () => {
    const page = await site.open()
    const linksTo = (href: string) => page.locator(`a[href="${href}"]`).first().waitFor()
    await page.goto('/console/sign-in')
    await linksTo('/docs')
    await page.goto('/console/nowhere')
    await linksTo('/docs')
    await onboard(page)
    await linksTo('/docs/quick-start')
    for (const [path, href] of [
      ['/console', '/docs'],
      ['/console/jobs', '/docs/quick-start'],
      ['/console/billing', '/docs/billing'],
      ['/console/settings/api-keys', '/docs/authentication'],
      ['/console/settings/webhooks', '/docs/webhooks'],
    ] as const) {
      await page.goto(path)
      await linksTo('/docs')
      await linksTo(href)
    }
    await page.context().close()
  })

  it('links from a failed job to the section of its error code', async () => {
    const page = await site.open()
    await onboard(page)
    await page.goto('/console/playground')
    await page
      .getByRole('textbox', { name: 'URL' })
      .first()
      .fill('https://test.invalid/fail/person_not_found')
    await page.getByRole('textbox', { name: 'URL' }).last().fill('https://shop.example/shirt.png')
    await page.getByRole('button', { name: 'Submit job' }).click()
    await page.getByRole('link', { name: 'person_not_found' }).click()
    await page.waitForURL('**/docs/errors#person_not_found')
    await page.context().close()
  })
})
