// What people do in the console, in a real browser.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import {
  DESKTOP,
  newAddress,
  onboard,
  openMail,
  PASSWORD,
  PHONE,
  startConsole,
} from './support/console.ts'
import type { Console } from './support/console.ts'

let site: Console
/** Somebody who is through with onboarding; tests that change nothing for others share them. */
let page: Page

before(async () => {
  site = await startConsole()
  page = await site.open()
})
after(() => site.close())

describe('onboarding', () => {
  it('leads from the sign-up to a finished test job with its picture in sight', async () => {
    await onboard(page)
    const key = await page.locator('[data-copy-source]').first().textContent()
    assert.match(key ?? '', /^svc_test_sk_\w+$/)
    assert.match((await page.locator('pre').nth(1).textContent()) ?? '', new RegExp(String(key)))
    await page.getByRole('button', { name: 'Run it now' }).click()
    await resultShown(page)
    await page.getByRole('link', { name: /go to the console/ }).click()
    await page.getByRole('heading', { name: 'Acme Fashion' }).waitFor()
    assert.equal(await page.locator('.figures dd').first().textContent(), '100')
  })

  it('copies the key', async () => {
    const page = await site.open({ permissions: ['clipboard-read', 'clipboard-write'] })
    await onboard(page)
    await page.getByRole('button', { name: 'Copy' }).first().click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    const copied = await page.evaluate('navigator.clipboard.readText()')
    assert.equal(copied, await page.locator('[data-copy-source]').first().textContent())
  })

  it('works without JavaScript', async () => {
    const page = await site.open({ javaScriptEnabled: false })
    await onboard(page)
    assert.equal(await page.getByRole('button', { name: 'Copy' }).count(), 0)
    const [job] = await Promise.all([
      page.context().waitForEvent('page'),
      page.getByRole('button', { name: 'Run it now' }).click(),
    ])
    await job.getByRole('img', { name: 'Result picture' }).waitFor()
    // The key is still there, in the window that it was shown in.
    await page.getByRole('heading', { name: 'Your test API key' }).waitFor()
  })

  it('needs nothing but a keyboard', async () => {
    const page = await site.open()
    const { keyboard } = page
    await page.goto('/console/sign-up')
    const email = newAddress()
    await page.locator('input:focus').waitFor() // the first field has it from the start
    await keyboard.type(email)
    await keyboard.press('Tab')
    await keyboard.type(PASSWORD)
    await keyboard.press('Tab')
    await keyboard.type('Keyboard Ltd')
    await keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Check your inbox' }).waitFor()
    await openMail(page)
    await page.getByRole('heading', { name: 'Confirm your organisation' }).waitFor()
    await page.locator('input:focus').waitFor()
    await keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Choose your billing region' }).waitFor()
    await tabTo(page, 'India')
    await keyboard.press('Space')
    await keyboard.press('ArrowDown')
    assert.equal(await page.getByRole('radio', { name: /United States/ }).isChecked(), true)
    await keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Name your first workspace' }).waitFor()
    await page.locator('input:focus').waitFor()
    await keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Your test API key' }).waitFor()
    await tabTo(page, 'Run it now')
    await keyboard.press('Enter')
    await resultShown(page)
    await page.goto('/console')
    await keyboard.press('Tab')
    assert.equal(await focused(page), 'Skip to the content')
    await keyboard.press('Enter')
    assert.equal(await page.evaluate('document.activeElement.id'), 'content')
  })
})

describe('API keys', () => {
  it('are created, work, and are refused once revoked', async () => {
    await page.goto('/console/settings/api-keys')
    await page.getByLabel('Name').fill('Shop, staging')
    await page.getByRole('button', { name: 'Create key' }).click()
    const key = (await page.locator('[data-copy-source]').textContent()) ?? ''
    const ask = () =>
      fetch(`${site.url}/v1/account`, { headers: { Authorization: `Bearer ${key}` } })
    assert.equal((await ask()).status, 200)
    await page.getByRole('link', { name: /back to the list/ }).click()
    const row = page.getByRole('row', { name: /Shop, staging/ })
    await row.locator('summary').click()
    await row.locator('form').getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('The key is revoked').waitFor()
    const refused = (await (await ask()).json()) as { error: { code: string } }
    assert.equal(refused.error.code, 'api_key_revoked')
  })
})

describe('what unfolds', () => {
  it('folds up at Escape, and the account menu at a click elsewhere', async () => {
    await page.goto('/console/settings/api-keys')
    const revoke = page.getByRole('button', { name: 'Revoke First test key' })
    await revoke.first().click()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Escape')
    assert.equal(await page.locator('td details[open]').count(), 0)
    assert.equal(await focused(page), 'Revoke')
    const menu = page.locator('header .person')
    await menu.locator('summary').click()
    await page.keyboard.press('Escape')
    assert.equal(await menu.getAttribute('open'), null)
    await menu.locator('summary').click()
    await page.getByRole('heading', { name: 'API keys' }).click()
    assert.equal(await menu.getAttribute('open'), null)
  })
})

describe('the playground', () => {
  it('makes a real picture of two uploaded files, as one watches', async () => {
    await page.goto('/console/playground')
    await page.getByLabel('Or a file').first().setInputFiles('samples/model.jpg')
    await page.getByLabel('Or a file').last().setInputFiles('samples/garment.jpg')
    await page.getByRole('radio', { name: /Live/ }).check()
    await page.getByRole('button', { name: 'Try it on' }).click()
    await resultShown(page)
    await page.goto('/console/credits')
    await page.getByText('Consumed by a job').waitFor()
  })
})

describe('a file that is too large', () => {
  it('is refused at its field before it is sent, and the form stays as it was', async () => {
    await page.goto('/console/playground')
    const file = page.getByLabel('Or a file').first()
    const buffer = Buffer.alloc(10 * 1024 * 1024 + 1)
    await file.setInputFiles({ name: 'large.jpg', mimeType: 'image/jpeg', buffer })
    await page.getByLabel('Address').last().fill('https://shop.example/shirt.png')
    await page.getByRole('button', { name: 'Try it on' }).click()
    const words = 'This file has 10.1 MB. Choose one of at most 10 MB.'
    await page.locator('#model_file-error', { hasText: words }).waitFor()
    assert.equal(await page.evaluate('document.activeElement.id'), 'model_file')
    assert.equal(
      await page.getByLabel('Address').last().inputValue(),
      'https://shop.example/shirt.png',
    )
    assert.equal(await page.getByRole('button', { name: 'Try it on' }).isEnabled(), true)
    await file.setInputFiles('samples/model.jpg')
    assert.equal(await page.locator('#model_file-error').count(), 0)
  })
})

describe('webhooks', () => {
  it('are delivered, shown and sent again', async () => {
    const seen: string[] = []
    const receiver = createServer((request, response) => {
      seen.push(String(request.headers['webhook-id']))
      request.resume()
      response.end('thanks')
    }).listen(0)
    try {
      const { port } = receiver.address() as AddressInfo
      await page.goto('/console/settings/webhooks')
      await page.locator('#url').fill(`http://localhost:${port}/hook`)
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByRole('button', { name: 'Send job.completed' }).click()
      await page.getByRole('link', { name: 'Webhook delivered' }).click()
      await page.getByRole('button', { name: 'Send again' }).click()
      await page.getByText('Attempt 2').waitFor()
      assert.equal(seen.length, 2)
      assert.equal(seen[0], seen[1])
    } finally {
      receiver.close()
    }
  })
})

const PAGES = [
  '',
  '/playground',
  '/jobs',
  '/credits',
  '/settings/api-keys',
  '/settings/webhooks?reveal=1',
  '/settings/workspaces',
  '/settings/team',
  '/settings/data-retention',
  '/account',
  '/invitations',
  '/nowhere',
]
const GUEST_PAGES = ['/sign-in', '/sign-up', '/forgot', '/reset?token=x', '/check-inbox']

describe('every page', () => {
  it('fits every window, and so does all that a table shows', async () => {
    await page.goto('/console/settings/workspaces')
    await page.getByLabel('Name', { exact: true }).fill('W'.repeat(100))
    await page.getByRole('button', { name: 'Create workspace' }).click()
    await page.getByRole('cell', { name: 'WWW' }).first().waitFor()
    for (const path of PAGES) {
      await page.goto(`/console${path}`)
      for (const action of await page.locator('td summary').all()) await action.click()
      for (const width of [320, PHONE.width, 768, 1024, DESKTOP.width]) {
        await page.setViewportSize({ width, height: 900 })
        assert.deepEqual(await page.evaluate(TOO_WIDE), [], `${path} at ${width} px`)
      }
    }
    await page.setViewportSize(DESKTOP)
  })

  it('has no serious accessibility findings and no two landmarks alike, light and dark', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      for (const path of PAGES) await findNothing(page, path)
      const guest = await site.open({ colorScheme })
      for (const path of GUEST_PAGES) await findNothing(guest, path)
    }
    await page.goto('/console/jobs')
    await page.locator('td a').first().click()
    await page.locator('.timeline').waitFor()
    await findNothing(page)
  })

  it('shows its fields and what has the focus, light and dark', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      for (const path of ['/playground', '/jobs', '/settings/workspaces', '/account']) {
        await page.goto(`/console${path}`)
        for (const action of await page.locator('td summary').all()) await action.click()
        await page.keyboard.press('Tab') // so that the browser shows the focus
        assert.deepEqual(await page.evaluate(TOO_FAINT), [], `${path}, ${colorScheme}`)
      }
    }
    await page.emulateMedia({ colorScheme: 'light' })
  })

  it('runs no script and no style that its policy forbids', async () => {
    const complaints: string[] = []
    page.on('console', (message) => {
      if (message.text().includes('Content Security Policy')) complaints.push(message.text())
    })
    for (const path of PAGES) await page.goto(`/console${path}`)
    assert.deepEqual(complaints, [])
  })
})

/** What reaches out of the window, or out of its table's frame. */
const TOO_WIDE = `[
  ...(document.documentElement.scrollWidth > innerWidth ? ['the page'] : []),
  ...[...document.querySelectorAll('td *')]
    .filter((part) => part.checkVisibility())
    .filter((part) => {
      const frame = part.closest('.listing')?.getBoundingClientRect().right ?? innerWidth
      return part.getBoundingClientRect().right > frame
    })
    .map((part) => part.outerHTML.slice(0, 80)),
]`

/** Fields whose border, and whatever has a focus ring, has a contrast below 3:1 (WCAG 1.4.11). */
const TOO_FAINT = `(() => {
  const channels = (colour) => colour.match(/[\\d.]+/g).map(Number)
  const luminance = (colour) => {
    const [red, green, blue] = channels(colour).map((value) =>
      value <= 10 ? value / 3294 : ((value / 255 + 0.055) / 1.055) ** 2.4)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  }
  const contrast = (one, other) => {
    const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b)
    return (light + 0.05) / (dark + 0.05)
  }
  const ground = (part) => {
    const { backgroundColor } = getComputedStyle(part)
    const opaque = channels(backgroundColor)[3] !== 0
    return opaque || !part.parentElement ? backgroundColor : ground(part.parentElement)
  }
  const findings = []
  for (const part of document.querySelectorAll('input, select, button, summary, a, pre')) {
    if (part.type === 'hidden' || !part.checkVisibility()) continue
    part.style.transition = 'none'
    const around = ground(part.parentElement)
    const judge = (what, colour) => {
      const ratio = contrast(colour, around)
      if (ratio < 3) findings.push(part.outerHTML.slice(0, 60) + ' ' + what + ' ' + ratio.toFixed(2))
    }
    const isField = part.matches('input:not([type=file]), select')
    if (isField) judge('border', getComputedStyle(part).borderColor)
    part.focus()
    const { outlineStyle, outlineColor, borderColor } = getComputedStyle(part)
    if (isField) judge('focused border', borderColor)
    if (!isField || part.type === 'radio') {
      if (outlineStyle === 'none') findings.push(part.outerHTML.slice(0, 60) + ' no ring')
      else judge('ring', outlineColor)
    }
  }
  return findings
})()`

/** Runs axe, past the page's policy, on a page or what is open. */
async function findNothing(page: Page, path?: string): Promise<void> {
  if (path !== undefined) await page.goto(`/console${path}`)
  const { readFile } = await import('node:fs/promises')
  const { createRequire } = await import('node:module')
  const source = await readFile(createRequire(import.meta.url).resolve('axe-core'), 'utf8')
  await page.evaluate(`${source}; 0`)
  const findings = (await page.evaluate(
    `axe.run().then(({ violations }) => violations
       .filter(({ id, impact }) =>
         impact === 'serious' || impact === 'critical' || id === 'landmark-unique')
       .map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' | ')))`,
  )) as string[]
  assert.deepEqual(findings, [], `${page.url()}`)
}

/** Waits until the result's picture has arrived, and is one. */
async function resultShown(page: Page): Promise<void> {
  await page.getByRole('img', { name: 'Result picture' }).waitFor({ timeout: 60_000 })
  // Fails for what is no picture.
  await page.evaluate('document.querySelector("img[alt=\\"Result picture\\"]").decode()')
}

const focused = async (page: Page) =>
  String(await page.evaluate('document.activeElement.textContent')).trim()

/** Presses Tab until what has the focus, or its label, says `words`. */
async function tabTo(page: Page, words: string): Promise<void> {
  for (let count = 0; count < 40; count++) {
    const text = await page.evaluate(
      '(document.activeElement.closest("label") ?? document.activeElement).textContent',
    )
    if (String(text).includes(words)) {
      if ((await page.evaluate('document.activeElement.tagName')) !== 'BODY') return
    }
    await page.keyboard.press('Tab')
  }
  assert.fail(`nothing to tab to says ${words}`)
}
