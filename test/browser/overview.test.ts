// The mode of the console, the charts of the overview, API keys, limits and credits, in Chromium.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { assertSound, findAxeViolations, findLowContrast, findOverflows } from './support/checks.ts'
import {
  DESKTOP,
  onboard,
  openUntil,
  PHONE,
  openConsole,
  organisationOf,
  TABLET,
  type Console,
} from './support/console.ts'

const LONG_NAME = `Shop, production, ${'averylongword'.repeat(4)} and further words`.slice(0, 100)
/** A point of a bar's column that the bar does not cover. */
const ABOVE_BAR = { x: 5, y: 5 }
const DAY_MS = 24 * 60 * 60_000
const today = Math.floor(Date.now() / DAY_MS)
const dateOf = (day: number) =>
  new Date(day * DAY_MS).toLocaleDateString('en-GB', {
    day: 'numeric',
    month: 'short',
    timeZone: 'UTC',
  })

let site: Console
let page: Page

before(async () => {
  site = await openConsole()
  page = await site.open()
  page.context().setDefaultTimeout(60_000) // the first page takes long on a busy machine
  const email = await onboard(page, undefined, 'Acme Fashion')
  await page.goto('/console/settings/workspaces')
  await page.getByLabel('Name').last().fill('A workspace with a name that is rather long')
  await page.getByRole('button', { name: 'Create workspace' }).click()
  // The jobs of 60 days, as cron counts them.
  await site.sql(
    `WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 60)
     INSERT INTO job_statistics
     SELECT ${today} - n, organisations.id, 'live', workspaces.id, 1000 + (n * 37) % 400,
       (n * 7) % 90, n % 4,
       json_object('person_not_found', (n * 7) % 90), json_object('2400', 900, '8100', 100), '{}'
     FROM n, organisations JOIN workspaces
       ON workspaces.organisation_id = organisations.id AND workspaces.name = 'Default'
     WHERE organisations.id = ${organisationOf(email)}
     ORDER BY n;
     WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 60)
     INSERT INTO job_statistics_days SELECT ${today} - n FROM n`.replaceAll(/\s+/g, ' '),
  )
})
after(() => site.close())

describe('the mode switch', () => {
  it('is used with the keyboard and does not leave the page', async () => {
    await page.goto('/console/jobs?status=failed')
    await page.getByText('Test data').waitFor()
    const live = page
      .getByRole('group', { name: 'Data mode' })
      .getByRole('button', { name: 'Live' })
    assert.equal(await live.getAttribute('aria-pressed'), 'false')
    await page.getByRole('button', { name: 'Test', exact: true }).focus()
    await page.keyboard.press('Shift+Tab')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/jobs\?status=failed$/)
    await page.locator('body:not(.test-mode)').waitFor()
    assert.equal(await live.getAttribute('aria-pressed'), 'true')
    assert.equal(await page.getByText('Test data').count(), 0)
  })

  it('fits into a phone', async () => {
    await page.setViewportSize(PHONE)
    for (const mode of ['Test', 'Live']) {
      await page.getByRole('button', { name: mode, exact: true }).click()
      await page.waitForLoadState()
      assert.deepEqual(await findOverflows(page), [])
    }
    await page.setViewportSize(DESKTOP)
  })
})

describe('the overview', () => {
  it('shows the values of a bar to the pointer and to the arrow keys', async () => {
    await page.goto('/console?range=30d')
    const chart = page.getByRole('group', { name: /^Jobs per day/ })
    const value = () => chart.locator('.value:visible').textContent()
    await chart.locator('.hit').nth(10).hover({ position: ABOVE_BAR })
    assert.match((await value()) ?? '', new RegExp(`^${dateOf(today - 19)}: 1,\\d{3} completed, `))
    await page.mouse.move(0, 0)
    await chart.locator('.bar').last().focus()
    await page.keyboard.press('ArrowLeft')
    assert.match(
      (await value()) ?? '',
      new RegExp(`^${dateOf(today - 1)}: 1,037 completed, 7 failed`),
    )
    await page.keyboard.press('Home')
    assert.match((await value()) ?? '', new RegExp(`^${dateOf(today - 29)}: `))
    assert.equal(await chart.locator('.bar[tabindex="0"]').count(), 1)
    await page.getByText('Show as table').first().click()
    await page.getByRole('table', { name: 'Jobs per day' }).waitFor()
  })

  it('compares its figures with the range before, and reads them again', async () => {
    const reads: string[] = []
    page.on('response', (response) => {
      if (/\/console\/org_\w+\/live\?range=30d$/.test(response.url()) && response.ok())
        reads.push(response.url())
    })
    await page.clock.install()
    await page.goto('/console?range=30d')
    await page
      .getByText(/^Before: 3\d,\d{3}$/)
      .first()
      .waitFor()
    while (reads.length < 2) await page.clock.runFor(1_000)
    await page.clock.resume()
  })

  it('selects the range and the workspace', async () => {
    await page.getByRole('link', { name: '90 days' }).click()
    await page.waitForURL(/range=90d/)
    await page.getByLabel('Workspace').selectOption({ label: 'Default' })
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.waitForURL(/range=90d&workspace=ws_/)
    await page.getByRole('link', { name: '7 days' }).click()
    await page.waitForURL(/range=7d&workspace=ws_/)
    assert.equal(await page.getByRole('group', { name: /^Jobs/ }).locator('.bar').count(), 7)
  })

  it('links the jobs of an error and its documentation', async () => {
    const row = page.getByRole('row', { name: /person_not_found/ })
    const href = await row.getByRole('link', { name: /jobs that failed/ }).getAttribute('href')
    assert.match(href ?? '', /jobs\?status=failed&error=person_not_found&from=/)
    await row.getByRole('link', { name: 'How to fix it: person_not_found' }).waitFor()
  })

  it('works without JavaScript', async () => {
    const context = await site.browser.newContext({
      baseURL: site.url,
      javaScriptEnabled: false,
      storageState: await page.context().storageState(),
    })
    const still = await context.newPage()
    await still.goto('/console')
    await still.locator('.hit').nth(3).hover({ position: ABOVE_BAR })
    assert.equal(await still.locator('.value:visible').count(), 1)
    await still.getByText('Show as table').first().click()
    await still.getByRole('table', { name: 'Jobs per day' }).waitFor()
    await context.close()
  })
})

describe('API keys', () => {
  it('with a long name fit into the table, and their button stays in one line', async () => {
    await page.goto('/console/settings/api-keys')
    await page.getByLabel('Name').fill(LONG_NAME)
    await page.getByLabel('Last day').fill('2028-02-29')
    await page.getByRole('button', { name: 'Create API key' }).click()
    await page.getByRole('link', { name: /Back to API keys/ }).click()
    await page.getByRole('heading', { name: 'API keys' }).waitFor()
    await page.waitForLoadState()
    for (const viewport of [PHONE, TABLET, DESKTOP]) {
      await page.setViewportSize(viewport)
      assert.deepEqual(await findOverflows(page), [])
      const box = await page
        .getByRole('button', { name: /^Revoke/ })
        .first()
        .boundingBox()
      assert.ok((box?.height ?? 99) < 48, `the button is ${box?.height} px high`)
    }
    const name = page.getByRole('link', { name: LONG_NAME })
    const cut = (await name.boundingBox())?.height ?? 0
    await page.keyboard.press('Tab')
    await name.focus()
    assert.ok(((await name.boundingBox())?.height ?? 0) > cut)
  })

  it('are replaced with an overlap', async () => {
    await page.getByRole('link', { name: LONG_NAME }).click()
    await page.getByLabel('The old key stops working').selectOption({ label: 'In 1 hour' })
    await page.getByRole('button', { name: 'Replace key' }).click()
    await page.getByText(/works until/).waitFor()
    assert.match(
      (await page.locator('[data-copy-source]').textContent()) ?? '',
      /^svc_live_sk_\w{64}$/,
    )
    await page.getByRole('link', { name: /Back to API keys/ }).click()
    await page.getByRole('link', { name: LONG_NAME }).nth(1).waitFor()
    assert.equal(await page.getByRole('link', { name: LONG_NAME }).count(), 2)
    await page
      .getByRole('button', { name: /^Revoke/ })
      .first()
      .click()
    await page.locator('details[open] button', { hasText: 'Revoke' }).click()
    await page.getByText('1 revoked or expired key').click()
    await page.getByRole('table', { name: 'Revoked and expired API keys' }).waitFor()
  })
})

/** Checks the open page with axe, and its width on a phone. */
async function check() {
  assert.deepEqual(await findAxeViolations(page), [])
  await page.setViewportSize(PHONE)
  assert.deepEqual(await findOverflows(page), [])
  await page.setViewportSize(DESKTOP)
}

/** A live key without limits, once its page was tested. */
let key: string
/** The status of a request with the key. */
const statusOf = async (method: string, path: string, body?: object) => {
  const headers = { Authorization: `Bearer ${key}` }
  const request = { method, headers, ...(body && { body: JSON.stringify(body) }) }
  return (await fetch(site.url + path, request)).status
}

describe('the limits of an API key', () => {
  it('are chosen when it is created', async () => {
    await page.goto('/console/settings/api-keys')
    await page.getByLabel('Name').fill('Reports')
    await page.getByLabel('Access').selectOption({ label: 'Read only: GET requests' })
    await page.getByLabel('Workspace').selectOption({ label: 'Only Default' })
    await page.getByLabel('Credits per month').fill('none')
    await page.getByRole('button', { name: 'Create API key' }).click()
    // The form is shown again with its values.
    await page.getByText('Enter a whole number from 1').waitFor()
    assert.equal(await page.getByLabel('Access').inputValue(), 'read')
    await check()
    await page.getByLabel('Credits per month').fill('40')
    await page.getByRole('button', { name: 'Create API key' }).click()
    key = (await page.locator('[data-copy-source]').textContent()) ?? ''
    assert.equal(await statusOf('GET', '/v1/account'), 200)
    assert.equal(await statusOf('POST', '/v1/tryon'), 403)
    await page.getByRole('link', { name: /Back to API keys/ }).click()
    const row = page.getByRole('row', { name: /^Reports/ })
    for (const limit of ['Read only', 'Default only', '0 of 40 credits this month']) {
      await row.getByText(limit).waitFor()
    }
    await check()
  })

  it('are changed and removed on its page', async () => {
    await page.getByRole('link', { name: 'Reports' }).click()
    await page.getByText('Read only, Default only, 0 of 40 credits this month').waitFor()
    await page.getByLabel('Credits per month').fill('0')
    await page.getByRole('button', { name: 'Save limits' }).click()
    await page.getByText('Enter a whole number from 1').waitFor()
    await check()
    await page.getByLabel('Access').selectOption('full')
    await page.getByLabel('Workspace').selectOption({ label: 'All workspaces' })
    await page.getByLabel('Credits per month').fill('')
    await page.getByRole('button', { name: 'Save limits' }).click()
    await page.getByText('Limits saved.').waitFor()
    await page.locator('dd', { hasText: /^Full access$/ }).waitFor()
    await check()
  })
})

describe('the monthly limit of a workspace', () => {
  const row = () => page.getByRole('row', { name: /^Default/ })
  const saveLimit = async (credits: string) => {
    await row().getByLabel('Credits per month').fill(credits)
    await row().getByRole('button', { name: 'Save limit of Default' }).click()
  }

  it('is set and removed', async () => {
    await page.goto('/console/settings/workspaces')
    await row().getByText('No limit').waitFor()
    await row().getByRole('button', { name: 'Limit Default', exact: true }).click()
    await check()
    await saveLimit('1.5')
    // The form is shown again, open.
    await row().getByText('Enter a whole number from 1').waitFor()
    await check()
    await saveLimit('25')
    await page.getByText('Limit saved.').waitFor()
    await row().getByText('0 of 25').waitFor()
    await check()
    await row().getByRole('button', { name: 'Limit Default', exact: true }).click()
    assert.equal(await row().getByLabel('Credits per month').inputValue(), '25')
    await saveLimit('1')
    await row().getByText('0 of 1').waitFor()
  })

  it('rejects further live jobs once it is spent, until it is removed', async () => {
    const [model_image_url, garment_image_url] = ['model', 'garment'].map(
      (name) => `${site.url}/static/${name}.jpg`,
    )
    const submit = () => statusOf('POST', '/v1/tryon', { model_image_url, garment_image_url })
    assert.equal(await submit(), 202)
    assert.equal(await submit(), 402)
    await page.reload()
    await row().getByText('1 of 1').waitFor()
    await check()
    await row().getByRole('button', { name: 'Limit Default', exact: true }).click()
    await saveLimit('')
    await row().getByText('No limit').waitFor()
    assert.equal(await submit(), 202)
    const mail = page.getByText('“Default” of Acme Fashion has used 100% of its limit')
    await openUntil(page, '/console/dev/mail', mail)
    await mail.first().waitFor()
  })
})

describe('the pages', () => {
  it('have no accessibility violations, sufficient contrast and no overflow', async () => {
    await page.goto('/console/settings/api-keys')
    const key = await page.getByRole('link', { name: LONG_NAME }).first().getAttribute('href')
    for (const [name, path] of [
      ['overview', '/console'],
      ['overview-hours', '/console?range=24h'],
      ['credits', '/console/credits'],
      ['keys', '/console/settings/api-keys'],
      ['key-page', key ?? ''],
    ] as const) {
      await page.goto(path)
      await assertSound(page, name)
      assert.deepEqual(await findLowContrast(page), [], path)
    }
    await page.getByRole('button', { name: 'Test', exact: true }).click()
    await page.goto('/console')
    await assertSound(page, 'overview-test')
  })
})
