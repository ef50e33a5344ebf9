import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { newMember, newOwner, tryOn } from '../support/browser.ts'

const PAGE = '/console/billing'

/** Removes all credits. */
const spendAll = async (organisationId: string) => {
  const organisation = env.ORGANISATION.getByName(organisationId)
  const { balance } = await organisation.totals()
  await organisation.grant({ amount: -balance, reference: 'test', reason: 'Test' })
}

describe('the credit banner', () => {
  it('links to Billing on every page when there are no credits', async () => {
    const { browser, organisationId } = await newOwner()
    expect((await browser.get('/console/jobs')).html).not.toContain('Live jobs are rejected')
    await spendAll(organisationId)
    for (const page of ['', '/jobs', '/credits', '/settings/api-keys', '/account']) {
      const { html } = await browser.get(`/console${page}`)
      expect(html).toContain('The credit balance is 0.')
      expect(html).toContain(`<a href="${PAGE}">Buy credits</a>`)
    }
    const billing = await browser.get(PAGE)
    expect(billing.html).toContain('Live jobs are rejected')
    expect(billing.html).not.toContain('The credit balance is 0.')
  })

  it('says to developers who can buy credits', async () => {
    const { organisationId } = await newOwner()
    const { browser } = await newMember(organisationId)
    await spendAll(organisationId)
    expect((await browser.get('/console/jobs')).html).toContain(
      'An owner or a member with the role billing can buy credits.',
    )
  })

  it('is shown from 20 % of the last grant', async () => {
    const { browser, organisationId } = await newOwner()
    const organisation = env.ORGANISATION.getByName(organisationId)
    await organisation.grant({ amount: 1_000, reference: 'low', reason: 'Test' })
    await organisation.grant({ amount: -900, reference: 'used', reason: 'Test' })
    expect((await browser.get('/console')).html).toContain('Only 200 credits are left.')
  })
})

describe('a live job without credits', () => {
  it('is rejected with a link to Billing', async () => {
    const { browser, organisationId } = await newOwner()
    await spendAll(organisationId)
    const { page } = await tryOn(browser, { mode: 'live' })
    expect(page.status).toBe(422)
    expect(page.html).toContain('no credits left')
    expect(page.html).toContain(`<a href="${PAGE}">Go to Billing</a>`)
  })
})
