import { describe, expect, it } from 'vitest'
import { latestMail, newAddress, newFounder, newVisitor, PASSWORD } from '../support/visitor.ts'
import type { Visitor } from '../support/visitor.ts'

const invite = (visitor: Visitor, email: string, role = 'member') =>
  visitor.post('/console/settings/team/invitations', { email, role })

/** Follows an invitation's mail to an account and into the organisation. */
async function join(email: string): Promise<Visitor> {
  const invitation = await latestMail(email)
  const visitor = newVisitor()
  const page = await visitor.get(invitation.path)
  const [, signUp = ''] = /href="(\/console\/sign-up[^"]+)"/.exec(page.html) ?? []
  const token = signUp.split('invitation=')[1] ?? ''
  await visitor.post('/console/sign-up', { email, password: PASSWORD, invitation: token })
  const open = await visitor.get((await latestMail(email)).path)
  expect(open.path).toBe('/console/invitations')
  const [, accept = ''] = /action="(\/console\/invitations\/inv_\w+\/accept)"/.exec(open.html) ?? []
  expect((await visitor.post(accept)).path).toBe('/console')
  return visitor
}

const memberIds = (html: string) => [...new Set(html.match(/usr_\w{26}/g))]

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

  it('takes nobody by an invitation to somebody else', async () => {
    const { visitor } = await newFounder()
    const email = newAddress()
    await invite(visitor, email)
    const page = await visitor.get('/console/settings/team')
    const [invitationId] = /inv_\w{26}/.exec(page.html) ?? []
    const other = await newFounder()
    const taken = await other.visitor.post(`/console/invitations/${invitationId}/accept`)
    expect(taken.status).toBe(404)
    const seen = await other.visitor.get((await latestMail(email)).path)
    expect(seen.html).toContain('sign out first')
  })

  it('gives nothing to an invitation that was withdrawn', async () => {
    const { visitor } = await newFounder()
    const email = newAddress()
    await invite(visitor, email)
    const page = await visitor.get('/console/settings/team')
    const [invitationId] = /inv_\w{26}/.exec(page.html) ?? []
    await visitor.post(`/console/settings/team/invitations/${invitationId}/withdraw`)
    expect((await newVisitor().get((await latestMail(email)).path)).status).toBe(404)
  })

  it('is managed by owners only, and keeps its last one', async () => {
    const { visitor } = await newFounder()
    const email = newAddress()
    await invite(visitor, email)
    const member = await join(email)
    expect((await invite(member, newAddress())).status).toBe(404)
    const page = await visitor.get('/console/settings/team')
    const [owner = '', joined = ''] = memberIds(page.html)
    expect((await member.post(`/console/settings/team/members/${owner}/remove`)).status).toBe(404)
    const stays = await visitor.post(`/console/settings/team/members/${owner}/remove`)
    expect(stays.html).toContain('The last owner of an organisation stays')

    await visitor.post(`/console/settings/team/members/${joined}/remove`)
    expect((await member.get('/console/jobs')).path).toBe('/console/onboarding/name')
  })

  it('lets a person belong to several and switch', async () => {
    const [first, second] = [await newFounder(), await newFounder()]
    await invite(first.visitor, second.email, 'owner')
    const open = await second.visitor.get((await latestMail(second.email)).path)
    const [, accept = ''] = /action="([^"]+accept)"/.exec(open.html) ?? []
    expect((await second.visitor.post(accept)).html).toContain(first.organisationId)
    const back = await second.visitor.post('/console/organisation', {
      organisation: second.organisationId,
    })
    expect(back.html).toMatch(new RegExp(`<dd class="id">${second.organisationId}`))
  })
})
