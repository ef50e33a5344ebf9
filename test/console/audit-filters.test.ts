import { describe, expect, it } from 'vitest'
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
    expect(keys).toContain('name: Of the member')
    expect(keys).toContain('name: Of the owner')
    expect(keys).not.toContain('name: Outlet')
    expect(keys).toContain('<option value="api_key.created" selected="">')
    const owner = await userIdOf(email)
    const both = await show(`action=api_key.created&actor=${owner}`)
    expect(both).toContain('name: Of the owner')
    expect(both).not.toContain('name: Of the member')
    // An actor who has left is not in the list of members, but remains a filter.
    await browser.post(`/console/settings/team/members/${member.userId}/remove`)
    const left = await show(`actor=${member.userId}`)
    expect(left).toContain('name: Of the member')
    expect(left).toContain(`<option value="${member.userId}" selected="">`)
    const none = await show('actor=operator')
    expect(none).toContain('No matching entries')
    expect(none).toContain(`<a href="${PAGE}">Clear filters</a>`)
    expect(await show('action=unknown&actor=unknown')).toContain('name: Outlet')
  })
})
