// A user's browser: stores cookies, follows redirects, posts forms.
import { env } from 'cloudflare:workers'
import { expect } from 'vitest'
import type { Role } from '../../src/domain/role.ts'
import { developmentMailbox } from '../../src/mail/send.ts'
import { beginOnboarding, chooseRegion, confirmName } from '../../src/users/onboarding.ts'
import { newId } from '../../src/platform/ids.ts'
import { BASE, request } from './client.ts'
import { IMAGES } from './world.ts'
import { textOf } from './upstream.ts'

/** The pages of the fake payment provider. The browser does not open them. */
const PAYMENT_PAGES = 'https://pay.test/'

export const PASSWORD = 'a long enough password'

export interface Page {
  status: number
  /** The path after redirects, without the organisation; the URL of a page of the payment provider. */
  path: string
  /** The same path with the organisation. */
  address: string
  /** The page. The organisation is removed from the addresses of the console, as in `path`. */
  html: string
  /** The text of the first notice; empty without one. */
  notice: string
  source: string
  headers: Headers
}

export interface Browser {
  get(path: string): Promise<Page>
  /** Posts a form. A path without an organisation goes to the organisation that was used last. */
  post(
    path: string,
    fields?: Record<string, string | File>,
    from?: { origin?: string | null; referer?: string },
  ): Promise<Page>
  /** Posts a form, and does not follow the redirect. */
  send(path: string, fields: Record<string, string>): Promise<void>
  /** The current cookies. */
  cookies: Map<string, string>
}

/**
 * @param ip the address of the requests; by default an address in a new network
 * @param fetcher sends the requests; by default to the Worker
 */
export function newBrowser(ip = newIp(), fetcher = request): Browser {
  const cookies = new Map<string, string>()

  async function fetchWithCookies(path: string, init: RequestInit): Promise<Response> {
    const headers = new Headers(init.headers)
    headers.set('CF-Connecting-IP', ip)
    if (cookies.size > 0) {
      headers.set('Cookie', [...cookies].map(([name, value]) => `${name}=${value}`).join('; '))
    }
    const response = await fetcher(path, { ...init, headers, redirect: 'manual' })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value === '' || /max-age=0/i.test(line)) cookies.delete(name)
      else cookies.set(name, value)
    }
    return response
  }

  async function send(path: string, init: RequestInit): Promise<Page> {
    const response = await fetchWithCookies(path, init)
    const location = response.headers.get('Location')
    if (location) {
      await response.body?.cancel()
      if (location.startsWith(PAYMENT_PAGES)) {
        const { status, headers } = response
        return {
          status,
          path: location,
          address: location,
          html: '',
          notice: '',
          source: '',
          headers,
        }
      }
      expect(new URL(location, BASE).origin).toBe(BASE)
      const { pathname, search } = new URL(location, BASE)
      return send(pathname + search, response.status === 307 ? init : { method: 'GET' })
    }
    const source = await textOf(response)
    return {
      status: response.status,
      path: withoutOrganisation(path),
      address: path,
      html: withoutOrganisation(source),
      notice: /<p class="notice \w+" role="\w+">([^<]*)/.exec(source)?.[1] ?? '',
      source,
      headers: response.headers,
    }
  }

  return {
    cookies,
    get: (path) => send(path, { method: 'GET' }),
    post(path, fields = {}, { origin = BASE, referer } = {}) {
      const files = Object.values(fields).some((value) => value instanceof File)
      const body = files ? new FormData() : new URLSearchParams()
      for (const [name, value] of Object.entries(fields)) {
        if (body instanceof FormData) body.set(name, value)
        else if (typeof value === 'string') body.set(name, value)
      }
      return send(path, {
        method: 'POST',
        headers: {
          ...(origin !== null && { Origin: origin }),
          ...(referer !== undefined && { Referer: BASE + referer }),
        },
        body,
      })
    },
    async send(path, fields) {
      const response = await fetchWithCookies(path, {
        method: 'POST',
        headers: { Origin: BASE },
        body: new URLSearchParams(fields),
      })
      expect(response.status).toBe(303)
      await response.body?.cancel()
    },
  }
}

const withoutOrganisation = (text: string) => text.replaceAll(/\/console\/org_\w{26}/g, '/console')

const newIp = () => {
  const { 0: a, 1: b } = crypto.getRandomValues(new Uint16Array(2))
  return `2001:db8:${a?.toString(16)}:${b?.toString(16)}::1`
}

/** A new email address. */
export const newAddress = () => `${crypto.randomUUID()}@shop.example`

/** The subject of the latest mail to an address, and the path of its link without the organisation. */
export function latestMail(address: string): { subject: string; path: string } {
  const mail = developmentMailbox().find(({ to }) => to === address)
  const path = mail?.link.replace(BASE, '') ?? ''
  return { subject: mail?.subject ?? '', path: withoutOrganisation(path) }
}

/** The token in the link of the latest mail to an address. */
export function latestToken(address: string): string {
  const { path } = latestMail(address)
  return new URL(path, BASE).searchParams.get('token') ?? path.split('/').at(-1) ?? ''
}

/** Opens the verification link of the latest mail and sends the form on its page. */
export async function verify(
  browser: Browser,
  email: string,
  fields: Record<string, string> = {},
): Promise<Page> {
  const { path } = latestMail(email)
  await browser.get(path)
  return browser.post('/console/verify', { token: latestToken(email), ...fields })
}

/** Signs up and verifies the address. The first step of onboarding follows. */
export async function signUp(browser: Browser, email = newAddress()): Promise<string> {
  const page = await browser.post('/console/sign-up', {
    email,
    password: PASSWORD,
    organisation: 'Acme',
  })
  expect(page.path).toBe('/console/check-inbox')
  expect((await verify(browser, email)).path).toBe('/console/onboarding/name')
  return email
}

export interface Owner {
  browser: Browser
  email: string
  organisationId: string
  testKey: string
}

/** A user who has completed the onboarding and owns an organisation. Opens none of its pages but the last. */
export async function newOwner(name = 'Acme', email = newAddress()): Promise<Owner> {
  const browser = newBrowser()
  await browser.send('/console/sign-up', { email, password: PASSWORD, organisation: 'Acme' })
  await browser.send('/console/verify', { token: latestToken(email) })
  const user = { env, userId: await userIdOf(email) }
  await beginOnboarding({ ...user, organisationName: name })
  await confirmName({ ...user, name })
  await chooseRegion({ ...user, regionCode: 'EU' })
  const page = await browser.post('/console/onboarding/workspace', { name: 'Default' })
  const [testKey = ''] = /svc_test_sk_\w{64}/.exec(page.html) ?? []
  expect(testKey).not.toBe('')
  return { browser, email, organisationId: `org_${testKey.slice(12, 38)}`, testKey }
}

/** A user who joined an organisation and has it selected. They own another one. */
export async function newMember(
  organisationId: string,
  role: Role = 'developer',
  workspaceIds: string[] | null = null,
): Promise<{ browser: Browser; email: string; userId: string }> {
  const { browser, email } = await newOwner()
  const userId = await userIdOf(email)
  await env.DB.prepare(
    'INSERT INTO members (organisation_id, user_id, role, created_at, workspace_ids) VALUES (?, ?, ?, ?, ?)',
  )
    .bind(organisationId, userId, role, Date.now(), workspaceIds && JSON.stringify(workspaceIds))
    .run()
  await browser.get(`/console/${organisationId}`)
  return { browser, email, userId }
}

export const userIdOf = async (email: string): Promise<string> =>
  (await env.DB.prepare('SELECT id FROM users WHERE email = ?').bind(email).first<string>('id')) ??
  ''

/** Counts for a limit in the database, such as `change:user:usr_…`, in a window of an hour. */
export const exhaust = (key: string, count: number) =>
  env.DB.prepare('INSERT OR REPLACE INTO attempts VALUES (?, ?, ?)')
    .bind(key, count, Date.now() + 60 * 60_000)
    .run()

/** The totals of an organisation's ledger. */
export const totalsOf = (organisationId: string) =>
  env.ORGANISATION.getByName(organisationId).totals()

/** The job id in a path. */
export const jobIdOf = (path: string) => /job_\w{26}/.exec(path)?.[0] ?? ''

/** Creates an API key. @param form further fields of the form, such as its id */
export const createKey = (browser: Browser, form: Record<string, string> = {}) =>
  browser.post('/console/settings/api-keys', {
    id: newId('key'),
    name: 'Shop',
    mode: 'test',
    ...form,
  })

/** Uploads a file as the script of the playground does. */
export async function sendFile(browser: Browser, body: BodyInit) {
  const { address } = await browser.get('/console/playground')
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const response = await request(`${address}/uploads`, {
    method: 'POST',
    headers: { Cookie: cookie, Origin: BASE },
    body,
    redirect: 'manual',
  })
  return { status: response.status, body: await response.json<{ url?: string; error?: string }>() }
}

/** Submits a job in the playground. */
export async function tryOn(browser: Browser, fields: Record<string, string | File> = {}) {
  const page = await browser.post('/console/playground', {
    ...IMAGES,
    mode: 'test',
    workspace: '',
    nonce: crypto.randomUUID(),
    ...fields,
  })
  return { page, jobId: jobIdOf(page.path) }
}

/** Accepts an invitation by creating an account with a password. */
export async function join(email: string): Promise<Browser> {
  const { path } = latestMail(email)
  const browser = newBrowser()
  expect((await browser.get(path)).html).toContain('Create account and join')
  expect((await browser.post(path, { password: PASSWORD })).path).toBe('/console')
  return browser
}
