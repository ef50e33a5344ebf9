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

  it('does not offer the search to a role that cannot read jobs', async () => {
    const { organisationId } = await newOwner()
    const { browser, userId } = await newMember(organisationId)
    await env.DB.prepare("UPDATE members SET role = 'billing' WHERE user_id = ?").bind(userId).run()
    const { html } = await browser.get('/console/nowhere')
    expect(html).toContain('Page not found')
    expect(html).not.toContain('Find a job')
  })
})

describe('the link to support', () => {
  it('is in the navigation and on error pages when an address is set', async () => {
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
      Object.assign({ ...env }, { SUPPORT_EMAIL: 'help@try-on.test' }),
      context,
    )
    const html = await response.text()
    expect(entriesOf(html)).toContain('Support')
    const id = response.headers.get('X-Request-Id')
    expect(html).toContain(`mailto:help@try-on.test?subject=Request%20${id}`)
  })
})
