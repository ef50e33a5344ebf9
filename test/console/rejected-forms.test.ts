// A form with errors is shown again in the response itself, with what was typed.
import { describe, expect, it } from 'vitest'
import { newBrowser, newOwner, PASSWORD } from '../support/browser.ts'

const SIGN_UP = '/console/sign-up'
const FORM = { email: 'ada@gmail.com', password: 'short', organisation: 'Typed Ltd' }
const WORKSPACES = '/console/settings/workspaces'

describe('a rejected form', () => {
  it('is answered in place, with the messages and the typed values except passwords', async () => {
    const rejected = await newBrowser().post(SIGN_UP, FORM, { referer: `${SIGN_UP}?from=pricing` })
    expect(rejected).toMatchObject({ status: 422, address: SIGN_UP })
    expect(rejected.html).toContain('Use your work email address.')
    expect(rejected.html).toContain('value="ada@gmail.com"')
    expect(rejected.html).toContain('value="Typed Ltd"')
    expect(rejected.html).not.toContain('short"')
    expect(rejected.headers.get('Content-Security-Policy')).toContain("default-src 'none'")
    expect(rejected.headers.get('Cache-Control')).toBe('no-store')
  })

  it('sets no cookie, and the next page is the empty form', async () => {
    const browser = newBrowser()
    const rejected = await browser.post(SIGN_UP, FORM, { referer: SIGN_UP })
    expect(rejected.headers.getSetCookie()).toEqual([])
    const again = await browser.get(SIGN_UP)
    expect(again.status).toBe(200)
    expect(again.html).not.toContain('Typed Ltd')
  })

  it('keeps the navigation and the session of a member', async () => {
    const { browser } = await newOwner()
    const rejected = await browser.post(WORKSPACES, { name: ' ' }, { referer: WORKSPACES })
    expect(rejected).toMatchObject({ status: 422, path: WORKSPACES })
    expect(rejected.html).toContain('Enter a name.')
    expect(rejected.html).toContain('aria-label="Console"')
    expect((await browser.get(WORKSPACES)).status).toBe(200)
  })

  it('does not repeat a wrong password', async () => {
    const { email } = await newOwner()
    const wrong = `${PASSWORD} but wrong`
    const rejected = await newBrowser().post('/console/sign-in', { email, password: wrong })
    expect(rejected.status).toBe(401)
    expect(rejected.html).toContain('Incorrect email address or password.')
    expect(rejected.html).toContain(`value="${email}"`)
    expect(rejected.html).not.toContain(wrong)
  })

  it('is an error page for a form of another site', async () => {
    const rejected = await newBrowser().post(SIGN_UP, FORM, { origin: 'https://evil.example' })
    expect(rejected).toMatchObject({ status: 403, address: SIGN_UP })
  })

  it('leads to the page of the form when its address is loaded again', async () => {
    const { browser } = await newOwner()
    const fields = { url: 'https://not a url' }
    const rejected = await browser.post('/console/settings/webhooks/url', fields)
    expect(rejected).toMatchObject({ status: 422, path: '/console/settings/webhooks/url' })
    expect(rejected.html).toContain('value="https://not a url"')
    const again = await browser.get(rejected.address)
    expect(again).toMatchObject({ status: 200, path: '/console/settings/webhooks' })
  })
})
