// Somebody with a browser: keeps cookies, follows redirects, posts forms.
import { env } from 'cloudflare:workers'
import { expect } from 'vitest'
import { newId } from '../../src/ids.ts'
import { BASE, request } from './client.ts'
import { IMAGES } from './world.ts'

export const PASSWORD = 'a long enough password'

export interface Page {
  status: number
  /** Where it ended, after redirects. */
  path: string
  html: string
  headers: Headers
}

export interface Visitor {
  get(path: string): Promise<Page>
  /** Posts a form; one of a member's names the organisation of the page last seen, unless given. */
  post(
    path: string,
    fields?: Record<string, string | File>,
    from?: { origin?: string | null; referer?: string },
  ): Promise<Page>
  /** The cookies as they stand; another visitor may be given them. */
  cookies: Map<string, string>
}

/** @param ip where the requests come from; each visitor has a network of its own unless given */
export function newVisitor(ip = newIp()): Visitor {
  const cookies = new Map<string, string>()
  /** The organisation that the forms of the page last seen are about, as they say themselves. */
  let formOrganisation: string | undefined

  async function send(path: string, init: RequestInit): Promise<Page> {
    const headers = new Headers(init.headers)
    headers.set('CF-Connecting-IP', ip)
    if (cookies.size > 0) {
      headers.set('Cookie', [...cookies].map(([name, value]) => `${name}=${value}`).join('; '))
    }
    const answer = await request(path, { ...init, headers, redirect: 'manual' })
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value === '' || /max-age=0/i.test(line)) cookies.delete(name)
      else cookies.set(name, value)
    }
    const location = answer.headers.get('Location')
    if (location) {
      await answer.body?.cancel()
      expect(new URL(location, BASE).origin).toBe(BASE)
      const { pathname, search } = new URL(location, BASE)
      return send(pathname + search, { method: 'GET' })
    }
    const html = await answer.text()
    formOrganisation =
      /name="form_organisation" value="([^"]+)"/.exec(html)?.[1] ?? formOrganisation
    return { status: answer.status, path, html, headers: answer.headers }
  }

  return {
    cookies,
    get: (path) => send(path, { method: 'GET' }),
    post(path, fields = {}, { origin = BASE, referer } = {}) {
      const whole: typeof fields = {
        ...(formOrganisation !== undefined && { form_organisation: formOrganisation }),
        ...fields,
      }
      const files = Object.values(whole).some((value) => value instanceof File)
      const body = files ? new FormData() : new URLSearchParams()
      for (const [name, value] of Object.entries(whole)) {
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
  }
}

const newIp = () => {
  const { 0: a, 1: b } = crypto.getRandomValues(new Uint16Array(2))
  return `2001:db8:${a?.toString(16)}:${b?.toString(16)}::1`
}

/** An address that nobody has used yet. */
export const newAddress = () => `${crypto.randomUUID()}@shop.example`

/** The latest mail to an address: its subject and where its link leads. */
export async function latestMail(address: string): Promise<{ subject: string; path: string }> {
  const { html } = await newVisitor().get('/console/dev/mail')
  const mail = html.split('<article').find((part) => part.includes(address)) ?? ''
  const [, subject = ''] = /<h2>([^<]*)/.exec(mail) ?? []
  const [, href = ''] = /<a href="([^"]+)">Open/.exec(mail) ?? []
  return { subject, path: href.replaceAll('&amp;', '&').replace(BASE, '') }
}

/** The token in the link of the latest mail to an address. */
export async function latestToken(address: string): Promise<string> {
  const { path } = await latestMail(address)
  return new URL(path, BASE).searchParams.get('token') ?? path.split('/').at(-1) ?? ''
}

/** Opens the verification link of the latest mail and sends the form on its page. */
export async function verify(
  visitor: Visitor,
  email: string,
  fields: Record<string, string> = {},
): Promise<Page> {
  const { path } = await latestMail(email)
  await visitor.get(path)
  return visitor.post('/console/verify', { token: await latestToken(email), ...fields })
}

/** Signs up and verifies the address, up to the first step of onboarding. */
export async function signUp(visitor: Visitor, email = newAddress()): Promise<string> {
  const page = await visitor.post('/console/sign-up', {
    email,
    password: PASSWORD,
    organisation: 'Acme',
  })
  expect(page.path).toBe('/console/check-inbox')
  expect((await verify(visitor, email)).path).toBe('/console/onboarding/name')
  return email
}

export interface Founder {
  visitor: Visitor
  email: string
  organisationId: string
  testKey: string
}

/** A person who has completed the onboarding. */
export async function newFounder(name = 'Acme', address = newAddress()): Promise<Founder> {
  const visitor = newVisitor()
  const email = await signUp(visitor, address)
  await visitor.post('/console/onboarding/name', { name })
  await visitor.post('/console/onboarding/region', { region: 'EU' })
  const page = await visitor.post('/console/onboarding/workspace', { name: 'Default' })
  const [testKey = ''] = /svc_test_sk_\w{64}/.exec(page.html) ?? []
  expect(testKey).not.toBe('')
  return { visitor, email, organisationId: `org_${testKey.slice(12, 38)}`, testKey }
}

/** A person who joined an organisation, looking at it. They have one of their own as well. */
export async function newMember(
  organisationId: string,
  role: 'owner' | 'member' = 'member',
): Promise<{ visitor: Visitor; email: string; userId: string }> {
  const { visitor, email } = await newFounder()
  const userId = await userIdOf(email)
  await env.DB.prepare('INSERT INTO members VALUES (?, ?, ?, ?)')
    .bind(organisationId, userId, role, Date.now())
    .run()
  await visitor.post('/console/organisation', { organisation: organisationId })
  await visitor.get('/console/settings/team') // its forms are about the organisation now
  return { visitor, email, userId }
}

export const userIdOf = async (email: string): Promise<string> =>
  (await env.DB.prepare('SELECT id FROM users WHERE email = ?').bind(email).first<string>('id')) ??
  ''

/** The credits of an organisation, by its Organisation. */
export const totalsOf = (organisationId: string) =>
  env.ORGANISATION.getByName(organisationId).totals()

/** The job that an address is about. */
export const jobIdOf = (path: string) => /job_\w{26}/.exec(path)?.[0] ?? ''

/** Creates an API key. @param form sent with it, such as the id that was made with the form */
export const createKey = (visitor: Visitor, form: Record<string, string> = {}) =>
  visitor.post('/console/settings/api-keys', {
    id: newId('key'),
    name: 'Shop',
    mode: 'test',
    ...form,
  })

/** Submits in the playground. @returns the job's id */
export async function tryOn(visitor: Visitor, fields: Record<string, string | File> = {}) {
  const page = await visitor.post('/console/playground', {
    ...IMAGES,
    mode: 'test',
    workspace: '',
    nonce: crypto.randomUUID(),
    ...fields,
  })
  return { page, jobId: jobIdOf(page.path) }
}

/** Opens an invitation's link without an account, and joins with a password. */
export async function join(email: string): Promise<Visitor> {
  const { path } = await latestMail(email)
  const visitor = newVisitor()
  expect((await visitor.get(path)).html).toContain('Create account and join')
  expect((await visitor.post(path, { password: PASSWORD })).path).toBe('/console')
  return visitor
}
