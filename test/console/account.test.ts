import { describe, expect, it, vi } from 'vitest'
import { isFreeEmail } from '../../src/organisations/email-address.ts'
import { app } from '../../src/app.ts'
import { safeReturnTo } from '../../src/console/return-to.ts'
import { createExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { BASE, request } from '../support/client.ts'
import {
  latestMail,
  newAddress,
  newOwner,
  newBrowser,
  PASSWORD,
  signUp,
  verify,
} from '../support/browser.ts'

const credentials = (email: string, password = PASSWORD) => ({ email, password })

/** The HTML without values and email addresses, to compare two responses. */
const withoutValues = (html: string) =>
  html.replaceAll(/value="[^"]*"/g, '').replaceAll(/\S+@\S+/g, '')

describe('signing up', () => {
  it('rejects personal email addresses with an error at the field', async () => {
    const page = await newBrowser().post('/console/sign-up', {
      ...credentials('ada@gmail.com'),
      organisation: 'Acme',
    })
    expect(page.status).toBe(422)
    expect(page.html).toContain('id="email-error"')
    expect(page.html).toContain('Use your work email address')
    expect(page.html).toContain('value="Acme"')
  })

  it.each([
    ['a@gmail.com', true],
    ['a@GMAIL.com', true],
    ['a@mail.gmail.com', true],
    ['a@shop.example.', false],
    ['a@gmail.com.shop.example', false],
  ])('recognises a personal address by its domain and parent domains: %s', (address, free) => {
    expect(isFreeEmail(address)).toBe(free)
  })

  it('returns the same page for a known address and informs its user by email', async () => {
    const { email } = await newOwner()
    const again = await newBrowser().post('/console/sign-up', {
      ...credentials(email),
      organisation: 'Acme',
    })
    const fresh = await newBrowser().post('/console/sign-up', {
      ...credentials(newAddress()),
      organisation: 'Acme',
    })
    expect(again.path).toBe(fresh.path)
    expect(withoutValues(again.html)).toBe(withoutValues(fresh.html))
    expect(latestMail(email).subject).toBe('You already have an account')
  })

  it('verifies with the button on the linked page, not by opening the link', async () => {
    const browser = newBrowser()
    const email = newAddress()
    await browser.post('/console/sign-up', { ...credentials(email), organisation: 'Acme' })
    const { path } = latestMail(email)
    for (const each of [newBrowser(), browser]) {
      expect((await each.get(path)).status).toBe(200)
      const rejected = await newBrowser().post('/console/sign-in', credentials(email))
      expect(rejected.html).toContain('Your email address is not verified yet')
    }
    const page = await browser.get(path)
    expect(page.html).not.toContain('name="password"')
    expect((await verify(browser, email)).path).toBe('/console/onboarding/name')
  })

  it('asks for a password if the link is opened in another browser', async () => {
    const email = newAddress()
    await newBrowser().post('/console/sign-up', { ...credentials(email), organisation: 'Acme' })
    const elsewhere = newBrowser()
    const page = await elsewhere.get(latestMail(email).path)
    expect(page.html).toContain('<h1>Set your password</h1>')
    expect(page.html).toContain(`<strong>${email}</strong>`)
    for (const password of ['', 'short']) {
      const rejected = await verify(elsewhere, email, { password })
      expect(rejected.status).toBe(422)
      expect(rejected.html).toContain('id="password-error"')
    }
    const verified = await verify(elsewhere, email, { password: 'another long password' })
    expect(verified.path).toBe('/console/onboarding/name')
    const signIn = (password: string) =>
      newBrowser().post('/console/sign-in', credentials(email, password))
    expect((await signIn(PASSWORD)).status).toBe(401)
    expect((await signIn('another long password')).path).toBe('/console/onboarding/name')
  })

  it('ignores a link whose address is already verified', async () => {
    const browser = newBrowser()
    const email = await signUp(browser)
    const other = newBrowser()
    const { path } = latestMail(email)
    expect(await other.get(path)).toMatchObject({
      path: '/console/sign-in',
      notice: 'Your email address is already verified. Sign in to continue.',
    })
    const page = await verify(other, email, { password: 'a password of the attacker' })
    expect(page).toMatchObject({
      path: '/console/sign-in',
      notice: 'Your email address is already verified. Sign in to continue.',
    })
    expect(page.html).toContain('already verified')
    expect((await other.get('/console')).path).toMatch(/^\/console\/sign-in/)
    expect((await browser.get('/console')).path).toBe('/console/onboarding/name')
  })

  it('verifies once if several browsers send their forms at the same time', async () => {
    const browser = newBrowser()
    const email = newAddress()
    await browser.post('/console/sign-up', { ...credentials(email), organisation: 'Acme' })
    const pages = await Promise.all(
      [newBrowser(), newBrowser(), newBrowser()].map((each, index) =>
        verify(each, email, { password: `long password number ${index}` }),
      ),
    )
    const paths = pages.map(({ path }) => path).toSorted()
    expect(paths).toEqual(['/console/onboarding/name', '/console/sign-in', '/console/sign-in'])
  })

  it('shows an error page for an invalid link', async () => {
    expect((await newBrowser().get('/console/verify?token=invalid')).status).toBe(403)
    const sent = await newBrowser().post('/console/verify', { token: 'invalid' })
    expect(sent.status).toBe(403)
    expect(sent.html).toContain('This link is invalid or has expired')
  })

  it('returns 500, not a link or password error, if the database fails', async () => {
    const email = newAddress()
    await newBrowser().post('/console/sign-up', { ...credentials(email), organisation: 'Acme' })
    const { path } = latestMail(email)
    const down = () => Promise.reject(new Error('D1 is down'))
    const statement = { bind: () => statement, all: down, raw: down, run: down, first: down }
    const broken = Object.assign({ ...env }, { DB: { prepare: () => statement, batch: down } })
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    const verified = await app.request(path, {}, broken as unknown as Env)
    const signedIn = await app.request(
      '/console/sign-in',
      {
        method: 'POST',
        headers: { Origin: 'http://localhost' },
        body: new URLSearchParams(credentials(email)),
      },
      broken as unknown as Env,
    )
    expect([verified.status, signedIn.status]).toEqual([500, 500])
    expect(log).toHaveBeenCalledTimes(2)
    log.mockRestore()
  })
})

describe('signing in', () => {
  it('returns the same page for a wrong password and an unknown address', async () => {
    const { email } = await newOwner()
    const wrong = await newBrowser().post('/console/sign-in', credentials(email, 'wrong'))
    const unknown = await newBrowser().post('/console/sign-in', credentials(newAddress()))
    expect([wrong.status, unknown.status]).toEqual([401, 401])
    expect(withoutValues(wrong.html)).toBe(withoutValues(unknown.html))
  })

  it('rejects the sign-in until the address is verified', async () => {
    const email = newAddress()
    await newBrowser().post('/console/sign-up', { ...credentials(email), organisation: 'Acme' })
    const page = await newBrowser().post('/console/sign-in', credentials(email))
    expect(page.status).toBe(403)
    expect(page.html).toContain('Your email address is not verified yet')
    // The page offers to send a link; the sign-in itself sends none.
    expect(page.html).not.toContain('We sent')
    const emailCount = async () =>
      (await newBrowser().get('/console/dev/mail')).html.split(`To ${email}`).length - 1
    const before = await emailCount()
    const [, address = ''] = /name="email" value="([^"]+)"/.exec(page.html) ?? []
    const sent = await newBrowser().post('/console/resend', { email: address })
    expect(sent.html).toContain('we sent a new link')
    expect(await emailCount()).toBe(before + 1)
    const wrong = await newBrowser().post('/console/sign-in', credentials(email, 'wrong'))
    expect(wrong.html).not.toContain('not verified')
  })

  it('redirects to the requested page', async () => {
    const { email } = await newOwner()
    const browser = newBrowser()
    const redirected = await browser.get('/console/jobs?status=failed')
    expect(redirected.path).toBe('/console/sign-in?next=%2Fconsole%2Fjobs%3Fstatus%3Dfailed')
    const next = '/console/jobs?status=failed'
    const page = await browser.post('/console/sign-in', { ...credentials(email), next })
    expect(page.path).toBe(next)
  })

  it('reports an unsaved form after the session has ended, and returns to its page', async () => {
    const { browser, email } = await newOwner()
    const copy = newBrowser()
    for (const [name, value] of browser.cookies) copy.cookies.set(name, value)
    await browser.post('/console/sign-out')
    const page = '/console/settings/workspaces'
    const lost = await copy.post(page, { name: 'Lost' }, { referer: page })
    expect(lost.html).toContain('Your session has ended. Your changes were not saved.')
    const [, next = ''] = /name="next" value="([^"]+)"/.exec(lost.html) ?? []
    expect(next).toBe(page)
    const back = await copy.post('/console/sign-in', { ...credentials(email), next })
    expect(back.path).toBe(page)
    expect(back.html).not.toContain('Lost')
  })

  it.each(['https://evil.example/console', `${BASE}/v1/account`])(
    'does not return to a page outside the console: %s',
    async (page) => {
      const response = await request('/console/settings/workspaces', {
        method: 'POST',
        headers: { Origin: BASE, Referer: page },
        redirect: 'manual',
      })
      expect(response.headers.get('Location')).toBe('/console/sign-in')
      expect(response.headers.get('Set-Cookie')).toContain('try-on.notice=session_ended')
    },
  )

  it.each([
    ['/account/password', '/account'],
    ['/playground/sample', '/playground'],
    ['/account/export', '/account'],
    ['/settings/organisation/retention', '/settings/organisation'],
    ['/settings/team/invitations', '/settings/team'],
    ['/settings/webhooks/url', '/settings/webhooks'],
    ['/settings/webhooks/test', '/settings/webhooks'],
    ['/settings/workspaces/ws_1/rename', '/settings/workspaces'],
  ])('redirects from the action of a form, %s, to its page', async (form, page) => {
    const { browser } = await newOwner()
    expect((await browser.get(`/console${form}`)).path).toBe(`/console${page}`)
  })

  it.each([
    'https://evil.example/console',
    '//evil.example/console',
    '/\\evil.example',
    '/console/../v1/account',
    '/consolex',
    'javascript:alert(1)',
  ])('rejects a return path outside the console: %s', (next) => {
    expect(safeReturnTo(next)).toBeNull()
  })

  it('limits the failed sign-ins of a network across all addresses', async () => {
    let host = 0
    const attempt = () =>
      newBrowser(`2001:db8:bad:bad::${(++host).toString(16)}`).post(
        '/console/sign-in',
        credentials(newAddress(), 'wrong'),
      )
    const statuses = []
    for (let round = 0; round < 17; round++) {
      const responses = await Promise.all([attempt(), attempt(), attempt()])
      statuses.push(...responses.map(({ status }) => status))
    }
    expect(statuses.filter((status) => status === 401)).toHaveLength(50)
    expect(statuses.filter((status) => status === 429)).toHaveLength(1)
  }, 30_000)

  it('ends the session when the user signs out', async () => {
    const { browser } = await newOwner()
    const { cookies } = browser
    const copy = newBrowser()
    for (const [name, value] of cookies) copy.cookies.set(name, value)
    await browser.post('/console/sign-out')
    expect((await copy.get('/console')).path).toMatch(/^\/console\/sign-in/)
  })
})

describe('passwords', () => {
  it('are reset with a link that ends all sessions and works once', async () => {
    const { browser, email } = await newOwner()
    const elsewhere = newBrowser()
    await elsewhere.post('/console/forgot', { email })
    const { path } = latestMail(email)
    const token = new URL(path, BASE).searchParams.get('token') ?? ''
    const fields = { token, password: 'another long password' }
    expect(await elsewhere.post('/console/reset', fields)).toMatchObject({
      path: '/console/sign-in',
      notice: 'Password changed. You have been signed out everywhere.',
    })
    expect((await browser.get('/console')).path).toMatch(/^\/console\/sign-in/)
    expect((await elsewhere.post('/console/reset', fields)).status).toBe(403)
    const old = await elsewhere.post('/console/sign-in', credentials(email))
    expect(old.status).toBe(401)
    const now = await elsewhere.post('/console/sign-in', credentials(email, fields.password))
    expect(now.path).toBe('/console')
  })

  it('return the same reset page with and without an account', async () => {
    const { email } = await newOwner()
    const known = await newBrowser().post('/console/forgot', { email })
    const unknown = await newBrowser().post('/console/forgot', { email: newAddress() })
    expect(withoutValues(known.html)).toBe(withoutValues(unknown.html))
  })

  it('end all other sessions when they are changed', async () => {
    const { browser, email } = await newOwner()
    const other = newBrowser()
    await other.post('/console/sign-in', credentials(email))
    const wrong = await browser.post('/console/account/password', {
      current: 'a wrong password',
      password: 'another long password',
    })
    expect(wrong.html).toContain('Incorrect password.')
    const page = await browser.post('/console/account/password', {
      current: PASSWORD,
      password: 'another long password',
    })
    expect(page).toMatchObject({
      path: '/console/account',
      notice: 'Password changed. All other sessions have been signed out.',
    })
    expect((await other.get('/console')).path).toMatch(/^\/console\/sign-in/)
  })
})

describe('security', () => {
  it.each([null, 'https://evil.example', 'null'])(
    'rejects a form from another origin (Origin %s)',
    async (origin) => {
      const page = await newBrowser().post('/console/sign-in', credentials(newAddress()), {
        origin,
      })
      expect(page.status).toBe(403)
    },
  )

  it.each(['application/json', 'text/plain', 'application/x-unknown'])(
    'rejects a request from another origin with Content-Type %s',
    async (type) => {
      const { browser } = await newOwner()
      const Cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
      const response = await request('/console/account/sign-out-everywhere', {
        method: 'POST',
        headers: { Cookie, Origin: 'https://evil.example', 'Content-Type': type },
        body: '{}',
      })
      expect(response.status).toBe(403)
      expect((await browser.get('/console')).path).toBe('/console')
    },
  )

  it('allows only its own scripts and styles, and no frames', async () => {
    const page = await newBrowser().get('/console/sign-in')
    const policy = page.headers.get('Content-Security-Policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("script-src 'self'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toContain('unsafe')
    expect(page.html).not.toMatch(/<script(?![^>]*\bsrc=)|\son\w+=|\sstyle=/)
    expect(page.headers.get('Cache-Control')).toBe('no-store')
    expect(page.headers.get('X-Frame-Options')).toBe('DENY')
    // With no-referrer, browsers would send `Origin: null` with forms.
    expect(page.headers.get('Referrer-Policy')).toBe('same-origin')
  })

  it('sets cookies as HttpOnly, Secure and SameSite=Lax', async () => {
    const { email } = await newOwner()
    const response = await request('/console/sign-in', {
      method: 'POST',
      headers: { Origin: BASE },
      body: new URLSearchParams(credentials(email)),
      redirect: 'manual',
    })
    const cookies = response.headers.getSetCookie()
    expect(cookies.length).toBeGreaterThan(0)
    for (const cookie of cookies) {
      expect(cookie).toMatch(/HttpOnly/i)
      expect(cookie).toMatch(/; Secure/i)
      expect(cookie).toMatch(/SameSite=Lax/i)
    }
  })

  it('redirects from / to the console', async () => {
    expect((await request('/', { redirect: 'manual' })).headers.get('Location')).toBe('/console')
  })

  it('logs how to set a missing AUTH_SECRET, while the API works', async () => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    const without = { ...env, AUTH_SECRET: undefined }
    const get = (path: string) =>
      app.fetch(new Request(BASE + path), without, createExecutionContext())
    const page = await get('/console/sign-in')
    expect(page.status).toBe(503)
    expect(await page.text()).toContain('The console is not set up')
    expect(log.mock.lastCall?.[0]).toContain('wrangler secret put AUTH_SECRET')
    expect((await get('/v1/account')).status).toBe(401)
  })

  it('shows the mailbox in development only', async () => {
    const production = { ...env, DEV_MAILBOX: 'false' }
    const page = await app.fetch(
      new Request(`${BASE}/console/dev/mail`),
      production,
      createExecutionContext(),
    )
    expect(page.status).toBe(404)
  })
})
