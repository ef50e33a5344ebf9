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

/** Opens an invitation's link with the account of the invited person, and joins. */
async function accept({ visitor, email }: Pick<Founder, 'visitor' | 'email'>) {
  const { path } = await latestMail(email)
  expect((await visitor.get(path)).html).toContain(`action="${path}"`)
  return visitor.post(path)
}

describe('the team', () => {
  it('grows by an invitation, for whose address a consumer mail service will do', async () => {
    const { visitor, organisationId } = await newFounder()
    const email = `freelancer-${crypto.randomUUID()}@gmail.com`
    await invite(visitor, email)
    const freelancer = await join(email)
    expect((await freelancer.get('/console')).html).toContain(organisationId)
    expect((await visitor.get('/console/settings/team')).html).toContain(email)
    expect((await invite(visitor, email)).html).toContain('member already')
  })

  it('keeps the role that was chosen when the address is refused', async () => {
    const { visitor, email } = await newFounder()
    for (const address of ['nonsense', email]) {
      const page = await invite(visitor, address, 'owner')
      expect(page.status).toBe(422)
      expect(page.html).toMatch(/value="owner" selected=""/)
    }
  })

  it('has roles that its owners give and take, but for the last owner’s', async () => {
    const { visitor, email: founder } = await newFounder()
    const email = newAddress()
    await invite(visitor, email)
    const member = await join(email)
    const changeRole = async (by: Visitor, whose: string, role: string) =>
      by.post(`/console/settings/team/members/${await userIdOf(whose)}/role`, { role })
    expect((await changeRole(member, email, 'owner')).status).toBe(404)
    expect((await changeRole(visitor, founder, 'member')).html).toContain('last owner')
    expect((await changeRole(visitor, email, 'nonsense')).html).not.toContain('role is changed')
    expect((await changeRole(visitor, email, 'owner')).html).toContain('The role is changed')
    // The second owner may do what the first may, and one of the two stays, whoever is first.
    await Promise.all([changeRole(member, founder, 'member'), changeRole(visitor, email, 'member')])
    const forms = await Promise.all(
      [visitor, member].map(async (one) => (await one.get('/console/settings/team')).html),
    )
    expect(forms.filter((html) => html.includes('Invite a person'))).toHaveLength(1)
    const other = await newFounder()
    expect((await changeRole(other.visitor, email, 'owner')).html).not.toContain('role is changed')
  })

  it('says so when inviting again changes the role of an open invitation', async () => {
    const { visitor } = await newFounder()
    const email = newAddress()
    expect((await invite(visitor, email)).html).not.toContain('whose role is now')
    expect((await invite(visitor, email)).html).not.toContain('whose role is now')
    expect((await invite(visitor, email, 'owner')).html).toContain('whose role is now owner')
  })

  it('offers to leave to all but its last owner', async () => {
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

  it('answers too many invitations of one address inside the console', async () => {
    const { visitor } = await newFounder()
    const email = newAddress()
    for (let count = 0; count < 5; count++) await invite(visitor, email)
    const page = await invite(visitor, email)
    expect(page.status).toBe(429)
    expect(page.html).toContain('aria-label="Console"')
    expect(page.html).not.toContain('Back to signing in')
  })

  it('does not let a person accept an invitation to another address', async () => {
    const { visitor } = await newFounder()
    const email = newAddress()
    await invite(visitor, email)
    const { path } = await latestMail(email)
    const other = await newFounder()
    const page = await other.visitor.get(path)
    expect(page.html).toContain(`You are signed in as <strong>${other.email}</strong>`)
    const refused = await other.visitor.post(path, { password: PASSWORD })
    expect(refused.path).toBe(path)
    expect(refused.html).toContain('Sign out first')
    expect((await visitor.get('/console/settings/team')).html).toContain('Open invitations')
    // Signing out there leads back to the invitation.
    const back = await other.visitor.post('/console/sign-out', { next: path })
    expect(back.path).toBe(path)
    expect(back.html).toContain('Create account and join')
  })

  it('gives nothing to an invitation that was withdrawn', async () => {
    const { visitor } = await newFounder()
    const email = newAddress()
    await invite(visitor, email)
    const page = await visitor.get('/console/settings/team')
    const [invitationId] = /inv_\w{26}/.exec(page.html) ?? []
    const gone = await visitor.post(`/console/settings/team/invitations/${invitationId}/withdraw`)
    expect(gone.html).toContain('The invitation is withdrawn.')
    expect((await newVisitor().get((await latestMail(email)).path)).status).toBe(404)
  })

  it('is managed by owners only, and keeps its last one', async () => {
    const { visitor, email: founder } = await newFounder()
    const email = newAddress()
    await invite(visitor, email)
    const member = await join(email)
    expect((await invite(member, newAddress())).status).toBe(404)
    const [owner, joined] = [await userIdOf(founder), await userIdOf(email)]
    expect((await member.post(`/console/settings/team/members/${owner}/remove`)).status).toBe(404)
    const stays = await visitor.post(`/console/settings/team/members/${owner}/remove`)
    expect(stays.html).toContain('The last owner of an organisation stays')

    const removed = await visitor.post(`/console/settings/team/members/${joined}/remove`)
    expect(removed.html).toContain('The person is removed')
    const nowhere = await member.get('/console/jobs')
    expect(nowhere.html).toContain('You are not a member of any organisation')
    expect(nowhere.html).toContain('href="/console/onboarding/name"')
    expect(nowhere.html).toContain('action="/console/sign-out"')
    expect((await member.get('/console')).html).toContain('not a member of any organisation')
  })

  it('tells a removed person who had signed up on their own, before they found an organisation', async () => {
    const { visitor } = await newFounder()
    const member = newVisitor()
    const email = await signUp(member)
    await invite(visitor, email)
    await accept({ visitor: member, email })
    await visitor.post(`/console/settings/team/members/${await userIdOf(email)}/remove`)
    const nowhere = await member.get('/console')
    expect(nowhere.html).toContain('You are not a member of any organisation')
    expect((await member.get('/console/onboarding')).path).toBe('/console/onboarding/name')
  })

  it('asks an invited person for a password only, and sends no second mail', async () => {
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
    const refused = await guest.post(path, { password: 'short' })
    expect(refused.status).toBe(422)
    expect(refused.html).toContain('id="password-error"')
    expect(refused.html).toContain('<h1>Join Acme')
    const inside = await guest.post(path, { password: PASSWORD })
    expect(inside.path).toBe('/console')
    expect((await latestMail(email)).path).toBe(path)
    const again = await newVisitor().post('/console/sign-in', { email, password: PASSWORD })
    expect(again.path).toBe('/console')
  })

  it('lets a person belong to several and switch', async () => {
    const [first, second] = [await newFounder(), await newFounder()]
    await invite(first.visitor, second.email, 'owner')
    expect((await accept(second)).html).toContain(first.organisationId)
    const back = await second.visitor.post('/console/organisation', {
      organisation: second.organisationId,
    })
    expect(back.html).toMatch(new RegExp(`<dd class="id">${second.organisationId}`))
  })
})

describe('a form of another tab', () => {
  const page = '/console/settings/workspaces'

  /** Belongs to two organisations, drew a page of the first and has switched to the second. */
  async function switched() {
    const other = await newFounder('Other')
    const own = await newFounder()
    await invite(other.visitor, own.email)
    await own.visitor.get(page)
    await accept(own)
    return { visitor: own.visitor, own, other }
  }

  it('does not act on the organisation switched to since, and leads back', async () => {
    const { visitor, own, other } = await switched()
    const fields = { name: 'Outlet', drawn_for: own.organisationId }
    const refused = await visitor.post(page, fields, { referer: page })
    expect(refused.status).toBe(409)
    expect(refused.html).toContain('switched in another tab')
    expect(refused.html).toContain('<strong>Other</strong>')
    expect(refused.html).toContain('<strong>Acme</strong>')
    for (const { testKey } of [own, other]) {
      const { workspaces } = await (
        await clientOf(testKey).get('/v1/workspaces')
      ).json<{ workspaces: unknown[] }>()
      expect(workspaces).toHaveLength(1)
    }
    const [, next = ''] = /name="next" value="([^"]+)"/.exec(refused.html) ?? []
    const back = await visitor.post('/console/organisation', {
      organisation: own.organisationId,
      next,
    })
    expect(back.path).toBe(page)
    expect((await visitor.post(page, fields)).status).toBe(200)
  })

  it.each(['', 'org_00000000000000000000000000'])(
    'is refused, too, when it names no organisation of theirs: %j',
    async (drawn_for) => {
      const { visitor } = await newFounder()
      const refused = await visitor.post(page, { name: 'Outlet', drawn_for })
      expect(refused.status).toBe(409)
      expect(refused.html).toContain('another organisation')
    },
  )

  it('is taken when it is about the person alone', async () => {
    const { visitor, own } = await switched()
    const form = { drawn_for: own.organisationId, current: 'wrong', password: PASSWORD }
    expect((await visitor.post('/console/account/password', form)).status).toBe(422)
    expect((await visitor.post('/console/sign-out', form)).path).toBe('/console/sign-in')
  })
})

describe('every form', () => {
  it('says which organisation it is about', async () => {
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
      for (const form of forms) expect(form).toContain(`name="drawn_for" value="${organisationId}"`)
    }
  })
})
