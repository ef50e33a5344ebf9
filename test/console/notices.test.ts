// The message about a form that succeeded: the next page shows it once, and a link cannot show it.
import { describe, expect, it } from 'vitest'
import { newBrowser, newMember, newOwner } from '../support/browser.ts'

const COOKIE = 'try-on.notice'
const WORKSPACES = '/console/settings/workspaces'
const TEAM = '/console/settings/team'

describe('a notice', () => {
  it('is shown by the next page, once', async () => {
    const { browser } = await newOwner()
    const created = await browser.post(WORKSPACES, { name: 'Spring' })
    expect(created).toMatchObject({ path: WORKSPACES, notice: 'Workspace created.' })
    expect(created.html).toContain('<p class="notice good" role="status">Workspace created.</p>')
    expect(browser.cookies.has(COOKIE)).toBe(false)
    expect((await browser.get(WORKSPACES)).notice).toBe('')
  })

  it('is named by a cookie that scripts and other sites cannot use', async () => {
    const { browser, organisationId } = await newOwner()
    const cookies = new Map(browser.cookies)
    await browser.post(WORKSPACES, { name: 'Spring' })
    for (const [name, value] of cookies) browser.cookies.set(name, value)
    browser.cookies.set(COOKIE, 'workspace_created.')
    const page = await browser.get(`/console/${organisationId}/settings/workspaces`)
    expect(page.notice).toBe('Workspace created.')
    const line = page.headers.getSetCookie().find((cookie) => cookie.startsWith(COOKIE))
    expect(line).toMatch(/^try-on\.notice=; Max-Age=0; Path=\/console; HttpOnly;.* SameSite=Lax$/)
  })

  it.each([
    `${WORKSPACES}?done=created`,
    `${WORKSPACES}?notice=workspace_created`,
    `${TEAM}?invited=owner`,
    `${TEAM}?removed=1`,
    '/console/account?done=email',
    '/console/account?notice=password_changed.',
    '/console/billing?done=changed',
    '/console/settings/api-keys?revoked=1',
    '/console/settings/webhooks?rotated=1',
    '/console/settings/webhooks/deliveries?resent=7',
  ])('is not shown by the link %s', async (link) => {
    const { browser } = await newOwner()
    const page = await browser.get(link)
    expect(page.status).toBe(200)
    expect(page.html).not.toContain('class="notice good"')
  })

  it.each(['ended=1', 'deleted=1', 'reset=1', 'verified=1', 'notice=session_ended'])(
    'is not shown by a link to the sign-in page with %s',
    async (query) => {
      const page = await newBrowser().get(`/console/sign-in?${query}`)
      expect(page).toMatchObject({ status: 200, notice: '' })
    },
  )

  it.each([
    ['an unknown name', 'unknown.'],
    ['a name of every object', 'constructor.'],
    ['a text', 'Your account is locked. Call us.'],
  ])('is not shown for %s', async (_, value) => {
    const { browser } = await newOwner()
    browser.cookies.set(COOKIE, encodeURIComponent(value))
    expect(await browser.get(WORKSPACES)).toMatchObject({ status: 200, notice: '' })
  })

  it.each([
    ['invitation_sent.owner', 'It replaces the earlier invitation. The role is now owner.'],
    ['invitation_sent.Call <b>us</b>', 'Invitation sent.'],
    ['events_resent.1', '1 failed event is being sent again.'],
    ['events_resent.12', '12 failed events are being sent again.'],
    ['events_resent.Call us', '0 failed events are being sent again.'],
  ])('with a detail, %s, shows no other text', async (value, text) => {
    const { browser } = await newOwner()
    browser.cookies.set(COOKIE, encodeURIComponent(value))
    const page = await browser.get(TEAM)
    expect(page.notice).toContain(text)
    expect(page.html).not.toContain('Call')
  })

  it('about the organisation waits for a page of the organisation', async () => {
    const owner = await newOwner('Acme Fashion')
    const member = await newMember(owner.organisationId)
    await owner.browser.get(TEAM)
    const remove = `${TEAM}/members/${member.userId}/remove`
    const removed = await owner.browser.post(remove)
    const notice = 'Member removed. They no longer have access to Acme Fashion.'
    expect(removed).toMatchObject({ path: TEAM, notice })
    owner.browser.cookies.set(COOKIE, 'member_removed.')
    expect((await owner.browser.get('/console/invitations')).notice).toBe('')
    expect((await owner.browser.get(TEAM)).notice).toBe(notice)
  })
})
