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
  let drawnFor: string | undefined

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
    drawnFor = /name="drawn_for" value="([^"]+)"/.exec(html)?.[1] ?? drawnFor
    return { status: answer.status, path, html, headers: answer.headers }
  }

  return {
    cookies,
    get: (path) => send(path, { method: 'GET' }),
    post(path, fields = {}, { origin = BASE, referer } = {}) {
      const whole: typeof fields = {
        ...(drawnFor !== undefined && { drawn_for: drawnFor }),
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

/** Signs up and follows the link in the mail, up to the first step of onboarding. */
export async function signUp(visitor: Visitor, email = newAddress()): Promise<string> {
  const page = await visitor.post('/console/sign-up', {
    email,
    password: PASSWORD,
    organisation: 'Acme',
  })
  expect(page.path).toBe('/console/check-inbox')
  const { path } = await latestMail(email)
  expect((await visitor.get(path)).path).toBe('/console/onboarding/name')
  return email
}

export interface Founder {
  visitor: Visitor
  email: string
  organisationId: string
  testKey: string
}

/** Somebody who has come through the whole onboarding. */
export async function newFounder(name = 'Acme'): Promise<Founder> {
  const visitor = newVisitor()
  const email = await signUp(visitor)
  await visitor.post('/console/onboarding/name', { name })
  await visitor.post('/console/onboarding/region', { region: 'EU' })
  const page = await visitor.post('/console/onboarding/workspace', { name: 'Default' })
  const [testKey = ''] = /svc_test_sk_\w{64}/.exec(page.html) ?? []
  expect(testKey).not.toBe('')
  return { visitor, email, organisationId: `org_${testKey.slice(12, 38)}`, testKey }
}

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

/** Follows an invitation's mail to an account and into the organisation. */
export async function join(email: string): Promise<Visitor> {
  const invitation = await latestMail(email)
  const visitor = newVisitor()
  const page = await visitor.get(invitation.path)
  const [, signUp = ''] = /href="(\/console\/sign-up[^"]+)"/.exec(page.html) ?? []
  const token = signUp.split('invitation=')[1] ?? ''
  await visitor.post('/console/sign-up', { password: PASSWORD, invitation: token })
  const open = await visitor.get((await latestMail(email)).path)
  expect(open.path).toBe('/console/invitations')
  const [, accept = ''] = /action="(\/console\/invitations\/inv_\w+\/accept)"/.exec(open.html) ?? []
  expect((await visitor.post(accept)).path).toBe('/console')
  return visitor
}
