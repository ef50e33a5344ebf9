import { describe, expect, it } from 'vitest'
import { detailsOf } from '../../src/console/audit-labels.ts'
import { createKey, newMember, newOwner, userIdOf } from '../support/browser.ts'

const PAGE = '/console/settings/audit-log'

describe('the audit log', () => {
  it('shows the entries of one action and one actor', async () => {
    const { browser, email, organisationId } = await newOwner()
    const member = await newMember(organisationId)
    await createKey(member.browser, { name: 'Of the member' })
    await createKey(browser, { name: 'Of the owner' })
    await browser.post('/console/settings/workspaces', { name: 'Outlet' })
    const show = async (query: string) => (await browser.get(`${PAGE}?${query}`)).html
    const keys = await show('action=api_key.created')
    expect(keys).toContain('Name: Of the member')
    expect(keys).toContain('Name: Of the owner')
    expect(keys).not.toContain('Name: Outlet')
    expect(keys).toContain('<option value="api_key.created" selected="">')
    const owner = await userIdOf(email)
    const both = await show(`action=api_key.created&actor=${owner}`)
    expect(both).toContain('Name: Of the owner')
    expect(both).not.toContain('Name: Of the member')
    // An actor who has left is not in the list of members, but remains a filter.
    await browser.post(`/console/settings/team/members/${member.userId}/remove`)
    const left = await show(`actor=${member.userId}`)
    expect(left).toContain('Name: Of the member')
    expect(left).toContain(`<option value="${member.userId}" selected="">`)
    const none = await show('actor=operator')
    expect(none).toContain('No matching entries')
    expect(none).toContain(`<a href="${PAGE}">Clear filters</a>`)
    expect(await show('action=unknown&actor=unknown')).toContain('Name: Outlet')
  })
})

describe('the details of entries', () => {
  it('are shown with money, plans and words', () => {
    expect(
      detailsOf(
        {
          kind: 'plan',
          amount: 4_900,
          currency: 'EUR',
          credits: 750,
          plan_old: 'starter',
          plan_new: 'growth',
        },
        'USD',
      ),
    ).toEqual([
      ['Kind', 'plan'],
      ['Amount', '€49'],
      ['Credits', '750'],
      ['Plan', 'Starter → Growth'],
    ])
    expect(
      detailsOf(
        {
          auto_reload_monthly_max_old: null,
          auto_reload_monthly_max_new: 10_000,
          auto_reload_enabled_old: false,
          auto_reload_enabled_new: true,
          known_browser: false,
          at: '2026-12-13T10:00:00.000Z',
        },
        'EUR',
      ),
    ).toEqual([
      ['Monthly maximum', 'none → €100'],
      ['Auto-reload', 'off → on'],
      ['Browser', 'new'],
      ['Takes effect', '13 Dec 2026'],
    ])
  })
})
