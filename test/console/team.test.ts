import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { newId } from '../../src/platform/ids.ts'
import { clientOf } from '../support/client.ts'
import {
  join,
  latestMail,
  newAddress,
  newOwner,
  newBrowser,
  PASSWORD,
  signUp,
  tryOn,
  userIdOf,
  type Owner,
  type Browser,
} from '../support/browser.ts'
import { failJobQueues } from '../support/world.ts'

const invite = (browser: Browser, email: string, role = 'developer') =>
  browser.post('/console/settings/team/invitations', { email, role })

/** Opens the invitation link as the invited user, and joins. */
async function accept({ browser, email }: Pick<Owner, 'browser' | 'email'>) {
  const { path } = latestMail(email)
  expect((await browser.get(path)).html).toContain(`action="${path}"`)
  return browser.post(path)
}

describe('the team', () => {
  it('invites a member with a personal email address', async () => {
    const { browser, organisationId } = await newOwner()
    const email = `freelancer-${crypto.randomUUID()}@gmail.com`
    await invite(browser, email)
    const freelancer = await join(email)
    expect((await freelancer.get('/console')).html).toContain(organisationId)
    expect((await browser.get('/console/settings/team')).html).toContain(email)
    expect((await invite(browser, email)).html).toContain('already a member')
  })

  it('preserves the selected role if the address is rejected', async () => {
    const { browser, email } = await newOwner()
    for (const address of ['invalid', email]) {
      const page = await invite(browser, address, 'owner')
      expect(page.status).toBe(422)
      expect(page.html).toMatch(/value="owner" selected=""/)
    }
  })

  it('lets owners change roles, except that of the last owner', async () => {
    const { browser, email: ownerEmail } = await newOwner()
    const email = newAddress()
    await invite(browser, email)
    const member = await join(email)
    const changeRole = async (by: Browser, memberEmail: string, role: string) =>
      by.post(`/console/settings/team/members/${await userIdOf(memberEmail)}/role`, { role })
    expect((await changeRole(member, email, 'owner')).status).toBe(404)
    expect((await changeRole(browser, ownerEmail, 'developer')).html).toContain(
      'must have at least one owner',
    )
    expect((await changeRole(browser, email, 'invalid')).html).not.toContain('Role changed')
    expect((await changeRole(browser, email, 'owner')).html).toContain('Role changed')
    // The two owners demote each other at the same time: one of them remains an owner.
    await Promise.all([
      changeRole(member, ownerEmail, 'developer'),
      changeRole(browser, email, 'developer'),
    ])
    const forms = await Promise.all(
      [browser, member].map(async (one) => (await one.get('/console/settings/team')).html),
    )
    expect(forms.filter((html) => html.includes('Invite a member'))).toHaveLength(1)
    const other = await newOwner()
    expect((await changeRole(other.browser, email, 'owner')).html).not.toContain('Role changed')
  })

  it('shows that a second invitation changes the role', async () => {
    const { browser } = await newOwner()
    const email = newAddress()
    expect((await invite(browser, email)).html).not.toContain('The role is now')
    expect((await invite(browser, email)).html).not.toContain('The role is now')
    expect((await invite(browser, email, 'owner')).html).toContain('The role is now owner')
  })

  it('shows the Leave link to every member except the last owner', async () => {
    const { browser } = await newOwner()
    const leave = /<a [^>]*>Leave</
    expect((await browser.get('/console/settings/team')).html).not.toMatch(leave)
    const email = newAddress()
    await invite(browser, email, 'owner')
    const other = await join(email)
    for (const owner of [browser, other]) {
      expect((await owner.get('/console/settings/team')).html).toMatch(leave)
    }
  })

  it('limits the invitations to one address', async () => {
    const { browser } = await newOwner()
    const email = newAddress()
    for (let count = 0; count < 5; count++) await invite(browser, email)
    const page = await invite(browser, email)
    expect(page.status).toBe(429)
    expect(page.html).toContain('aria-label="Console"')
    expect(page.html).not.toContain('Back to sign in')
  })

  it('does not let a user accept an invitation to another address', async () => {
    const { browser } = await newOwner()
    const email = newAddress()
    await invite(browser, email)
    const { path } = latestMail(email)
    const other = await newOwner()
    const page = await other.browser.get(path)
    expect(page.html).toContain(`You are signed in as <strong>${other.email}</strong>`)
    const rejected = await other.browser.post(path, { password: PASSWORD })
    expect(rejected.path).toBe(path)
    expect(rejected.html).toContain('Sign out and sign in with the')
    expect((await browser.get('/console/settings/team')).html).toContain('Open invitations')
    // Signing out returns to the invitation.
    const back = await other.browser.post('/console/sign-out', { next: path })
    expect(back.path).toBe(path)
    expect(back.html).toContain('Create account and join')
  })

  it('rejects a withdrawn invitation', async () => {
    const { browser } = await newOwner()
    const email = newAddress()
    await invite(browser, email)
    const page = await browser.get('/console/settings/team')
    const [invitationId] = /inv_\w{26}/.exec(page.html) ?? []
    const withdrawn = await browser.post(
      `/console/settings/team/invitations/${invitationId}/withdraw`,
    )
    expect(withdrawn.html).toContain('Invitation withdrawn.')
    expect((await newBrowser().get(latestMail(email).path)).status).toBe(404)
  })

  it('is managed by owners only and cannot lose its last owner', async () => {
    const { browser, email: ownerEmail } = await newOwner()
    const email = newAddress()
    await invite(browser, email)
    const member = await join(email)
    expect((await invite(member, newAddress())).status).toBe(404)
    const [owner, joined] = [await userIdOf(ownerEmail), await userIdOf(email)]
    expect((await member.post(`/console/settings/team/members/${owner}/remove`)).status).toBe(404)
    const lastOwner = await browser.post(`/console/settings/team/members/${owner}/remove`)
    expect(lastOwner.html).toContain('must have at least one owner')

    const removed = await browser.post(`/console/settings/team/members/${joined}/remove`)
    expect(removed.html).toContain('Member removed')
    const page = await member.get('/console/jobs')
    expect(page.html).toContain('You are not a member of any organisation')
    expect(page.html).toContain('href="/console/onboarding/new"')
    expect(page.html).toContain('action="/console/sign-out"')
    expect((await member.get('/console')).html).toContain('not a member of any organisation')
  })

  it('informs a removed user who has not created an organisation', async () => {
    const { browser } = await newOwner()
    const member = newBrowser()
    const email = await signUp(member)
    await invite(browser, email)
    await accept({ browser: member, email })
    await browser.post(`/console/settings/team/members/${await userIdOf(email)}/remove`)
    const page = await member.get('/console')
    expect(page.html).toContain('You are not a member of any organisation')
    expect((await member.get('/console/onboarding')).path).toBe('/console/onboarding/name')
  })

  it('asks an invited user only for a password and sends no second email', async () => {
    const { browser } = await newOwner('Acme & Söhne')
    const email = newAddress()
    await invite(browser, email)
    const { path } = latestMail(email)
    const guest = newBrowser()
    const page = await guest.get(path)
    expect(page.html).toContain('<h1>Join Acme &amp; Söhne</h1>')
    expect(page.html).toContain(`<strong>${email}</strong>`)
    expect(page.html).toContain('join as a developer')
    expect(page.html).not.toMatch(/name="email"|name="organisation"|free credits|Step 1/)
    const rejected = await guest.post(path, { password: 'short' })
    expect(rejected.status).toBe(422)
    expect(rejected.html).toContain('id="password-error"')
    expect(rejected.html).toContain('<h1>Join Acme')
    const joined = await guest.post(path, { password: PASSWORD })
    expect(joined.path).toBe('/console')
    expect(latestMail(email).path).toBe(path)
    const again = await newBrowser().post('/console/sign-in', { email, password: PASSWORD })
    expect(again.path).toBe('/console')
  })

  it('lets a user switch between organisations', async () => {
    const [first, second] = [await newOwner(), await newOwner()]
    await invite(first.browser, second.email, 'owner')
    expect((await accept(second)).html).toContain(first.organisationId)
    const back = await second.browser.get(`/console/${second.organisationId}`)
    expect(back.address).toBe(`/console/${second.organisationId}`)
    expect((await second.browser.get('/console')).html).toContain(second.organisationId)
  })
})

describe('two tabs', () => {
  it('show two organisations, each form changing its own', async () => {
    const other = await newOwner('Other')
    const own = await newOwner()
    await invite(other.browser, own.email)
    await accept(own)
    const page = `/console/${own.organisationId}/settings/workspaces`
    expect((await own.browser.get('/console/settings/workspaces')).address).toContain(
      other.organisationId,
    )
    const { source } = await own.browser.get(page)
    expect(source).toContain(`<form method="post" action="${page}"`)
    expect((await own.browser.post(page, { name: 'Outlet' })).address).toContain(page)
    const workspacesOf = async ({ testKey }: { testKey: string }) =>
      (await (await clientOf(testKey).get('/v1/workspaces')).json<{ workspaces: unknown[] }>())
        .workspaces
    expect(await workspacesOf(own)).toHaveLength(2)
    expect(await workspacesOf(other)).toHaveLength(1)
  })
})

describe('every form and link', () => {
  it('contains the ID of its organisation', async () => {
    failJobQueues()
    const { browser, organisationId } = await newOwner()
    await invite(browser, newAddress())
    await browser.post('/console/settings/webhooks/url', { url: 'https://hooks.test/' })
    const { jobId } = await tryOn(browser)
    const paths = [
      '',
      '/playground',
      '/credits',
      '/billing',
      `/jobs/${jobId}`,
      `/jobs/${jobId}/live`,
      '/settings/organisation',
      '/settings/api-keys',
      '/settings/webhooks',
      '/settings/workspaces',
      '/settings/team',
      '/settings/audit-log',
      '/account',
    ]
    const forUser =
      /^\/console(\/(account|invitations|onboarding|sign-out|mode|theme|organisation|dev)\b.*)?$/
    for (const path of paths) {
      const { source } = await browser.get(`/console${path}`)
      const targets = [...source.matchAll(/(?:href|action)="(\/console[^"]*)"/g)].map(
        ([, target = '']) => target,
      )
      expect(targets.length, path).toBeGreaterThan(0)
      for (const target of targets.filter((target) => !forUser.test(target)))
        expect(target, path).toContain(`/console/${organisationId}`)
    }
  })

  it('limits members and invitations to workspaces', async () => {
    const { browser, organisationId } = await newOwner()
    await browser.post('/console/settings/workspaces', { name: 'Outlet' })
    const { results } = await env.DB.prepare(
      'SELECT id, name FROM workspaces WHERE organisation_id = ? ORDER BY id',
    )
      .bind(organisationId)
      .all<{ id: string; name: string }>()
    const [, outlet = { id: '' }] = results
    const limited = { access: 'limited', [outlet.id]: 'on' }
    const email = newAddress()
    const path = '/console/settings/team/invitations'
    const none = await browser.post(path, { email, role: 'viewer', access: 'limited' })
    expect(none.status).toBe(422)
    expect(none.html).toContain('Choose at least one workspace.')
    const unknown = { access: 'limited', [newId('ws')]: 'on' }
    expect((await browser.post(path, { email, role: 'viewer', ...unknown })).status).toBe(422)
    await browser.post(path, { email, role: 'viewer', ...limited })
    const member = await join(email)
    const names = async () => (await member.get('/console/settings/workspaces')).html
    expect(await names()).toContain('Outlet')
    expect(await names()).not.toContain('>Default<')

    const userId = await userIdOf(email)
    const rolePage = `/console/settings/team/members/${userId}`
    expect((await browser.get(rolePage)).html).toMatch(/value="limited" checked/)
    const change = (fields: Record<string, string>) => browser.post(`${rolePage}/role`, fields)
    expect((await change({ role: 'developer', access: 'limited' })).status).toBe(422)
    expect((await change({ role: 'developer', access: 'all' })).html).toContain('Role changed')
    expect(await names()).toContain('>Default<')
    // Owners have no limit, also after they become developers again.
    await change({ role: 'developer', ...limited })
    await change({ role: 'owner', ...limited })
    expect(await names()).toContain('>Default<')
    await change({ role: 'developer' })
    expect(await names()).toContain('>Default<')
    const { results: entries } = await env.DB.prepare(
      "SELECT details FROM audit_log WHERE action = 'member.role_changed' AND target = ? ORDER BY id",
    )
      .bind(userId)
      .all<{ details: string }>()
    expect(entries.map(({ details }) => JSON.parse(details))).toMatchObject([
      { role_new: 'developer', workspaces_old: outlet.id, workspaces_new: 'all' },
      { workspaces_old: 'all', workspaces_new: outlet.id },
      { role_old: 'developer', role_new: 'owner', workspaces_new: 'all' },
      { role_new: 'developer' },
    ])
  })

  it('verifies an earlier sign-up by the invitation, with a new password', async () => {
    const { browser } = await newOwner()
    const email = newAddress()
    const stranger = newBrowser()
    const signUpForm = { email, password: 'the first password', organisation: 'Other' }
    await stranger.post('/console/sign-up', signUpForm)
    await invite(browser, email, 'viewer')
    const member = await join(email)
    expect((await member.get('/console/settings/team')).html).toContain(email)
    const signIn = (password: string) => newBrowser().post('/console/sign-in', { email, password })
    expect((await signIn('the first password')).path).toBe('/console/sign-in')
    expect((await signIn(PASSWORD)).path).toBe('/console')
  })

  it('lets a signed-out user with an account join after signing in', async () => {
    const { browser, organisationId } = await newOwner()
    const { email } = await newOwner()
    await invite(browser, email, 'billing')
    const { path } = latestMail(email)
    const guest = newBrowser()
    const page = await guest.get(path)
    expect(page.html).toContain('Sign in to join')
    expect(page.html).not.toContain('type="password"')
    const [, next = ''] = /href="\/console\/sign-in\?next=([^"]+)"/.exec(page.html) ?? []
    const returned = await guest.post('/console/sign-in', {
      email,
      password: PASSWORD,
      next: decodeURIComponent(next),
    })
    expect(returned.path).toBe(path)
    expect((await guest.post(path)).address).toBe(`/console/${organisationId}`)
    expect((await guest.get('/console/billing')).status).toBe(200)
  })
})
