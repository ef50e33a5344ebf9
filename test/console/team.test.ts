import { describe, expect, it } from 'vitest'
import { clientOf } from '../support/client.ts'
import {
  join,
  latestMail,
  newAddress,
  newFounder,
  newVisitor,
  PASSWORD,
  signUp,
  tryOn,
  userIdOf,
} from '../support/visitor.ts'
import type { Founder, Visitor } from '../support/visitor.ts'
import { freeze } from '../support/world.ts'

const invite = (visitor: Visitor, email: string, role = 'member') =>
  visitor.post('/console/settings/team/invitations', { email, role })

/** Opens the invitation link as the invited user, and joins. */
async function accept({ visitor, email }: Pick<Founder, 'visitor' | 'email'>) {
  const { path } = await latestMail(email)
  expect((await visitor.get(path)).html).toContain(`action="${path}"`)
  return visitor.post(path)
}

describe('the team', () => {
  it('invites a member with a personal email address', async () => {
    const { visitor, organisationId } = await newFounder()
    const email = `freelancer-${crypto.randomUUID()}@gmail.com`
    await invite(visitor, email)
    const freelancer = await join(email)
    expect((await freelancer.get('/console')).html).toContain(organisationId)
    expect((await visitor.get('/console/settings/team')).html).toContain(email)
    expect((await invite(visitor, email)).html).toContain('already a member')
  })

  it('preserves the selected role if the address is rejected', async () => {
    const { visitor, email } = await newFounder()
    for (const address of ['invalid', email]) {
      const page = await invite(visitor, address, 'owner')
      expect(page.status).toBe(422)
      expect(page.html).toMatch(/value="owner" selected=""/)
    }
  })

  it('lets owners change roles, except that of the last owner', async () => {
    const { visitor, email: founder } = await newFounder()
    const email = newAddress()
    await invite(visitor, email)
    const member = await join(email)
    const changeRole = async (by: Visitor, memberEmail: string, role: string) =>
      by.post(`/console/settings/team/members/${await userIdOf(memberEmail)}/role`, { role })
    expect((await changeRole(member, email, 'owner')).status).toBe(404)
    expect((await changeRole(visitor, founder, 'member')).html).toContain(
      'must have at least one owner',
    )
    expect((await changeRole(visitor, email, 'invalid')).html).not.toContain('Role changed')
    expect((await changeRole(visitor, email, 'owner')).html).toContain('Role changed')
    // The two owners demote each other at the same time: one of them remains an owner.
    await Promise.all([changeRole(member, founder, 'member'), changeRole(visitor, email, 'member')])
    const forms = await Promise.all(
      [visitor, member].map(async (one) => (await one.get('/console/settings/team')).html),
    )
    expect(forms.filter((html) => html.includes('Invite a member'))).toHaveLength(1)
    const other = await newFounder()
    expect((await changeRole(other.visitor, email, 'owner')).html).not.toContain('Role changed')
  })

  it('shows that a second invitation changes the role', async () => {
    const { visitor } = await newFounder()
    const email = newAddress()
    expect((await invite(visitor, email)).html).not.toContain('The role is now')
    expect((await invite(visitor, email)).html).not.toContain('The role is now')
    expect((await invite(visitor, email, 'owner')).html).toContain('The role is now owner')
  })

  it('offers to leave to every member except the last owner', async () => {
    const { visitor } = await newFounder()
    const leave = /<a [^>]*>Leave</
    expect((await visitor.get('/console/settings/team')).html).not.toMatch(leave)
    const email = newAddress()
    await invite(visitor, email, 'owner')
    const other = await join(email)
    for (const owner of [visitor, other]) {
      expect((await owner.get('/console/settings/team')).html).toMatch(leave)
    }
  })

  it('limits the invitations to one address', async () => {
    const { visitor } = await newFounder()
    const email = newAddress()
    for (let count = 0; count < 5; count++) await invite(visitor, email)
    const page = await invite(visitor, email)
    expect(page.status).toBe(429)
    expect(page.html).toContain('aria-label="Console"')
    expect(page.html).not.toContain('Back to sign in')
  })

  it('does not let a user accept an invitation to another address', async () => {
    const { visitor } = await newFounder()
    const email = newAddress()
    await invite(visitor, email)
    const { path } = await latestMail(email)
    const other = await newFounder()
    const page = await other.visitor.get(path)
    expect(page.html).toContain(`You are signed in as <strong>${other.email}</strong>`)
    const rejected = await other.visitor.post(path, { password: PASSWORD })
    expect(rejected.path).toBe(path)
    expect(rejected.html).toContain('Sign out and sign in with the')
    expect((await visitor.get('/console/settings/team')).html).toContain('Open invitations')
    // Signing out returns to the invitation.
    const back = await other.visitor.post('/console/sign-out', { next: path })
    expect(back.path).toBe(path)
    expect(back.html).toContain('Create account and join')
  })

  it('rejects a withdrawn invitation', async () => {
    const { visitor } = await newFounder()
    const email = newAddress()
    await invite(visitor, email)
    const page = await visitor.get('/console/settings/team')
    const [invitationId] = /inv_\w{26}/.exec(page.html) ?? []
    const withdrawn = await visitor.post(
      `/console/settings/team/invitations/${invitationId}/withdraw`,
    )
    expect(withdrawn.html).toContain('Invitation withdrawn.')
    expect((await newVisitor().get((await latestMail(email)).path)).status).toBe(404)
  })

  it('is managed by owners only and cannot lose its last owner', async () => {
    const { visitor, email: founder } = await newFounder()
    const email = newAddress()
    await invite(visitor, email)
    const member = await join(email)
    expect((await invite(member, newAddress())).status).toBe(404)
    const [owner, joined] = [await userIdOf(founder), await userIdOf(email)]
    expect((await member.post(`/console/settings/team/members/${owner}/remove`)).status).toBe(404)
    const lastOwner = await visitor.post(`/console/settings/team/members/${owner}/remove`)
    expect(lastOwner.html).toContain('must have at least one owner')

    const removed = await visitor.post(`/console/settings/team/members/${joined}/remove`)
    expect(removed.html).toContain('Member removed')
    const page = await member.get('/console/jobs')
    expect(page.html).toContain('You are not a member of any organisation')
    expect(page.html).toContain('href="/console/onboarding/name"')
    expect(page.html).toContain('action="/console/sign-out"')
    expect((await member.get('/console')).html).toContain('not a member of any organisation')
  })

  it('informs a removed user who has not created an organisation', async () => {
    const { visitor } = await newFounder()
    const member = newVisitor()
    const email = await signUp(member)
    await invite(visitor, email)
    await accept({ visitor: member, email })
    await visitor.post(`/console/settings/team/members/${await userIdOf(email)}/remove`)
    const page = await member.get('/console')
    expect(page.html).toContain('You are not a member of any organisation')
    expect((await member.get('/console/onboarding')).path).toBe('/console/onboarding/name')
  })

  it('asks an invited user only for a password and sends no second email', async () => {
    const { visitor } = await newFounder('Acme & Söhne')
    const email = newAddress()
    await invite(visitor, email)
    const { path } = await latestMail(email)
    const guest = newVisitor()
    const page = await guest.get(path)
    expect(page.html).toContain('<h1>Join Acme &amp; Söhne</h1>')
    expect(page.html).toContain(`<strong>${email}</strong>`)
    expect(page.html).toContain('join as a member')
    expect(page.html).not.toMatch(/name="email"|name="organisation"|free credits|Step 1/)
    const rejected = await guest.post(path, { password: 'short' })
    expect(rejected.status).toBe(422)
    expect(rejected.html).toContain('id="password-error"')
    expect(rejected.html).toContain('<h1>Join Acme')
    const joined = await guest.post(path, { password: PASSWORD })
    expect(joined.path).toBe('/console')
    expect((await latestMail(email)).path).toBe(path)
    const again = await newVisitor().post('/console/sign-in', { email, password: PASSWORD })
    expect(again.path).toBe('/console')
  })

  it('lets a user switch between organisations', async () => {
    const [first, second] = [await newFounder(), await newFounder()]
    await invite(first.visitor, second.email, 'owner')
    expect((await accept(second)).html).toContain(first.organisationId)
    const back = await second.visitor.post('/console/organisation', {
      organisation: second.organisationId,
    })
    expect(back.html).toMatch(new RegExp(`<dd class="id">${second.organisationId}`))
  })
})

describe('a form in another tab', () => {
  const page = '/console/settings/workspaces'

  /** A user of two organisations who loaded a page of the first and then switched to the second. */
  async function switchedUser() {
    const other = await newFounder('Other')
    const own = await newFounder()
    await invite(other.visitor, own.email)
    await own.visitor.get(page)
    await accept(own)
    return { visitor: own.visitor, own, other }
  }

  it('does not change the newly selected organisation, and offers to switch back', async () => {
    const { visitor, own, other } = await switchedUser()
    const fields = { name: 'Outlet', form_organisation: own.organisationId }
    const rejected = await visitor.post(page, fields, { referer: page })
    expect(rejected.status).toBe(409)
    expect(rejected.html).toContain('in another tab')
    expect(rejected.html).toContain('<strong>Other</strong>')
    expect(rejected.html).toContain('<strong>Acme</strong>')
    for (const { testKey } of [own, other]) {
      const { workspaces } = await (
        await clientOf(testKey).get('/v1/workspaces')
      ).json<{ workspaces: unknown[] }>()
      expect(workspaces).toHaveLength(1)
    }
    const [, next = ''] = /name="next" value="([^"]+)"/.exec(rejected.html) ?? []
    const back = await visitor.post('/console/organisation', {
      organisation: own.organisationId,
      next,
    })
    expect(back.path).toBe(page)
    expect((await visitor.post(page, fields)).status).toBe(200)
  })

  it.each(['', 'org_00000000000000000000000000'])(
    'is rejected without an organisation of the user: %j',
    async (form_organisation) => {
      const { visitor } = await newFounder()
      const rejected = await visitor.post(page, { name: 'Outlet', form_organisation })
      expect(rejected.status).toBe(409)
      expect(rejected.html).toContain('another organisation')
    },
  )

  it('is accepted if it concerns only the user', async () => {
    const { visitor, own } = await switchedUser()
    const form = { form_organisation: own.organisationId, current: 'wrong', password: PASSWORD }
    expect((await visitor.post('/console/account/password', form)).status).toBe(422)
    expect((await visitor.post('/console/sign-out', form)).path).toBe('/console/sign-in')
  })
})

describe('every form', () => {
  it('contains the ID of its organisation', async () => {
    freeze()
    const { visitor, organisationId } = await newFounder()
    await invite(visitor, newAddress())
    await visitor.post('/console/settings/webhooks/url', { url: 'https://hooks.test/' })
    const { jobId } = await tryOn(visitor)
    const paths = [
      '',
      '/playground',
      '/credits',
      `/jobs/${jobId}`,
      `/jobs/${jobId}/live`,
      '/settings/api-keys',
      '/settings/webhooks',
      '/settings/workspaces',
      '/settings/team',
      '/account',
    ]
    for (const path of paths) {
      const { html } = await visitor.get(`/console${path}`)
      const forms = html.match(/<form method="post".*?<\/form>/gs) ?? []
      expect(forms.length, path).toBeGreaterThan(0)
      for (const form of forms)
        expect(form).toContain(`name="form_organisation" value="${organisationId}"`)
    }
  })
})
