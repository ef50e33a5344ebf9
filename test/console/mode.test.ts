import { describe, expect, it } from 'vitest'
import { pageInNewMode } from '../../src/console/pages/choices.ts'
import { clientOf } from '../support/client.ts'
import { createKey, newOwner } from '../support/browser.ts'
import { finished, submit } from '../support/world.ts'

const BAND = 'Test data'

describe('the mode', () => {
  it('is live after a first live picture', async () => {
    const { browser } = await newOwner()
    await browser.post('/console/playground/sample', { mode: 'test', nonce: crypto.randomUUID() })
    expect((await browser.get('/console')).html).toContain(BAND)
    await browser.post('/console/playground/sample', { mode: 'live', nonce: crypto.randomUUID() })
    expect((await browser.get('/console')).html).not.toContain(BAND)
  })

  it('is not shown on pages without a mode', async () => {
    const { browser } = await newOwner()
    for (const page of ['/billing', '/credits', '/account', '/settings/team']) {
      expect((await browser.get(`/console${page}`)).html, page).not.toContain(BAND)
    }
  })

  it('is test until the organisation has a live key, then live', async () => {
    const { browser } = await newOwner()
    expect((await browser.get('/console')).html).toContain(BAND)
    await createKey(browser, { mode: 'live' })
    for (const page of ['', '/jobs', '/credits', '/settings/team', '/account']) {
      expect((await browser.get(`/console${page}`)).html).not.toContain(BAND)
    }
  })

  it('is selected for all pages, and the page stays the same', async () => {
    const { browser } = await newOwner()
    const page = await browser.post(
      '/console/mode',
      { mode: 'live' },
      { referer: '/console/jobs?status=failed&before=job_1' },
    )
    expect(page.path).toBe('/console/jobs?status=failed')
    expect((await browser.get('/console')).html).not.toContain(BAND)
    expect(browser.cookies.get('try-on.mode')).toBe('live')
    await browser.post('/console/mode', { mode: 'test' })
    expect((await browser.get('/console/jobs')).html).toContain(BAND)
    expect((await browser.post('/console/mode', { mode: 'other' })).html).toContain(BAND)
  })

  it('is the default of a new key, and selects the keys that are listed', async () => {
    const { browser, testKey } = await newOwner()
    const keys = async () => (await browser.get('/console/settings/api-keys')).html
    expect(await keys()).toMatch(/value="test" checked/)
    expect(await keys()).toContain(`svc_test_sk_…${testKey.slice(-4)}`)
    await browser.post('/console/mode', { mode: 'live' })
    const live = await keys()
    expect(live).toMatch(/value="live" checked/)
    expect(live).toContain('No live API keys')
    expect(live).toContain('1 test API key<')
    expect(live).toContain('Switch to test')
  })
})

describe('the page after the mode has changed', () => {
  it('has its filters, but not its position in a list', () => {
    expect(pageInNewMode('/console')).toBe('/console')
    expect(pageInNewMode('/console/jobs?before=job_1')).toBe('/console/jobs')
    expect(pageInNewMode('/console/x?range=7d&workspace=ws_1&key=key_1')).toBe(
      '/console/x?range=7d&workspace=ws_1',
    )
  })
})

describe('the overview', () => {
  it('counts the jobs of the mode and links errors to their jobs and their documentation', async () => {
    const { browser, testKey } = await newOwner()
    const client = clientOf(testKey)
    const { job_id: completed } = await submit(client)
    const { job_id: failed } = await submit(client, {
      model_image_url: 'https://test.invalid/fail/person_not_found',
    })
    await finished(client, completed)
    await finished(client, failed)
    const test = (await browser.get('/console?range=24h')).html
    expect(test).toContain('1 completed, 1 failed, 0 other')
    expect(test).toContain('<dt>Success rate</dt><dd>50%</dd>')
    expect(test).not.toContain('Credits used')
    expect(test).not.toContain('Before:')
    const [, live24 = ''] = /data-live="([^"]+)" data-live-seconds="30"/.exec(test) ?? []
    expect(live24).toMatch(/\/live\?range=24h$/)
    await finished(client, (await submit(client)).job_id)
    const { html: figures } = await browser.get(live24)
    expect(figures).toMatch(/^<section aria-label="Figures"/)
    expect(figures).toContain('<dt>Success rate</dt><dd>66.6%</dd>')
    expect(test).toContain('href="/docs/errors#person_not_found"')
    expect(test).toMatch(
      /\/jobs\?status=failed&amp;error=person_not_found&amp;from=\d{4}-\d\d-\d\d"/,
    )
    await browser.post('/console/mode', { mode: 'live' })
    const live = (await browser.get('/console?range=nonsense')).html
    expect(live).toContain('No live jobs in this time')
    expect(live).toContain('3 test jobs')
    expect(live).toContain('<dt>Credits used</dt><dd>0</dd>')
  })

  it('is filtered by workspace', async () => {
    const { browser, testKey } = await newOwner()
    await browser.post('/console/settings/workspaces', { name: 'Outlet' })
    const client = clientOf(testKey)
    await finished(client, (await submit(client)).job_id)
    const { html } = await browser.get('/console')
    const [, outlet = ''] = /<option value="(ws_\w+)">Outlet/.exec(html) ?? []
    expect(html).toContain('1 completed, 0 failed')
    expect((await browser.get(`/console?workspace=${outlet}`)).html).toContain('No test jobs')
    expect((await browser.get('/console?workspace=ws_other')).html).toContain('1 completed')
  })
})
