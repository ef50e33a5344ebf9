import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import worker from '../../src/index.ts'
import { BASE } from '../support/client.ts'
import { newMember, newOwner } from '../support/browser.ts'

/** The labels of the navigation's links. */
function entriesOf(html: string): string[] {
  const nav = /<nav aria-label="Console">(.*?)<\/nav>/s.exec(html)?.[1] ?? ''
  return [...nav.matchAll(/<\/svg>([^<]+)<\/a>/g)].map(([, label = '']) => label)
}

const OVERVIEW = ['Overview', 'Credits']
const HELP = ['Documentation', 'API reference', 'Changelog']

describe('the navigation', () => {
  it('shows an owner every page, and marks the current one', async () => {
    const { browser } = await newOwner()
    const { html } = await browser.get('/console/settings/api-keys')
    expect(entriesOf(html)).toEqual([
      'Overview',
      'Playground',
      'Jobs',
      'Request log',
      'Credits',
      'Billing',
      'API keys',
      'Webhooks',
      'Organisation',
      'Workspaces',
      'Team',
      'Audit log',
      ...HELP,
    ])
    expect(html.match(/<a href="([^"]+)" aria-current="page"/)?.[1]).toBe(
      '/console/settings/api-keys',
    )
  })

  it('hides the pages that the role does not permit', async () => {
    const { organisationId } = await newOwner()
    const { browser, userId } = await newMember(organisationId)
    const entriesAs = async (role: string) => {
      await env.DB.prepare('UPDATE members SET role = ? WHERE user_id = ? AND organisation_id = ?')
        .bind(role, userId, organisationId)
        .run()
      return entriesOf((await browser.get(`/console/${organisationId}/credits`)).source)
    }
    const SETTINGS = ['Organisation', 'Workspaces', 'Team']
    expect(await entriesAs('developer')).toEqual([
      'Overview',
      'Playground',
      'Jobs',
      'Request log',
      'Credits',
      'API keys',
      'Webhooks',
      ...SETTINGS,
      ...HELP,
    ])
    expect(await entriesAs('billing')).toEqual([
      ...OVERVIEW,
      'Billing',
      'Organisation',
      'Team',
      ...HELP,
    ])
    expect(await entriesAs('viewer')).toEqual([
      'Overview',
      'Jobs',
      'Request log',
      'Credits',
      'Webhooks',
      ...SETTINGS,
      ...HELP,
    ])
  })

  it('lists the organisations of the user, and leads to a new one', async () => {
    const { organisationId } = await newOwner('Their Fashion')
    const { browser } = await newMember(organisationId)
    const { source } = await browser.get('/console')
    const menu = /<details class="menu organisation-menu">.*?<\/details>/s.exec(source)?.[0] ?? ''
    expect(menu.match(/href="\/console\/org_\w+"/g)).toHaveLength(2)
    const [current = ''] = /<a [^>]*aria-current="true"[^>]*>/.exec(menu) ?? []
    expect(current).toContain(`href="/console/${organisationId}"`)
    expect(menu).toContain('href="/console/onboarding/new"')
  })
})

describe('the search field', () => {
  it.each([
    ['job', 'job_01m84hw5rwfcf82rtw320j9cr3', '/jobs/job_01m84hw5rwfcf82rtw320j9cr3'],
    [
      'event',
      'evt_01m84hw5rwfcf82rtw320j9cr3',
      '/settings/webhooks/evt_01m84hw5rwfcf82rtw320j9cr3',
    ],
    [
      'payment',
      'pay_01m84hw5rwfcf82rtw320j9cr3',
      '/billing/payments/pay_01m84hw5rwfcf82rtw320j9cr3',
    ],
    ['part of a job', 'JOB_01m84hw5', '/jobs?q=job_01m84hw5'],
    ['request', 'My-Request 1', '/requests?q=My-Request+1'],
  ])('opens the page of any ID: %s', async (_, q, expected) => {
    const { browser, organisationId } = await newOwner()
    const page = await browser.get(`/console/search?${new URLSearchParams({ q })}`)
    expect(page.address).toBe(`/console/${organisationId}${expected}`)
    expect((await browser.get('/console')).html).toContain('aria-label="Search by ID"')
  })

  it('opens keys, endpoints, members and the organisation', async () => {
    const { browser, organisationId } = await newOwner()
    const keys = await browser.get('/console/settings/api-keys')
    const keyId = /key_[0-9a-z]{26}/.exec(keys.html)?.[0] ?? ''
    const to = async (q: string) => (await browser.get(`/console/search?q=${q}`)).path
    expect(await to(keyId)).toBe(`/console/settings/api-keys/${keyId}`)
    expect(await to(organisationId)).toBe('/console/settings/organisation')
  })
})

describe('the theme', () => {
  it('is chosen in the menu of the account', async () => {
    const { browser } = await newOwner()
    expect((await browser.get('/console')).html).not.toContain('data-theme')
    const dark = await browser.post(
      '/console/theme',
      { theme: 'dark' },
      { referer: '/console/jobs' },
    )
    expect(dark.path).toBe('/console/jobs')
    expect(dark.html).toContain('<html lang="en" data-theme="dark">')
    expect(dark.html).toMatch(/value="dark" aria-pressed="true"/)
    expect((await browser.post('/console/theme', { theme: 'x' })).html).toContain(
      'data-theme="dark"',
    )
    expect((await browser.post('/console/theme', { theme: 'system' })).html).not.toContain(
      'data-theme',
    )
  })
})

describe('lists', () => {
  it.each([
    ['/requests', 'time,status,error_code,method,route'],
    ['/settings/audit-log', 'time,actor,ip_address,action,target,details'],
    ['/settings/webhooks/deliveries', 'time,event_id,type,job_id,endpoint_id,url,status'],
  ])('are downloaded as CSV, which is recorded: %s', async (path, header) => {
    const { browser } = await newOwner()
    expect((await browser.get(`/console${path}`)).html).toContain('Download CSV')
    const file = await browser.get(`/console${path}/export.csv`)
    expect(file.headers.get('Content-Type')).toContain('text/csv')
    expect(file.source.split('\r\n')[0]).toContain(header)
    const log = await browser.get('/console/settings/audit-log')
    expect(log.html).toContain('Exported a list')
  })
})

describe('the address of a page that does not exist', () => {
  it('answers a browser with a page, and a program with JSON', async () => {
    const get = (accept: string) =>
      worker.fetch(new Request(`${BASE}/nope`, { headers: { Accept: accept } }), env, {
        waitUntil: () => {},
        passThroughOnException: () => {},
        props: {},
      })
    const page = await get('text/html,*/*')
    expect(page.status).toBe(404)
    expect(page.headers.get('Content-Type')).toContain('text/html')
    expect((await get('application/json')).headers.get('Content-Type')).toContain('json')
  })
})

describe('an error page', () => {
  it('keeps the navigation of a member and finds a job by its ID', async () => {
    const { browser, organisationId } = await newOwner()
    for (const path of ['/console/nowhere', '/console/org_01m80000000000000000000000/jobs']) {
      const { status, html, source } = await browser.get(path)
      expect(status).toBe(404)
      expect(entriesOf(html)).toContain('Jobs')
      expect(source).toContain(`action="/console/${organisationId}/jobs"`)
      expect(html).toMatch(/Request ID.*data-copy-source="true">[\w-]+</s)
    }
  })

  it('says who has access to Billing', async () => {
    const { organisationId } = await newOwner()
    const { browser } = await newMember(organisationId)
    const { status, html } = await browser.get('/console/billing')
    expect(status).toBe(404)
    expect(html).toContain('Billing is for owners and for members with the role billing.')
  })

  it('does not offer the search to a role that cannot read jobs', async () => {
    const { organisationId } = await newOwner()
    const { browser, userId } = await newMember(organisationId)
    await env.DB.prepare("UPDATE members SET role = 'billing' WHERE user_id = ?").bind(userId).run()
    const { html } = await browser.get('/console/nowhere')
    expect(html).toContain('Page not found')
    expect(html).not.toContain('Find a job')
  })
})

describe('the links to support, status, terms and privacy', () => {
  it('are in the navigation when they are set', async () => {
    const { browser } = await newOwner()
    const page = await browser.get('/console/nowhere')
    expect(page.html).not.toContain('mailto:')
    const context = { waitUntil: () => {}, passThroughOnException: () => {}, props: {} }
    const response = await worker.fetch(
      new Request(BASE + page.address, {
        headers: {
          Cookie: [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        },
      }),
      Object.assign(
        { ...env },
        {
          SUPPORT_EMAIL: 'help@try-on.test',
          STATUS_URL: 'https://status.try-on.test',
          TERMS_URL: 'https://try-on.test/terms',
          PRIVACY_URL: 'https://try-on.test/privacy',
        },
      ),
      context,
    )
    const html = await response.text()
    expect(entriesOf(html)).toEqual(
      expect.arrayContaining(['Support', 'Status', 'Terms', 'Privacy']),
    )
    const id = response.headers.get('X-Request-Id')
    expect(html).toContain(`mailto:help@try-on.test?subject=Request%20${id}`)
  })
})
