import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, it } from 'vitest'
import { runRetention } from '../../src/retention/run.ts'
import { BASE, request } from '../support/client.ts'
import { newBrowser, newOwner } from '../support/browser.ts'

const SIGN_UP = '/console/sign-up'
const FORM = { email: 'ada@gmail.com', password: 'short', organisation: 'Typed Ltd' }
const NAVIGATION = { referer: `${SIGN_UP}?from=pricing`, navigates: true }

beforeEach(() => env.DB.exec('DELETE FROM rejected_pages'))

const stored = () => env.DB.prepare('SELECT * FROM rejected_pages').all<{ page: string }>()

describe('a rejected form of a browser', () => {
  it('is shown once at the address of the form', async () => {
    const browser = newBrowser()
    const rejected = await browser.post(SIGN_UP, FORM, NAVIGATION)
    expect(rejected).toMatchObject({ status: 422, address: `${SIGN_UP}?from=pricing` })
    expect(rejected.html).toContain('Typed Ltd')
    expect(rejected.headers.get('Content-Security-Policy')).toContain("default-src 'none'")
    expect(rejected.headers.get('Cache-Control')).toBe('no-store')
    const again = await browser.get(`${SIGN_UP}?from=pricing`)
    expect(again.status).toBe(200)
    expect(again.html).not.toContain('Typed Ltd')
    expect((await stored()).results).toEqual([])
  })

  it('keeps the navigation and the session of a member', async () => {
    const { browser } = await newOwner()
    const page = '/console/settings/workspaces'
    const rejected = await browser.post(page, { name: '' }, { referer: page, navigates: true })
    expect(rejected).toMatchObject({ status: 422, path: page })
    expect(rejected.html).toContain('aria-label="Console"')
    expect((await browser.get(page)).status).toBe(200)
  })

  it('is stored encrypted, and only for its browser and address', async () => {
    const send = () =>
      request(SIGN_UP, {
        method: 'POST',
        headers: {
          Origin: BASE,
          Referer: BASE + SIGN_UP,
          'Sec-Fetch-Mode': 'navigate',
          'Sec-Fetch-Site': 'same-origin',
        },
        body: new URLSearchParams(FORM),
        redirect: 'manual',
      })
    const response = await send()
    expect([response.status, response.headers.get('Location')]).toEqual([303, SIGN_UP])
    const [cookie = ''] = response.headers.getSetCookie()
    expect(cookie).toMatch(
      /^try-on\.rejected=[\w-]{43}; Max-Age=60; Path=\/console\/sign-up; HttpOnly/,
    )
    const { results } = await stored()
    expect(results).toHaveLength(1)
    expect(atob(results[0]?.page ?? '')).not.toContain('Typed')
    const open = async (path: string, headers: HeadersInit) =>
      (await (await request(path, { headers })).text()).includes('Typed Ltd')
    const Cookie = cookie.split(';')[0] ?? ''
    expect(await open(SIGN_UP, {})).toBe(false)
    expect(await open(SIGN_UP, { Cookie: 'try-on.rejected=other' })).toBe(false)
    expect(await open(`${SIGN_UP}?next=1`, { Cookie })).toBe(false)
    expect(await open(SIGN_UP, { Cookie })).toBe(true)
  })

  it('is deleted after a minute when it is not shown', async () => {
    await env.DB.prepare('INSERT INTO rejected_pages VALUES (?, ?, ?)')
      .bind('old', 'page', Date.now() - 1)
      .run()
    await runRetention(env)
    expect((await stored()).results).toEqual([])
  })

  it('is the response itself when too many pages are stored', async () => {
    await env.DB.exec(
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
       INSERT INTO rejected_pages SELECT 'full' || i, '', ${Date.now() + 60_000} FROM n`.replaceAll(
        '\n',
        ' ',
      ),
    )
    const rejected = await newBrowser().post(SIGN_UP, FORM, NAVIGATION)
    expect(rejected).toMatchObject({ status: 422, address: SIGN_UP })
  })

  it('is not redirected for a form of another site', async () => {
    const rejected = await newBrowser().post(SIGN_UP, FORM, {
      origin: 'https://evil.example',
      navigates: true,
    })
    expect(rejected).toMatchObject({ status: 403, address: SIGN_UP })
  })
})

describe('a client that is not a browser', () => {
  it('receives the page with its status', async () => {
    const browser = newBrowser()
    const rejected = await browser.post(SIGN_UP, FORM, { referer: SIGN_UP })
    expect(rejected).toMatchObject({ status: 422, path: SIGN_UP })
    expect(browser.cookies.has('try-on.rejected')).toBe(false)
  })
})
