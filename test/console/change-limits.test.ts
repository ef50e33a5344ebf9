// Limits for signed-in users and for sessions whose sign-in is not recent.
import { env } from 'cloudflare:workers'
import { describe, expect, it, vi } from 'vitest'
import {
  exhaust,
  latestMail,
  newAddress,
  newOwner,
  newMember,
  userIdOf,
} from '../support/browser.ts'

const TEAM = '/console/settings/team'

describe('a user', () => {
  it('changes settings at most 300 times an hour', async () => {
    const { browser, email, organisationId } = await newOwner()
    await browser.get(TEAM)
    await exhaust(`change:user:${await userIdOf(email)}`, 299)
    const url = (path: string) =>
      browser.post('/console/settings/webhooks/url', { url: `https://hooks.test/${path}` })
    expect((await url('one')).status).toBe(200)
    const rejected = await url('two')
    expect(rejected.status).toBe(429)
    expect(rejected.html).toContain('Too many attempts')
    const { results } = await env.DB.prepare(
      "SELECT details FROM audit_log WHERE organisation_id = ? AND action = 'organisation.updated'",
    )
      .bind(organisationId)
      .all()
    expect(results).toHaveLength(1)
  })

  it('stores at most 200 characters of a value in the audit log', async () => {
    const { browser, organisationId } = await newOwner()
    await browser.get(TEAM)
    const url = `https://hooks.test/${'a'.repeat(1_900)}`
    expect((await browser.post('/console/settings/webhooks/url', { url })).status).toBe(200)
    const details = await env.DB.prepare(
      "SELECT details FROM audit_log WHERE organisation_id = ? AND action = 'organisation.updated'",
    )
      .bind(organisationId)
      .first<string>('details')
    expect(details?.length).toBeLessThan(400)
  })
})

describe('a session whose sign-in is not recent', () => {
  it('requires the password to invite and promote all roles but viewers', async () => {
    const { browser, organisationId } = await newOwner()
    const member = await newMember(organisationId)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 16 * 60_000 })
    await browser.get(TEAM)
    const invited = newAddress()
    for (const role of ['owner', 'developer', 'billing']) {
      const page = await browser.post(`${TEAM}/invitations`, { email: invited, role })
      expect(page.html, role).toContain('Confirm your password')
    }
    expect(latestMail(invited).subject).toBe('')

    const promoted = await browser.post(`${TEAM}/members/${member.userId}/role`, { role: 'owner' })
    expect(promoted.html).toContain('Confirm your password')

    await browser.post(`${TEAM}/invitations`, { email: invited, role: 'viewer' })
    expect(latestMail(invited).subject).toContain('Join')
    vi.useRealTimers()
  })
})
