// User journeys in the console, in Chromium.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import {
  addSecondOwner,
  newAddress,
  onboard,
  onboardByHand,
  openMail,
  PASSWORD,
  PHONE,
  openConsole,
  type Console,
} from './support/console.ts'
import { assertAccessible, findOverflows } from './support/checks.ts'

let site: Console
/** The window of a user who has completed onboarding, shared by tests that do not affect each other. */
let page: Page

before(async () => {
  site = await openConsole()
  page = await site.open()
})
after(() => site.close())

describe('onboarding', () => {
  it('leads from sign-up to the result of a test job', async () => {
    await onboardByHand(page)
    const key = await page.locator('[data-copy-source]').first().textContent()
    assert.match(key ?? '', /^svc_test_sk_\w+$/)
    assert.match((await page.locator('pre').nth(1).textContent()) ?? '', new RegExp(String(key)))
    await page.getByRole('button', { name: 'Submit sample job' }).click()
    await waitForResult(page)
    await page.getByRole('button', { name: /Go to the console/ }).click()
    await page.getByRole('heading', { name: 'Acme Fashion' }).waitFor()
    assert.equal(await page.locator('.metrics dd').first().textContent(), '100')
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
    await onboardByHand(page)
    assert.equal(await page.getByRole('button', { name: 'Copy' }).count(), 0)
    const [job] = await Promise.all([
      page.context().waitForEvent('page'),
      page.getByRole('button', { name: 'Submit sample job' }).click(),
    ])
    await job.getByRole('img', { name: 'Result image' }).waitFor()
    // The job opens in a new window, so the key is still visible.
    await page.getByRole('heading', { name: 'Your test API key' }).waitFor()
  })

  it('can be completed with the keyboard', async () => {
    const page = await site.open()
    const { keyboard } = page
    await page.goto('/console/sign-up')
    const email = newAddress()
    await page.locator('input:focus').waitFor() // the first field has the focus
    await keyboard.type(email)
    await keyboard.press('Tab')
    await keyboard.type(PASSWORD)
    await keyboard.press('Tab') // the button that shows the password
    await keyboard.press('Tab')
    await keyboard.type('Keyboard Ltd')
    await keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Check your inbox' }).waitFor()
    await openMail(page, email)
    await page.getByRole('heading', { name: 'Verify your email' }).waitFor()
    await tabTo(page, 'Verify and continue')
    await keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Confirm your organisation' }).waitFor()
    await page.locator('input:focus').waitFor()
    await keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Choose your billing region' }).waitFor()
    await tabTo(page, 'India')
    await keyboard.press('Space')
    await keyboard.press('ArrowDown')
    assert.equal(await page.getByRole('radio', { name: /United States/ }).isChecked(), true)
    await keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Your test API key' }).waitFor()
    await page.waitForLoadState() // before its script runs, the form opens a new window
    await tabTo(page, 'Submit sample job')
    await keyboard.press('Enter')
    await waitForResult(page)
    await page.goto('/console')
    await keyboard.press('Tab')
    assert.equal(await focusedText(page), 'Skip to content')
    await keyboard.press('Enter')
    assert.equal(await page.evaluate('document.activeElement.id'), 'content')
  })
})

describe('links in emails', () => {
  it('ask for a password in a browser that did not sign up', async () => {
    const email = newAddress()
    const page = await site.open()
    await page.goto('/console/sign-up')
    await page.getByLabel('Work email').fill(email)
    await page.getByLabel('Password').fill('a password to be replaced')
    await page.getByLabel('Organisation name').fill('Elsewhere Ltd')
    await page.getByRole('button', { name: 'Create account' }).click()
    await page.getByRole('heading', { name: 'Check your inbox' }).waitFor()
    const other = await site.open()
    await openMail(other, email)
    await other.getByRole('heading', { name: 'Set your password' }).waitFor()
    await assertAccessible(other)
    await other.getByLabel('Password').fill(PASSWORD)
    await other.getByRole('button', { name: 'Verify and set password' }).click()
    await other.getByRole('heading', { name: 'Confirm your organisation' }).waitFor()
  })

  it('let an invited user join with only a password', async () => {
    const email = newAddress()
    await page.goto('/console/settings/team')
    await page.getByLabel('Email').fill(email)
    await page.getByRole('button', { name: 'Send invitation' }).click()
    await page.getByText('Invitation sent').waitFor()
    const invited = await site.open({ viewport: PHONE })
    await openMail(invited, email)
    await assertAccessible(invited)
    await invited.getByLabel('Password').fill(PASSWORD)
    await invited.getByRole('button', { name: 'Create account and join' }).click()
    await invited.getByRole('heading', { name: 'Acme Fashion' }).waitFor()
  })

  it('to reset a password are requested with the address from the sign-in form', async () => {
    const page = await site.open()
    const email = newAddress()
    await page.goto('/console/sign-in')
    await page.getByLabel('Email').fill(email)
    await page.getByRole('button', { name: 'Forgot your password?' }).click()
    await page.getByRole('heading', { name: 'Reset your password' }).waitFor()
    assert.equal(await page.getByLabel('Email').inputValue(), email)
    assert.ok(!page.url().includes('@'))
    await page.getByRole('button', { name: 'Send reset link' }).click()
    await page.getByText(email).waitFor()
  })

  it('do not prevent signing in with the Enter key', async () => {
    const page = await site.open()
    await page.goto('/console/sign-in')
    await page.getByLabel('Email').fill(newAddress())
    await page.getByLabel('Password').fill('wrong')
    await page.keyboard.press('Enter')
    await page.getByText('Incorrect email address or password').waitFor()
  })
})

describe('API keys', () => {
  it('work after creation and are rejected after revocation', async () => {
    await page.goto('/console/settings/api-keys')
    await page.getByLabel('Name').fill('Shop, staging')
    await page.getByRole('button', { name: 'Create API key' }).click()
    const key = (await page.locator('[data-copy-source]').textContent()) ?? ''
    const getAccount = () =>
      fetch(`${site.url}/v1/account`, { headers: { Authorization: `Bearer ${key}` } })
    assert.equal((await getAccount()).status, 200)
    await page.getByRole('link', { name: /Back to API keys/ }).click()
    const row = page.getByRole('row', { name: /Shop, staging/ })
    await row.locator('summary').click()
    await row.locator('form').getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('API key revoked').waitFor()
    const response = (await (await getAccount()).json()) as { error: { code: string } }
    assert.equal(response.error.code, 'api_key_revoked')
  })
})

describe('menus and confirmations', () => {
  it('close on Escape, and the account menu on a click outside', async () => {
    await page.goto('/console/settings/api-keys')
    const revoke = page.getByRole('button', { name: 'Revoke First test key' })
    await revoke.first().click()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Escape')
    assert.equal(await page.locator('td details[open]').count(), 0)
    assert.equal(await focusedText(page), 'Revoke')
    const menu = page.locator('header .account-menu')
    await menu.locator('summary').click()
    await page.keyboard.press('Escape')
    assert.equal(await menu.getAttribute('open'), null)
    await menu.locator('summary').click()
    await page.getByRole('heading', { name: 'API keys' }).click()
    assert.equal(await menu.getAttribute('open'), null)
  })
})

describe('the playground', () => {
  it('shows the result of two uploaded files without a reload', async () => {
    await page.goto('/console/playground')
    await page.getByLabel('Or upload a file').first().setInputFiles('samples/model.jpg')
    await page.getByLabel('Or upload a file').last().setInputFiles('samples/garment.jpg')
    await page.getByRole('radio', { name: /Live/ }).check()
    await page.getByRole('button', { name: 'Submit job' }).click()
    await waitForResult(page)
    await page.goto('/console/credits')
    await page.getByRole('cell', { name: 'Consumed', exact: true }).waitFor()
  })
})

describe('a file that is too large', () => {
  it('is rejected at its field before the upload, and the form is not cleared', async () => {
    await page.goto('/console/playground')
    const file = page.getByLabel('Or upload a file').first()
    const buffer = Buffer.alloc(10 * 1024 * 1024 + 1)
    await file.setInputFiles({ name: 'large.jpg', mimeType: 'image/jpeg', buffer })
    await page.getByRole('textbox', { name: 'URL' }).last().fill('https://shop.example/shirt.png')
    await page.getByRole('button', { name: 'Submit job' }).click()
    const message = 'This file is 10.1 MB. The maximum is 10 MB.'
    await page.locator('#model_file-error', { hasText: message }).waitFor()
    assert.equal(await page.evaluate('document.activeElement.id'), 'model_file')
    assert.equal(
      await page.getByRole('textbox', { name: 'URL' }).last().inputValue(),
      'https://shop.example/shirt.png',
    )
    assert.equal(await page.getByRole('button', { name: 'Submit job' }).isEnabled(), true)
    await file.setInputFiles('samples/model.jpg')
    assert.equal(await page.locator('#model_file-error').count(), 0)
  })
})

describe('webhooks', () => {
  it('are delivered, listed and sent again', async () => {
    const receivedIds: string[] = []
    const receiver = createServer((request, response) => {
      receivedIds.push(String(request.headers['webhook-id']))
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
      assert.equal(receivedIds.length, 2)
      assert.equal(receivedIds[0], receivedIds[1])
    } finally {
      receiver.close()
    }
  })
})

describe('the signing secret', () => {
  it('is revealed after the user enters the password, if the sign-in is not recent', async () => {
    const page = await site.open()
    const email = await onboard(page)
    await site.sql(
      `UPDATE sessions SET created_at = created_at - 3600000
       WHERE user_id = (SELECT id FROM users WHERE email = '${email}')`,
    )
    await page.goto('/console/settings/webhooks')
    await page.getByRole('button', { name: 'Reveal the signing secret' }).click()
    await page.getByRole('heading', { name: 'Confirm your password' }).waitFor()
    await page.locator('input:focus').waitFor()
    await page.keyboard.type(PASSWORD)
    await page.keyboard.press('Enter')
    const secret = page.locator('[data-copy-source]').first()
    await secret.waitFor()
    assert.match((await secret.textContent()) ?? '', /^whsec_/)
    await page.goto('/console/settings/audit-log')
    await page.getByRole('cell', { name: 'Revealed the webhook signing secret' }).waitFor()
  })
})

describe('leaving an organisation', () => {
  it('lists the keys that the member created and offers to revoke them', async () => {
    const page = await site.open()
    const email = await onboard(page)
    // The last owner cannot leave.
    await addSecondOwner(site, email)
    await page.goto('/console/settings/team')
    await page.getByRole('button', { name: 'Leave Acme Fashion' }).click()
    await page.getByRole('cell', { name: 'First test key' }).waitFor()
    await page.waitForLoadState()
    assert.equal(await page.getByLabel('Also revoke this key').isChecked(), true)
    assert.deepEqual(await findOverflows(page), [])
    await assertAccessible(page)
    await page.getByRole('button', { name: 'Leave' }).click()
    await page.getByText('You are not a member of any organisation').waitFor()
  })
})

describe('the export of the organisation', () => {
  it('downloads a file, and the button can be used again', async () => {
    await page.goto('/console/settings/organisation')
    const button = page.getByRole('button', { name: 'Export as JSON' })
    for (let count = 0; count < 2; count++) {
      const [download] = await Promise.all([page.waitForEvent('download'), button.click()])
      assert.match(download.suggestedFilename(), /^try-on-org_\w+-\d{4}-\d\d-\d\d\.json$/)
      const { organisation } = (await json(await download.createReadStream())) as {
        organisation: { name: string }
      }
      assert.equal(organisation.name, 'Acme Fashion')
    }
  })
})

/** Waits until the result image is shown, and checks that it can be decoded. */
async function waitForResult(page: Page): Promise<void> {
  await page.getByRole('img', { name: 'Result image' }).waitFor({ timeout: 60_000 })
  await page.evaluate('document.querySelector("img[alt=\\"Result image\\"]").decode()')
}

const focusedText = async (page: Page) =>
  String(await page.evaluate('document.activeElement.textContent')).trim()

/** Presses Tab until the focused element or its label contains `text`. */
async function tabTo(page: Page, text: string): Promise<void> {
  for (let count = 0; count < 40; count++) {
    const content = await page.evaluate(
      '(document.activeElement.closest("label") ?? document.activeElement).textContent',
    )
    if (String(content).includes(text)) {
      if ((await page.evaluate('document.activeElement.tagName')) !== 'BODY') return
    }
    await page.keyboard.press('Tab')
  }
  assert.fail(`no focusable element contains ${text}`)
}
