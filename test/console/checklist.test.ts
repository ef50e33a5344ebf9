import { env } from 'cloudflare:workers'
import { describe, expect, it, vi } from 'vitest'
import {
  createKey,
  newBrowser,
  newMember,
  newOwner,
  tryOn,
  type Browser,
} from '../support/browser.ts'
import { clientOf } from '../support/client.ts'
import { fakeUpstream } from '../support/upstream.ts'
import { finished } from '../support/world.ts'
import { jobsDb } from '../support/jobs-database.ts'

const upstream = fakeUpstream()
const RECEIVER = 'https://hooks.test/go-live'

/** The steps that are not done, as the overview shows them; null without the list. */
async function openSteps(browser: Browser): Promise<string[] | null> {
  const { html } = await browser.get('/console')
  const [list] = /<section class="card checklist".*?<\/section>/s.exec(html) ?? []
  if (!list) return null
  return [...list.matchAll(/<li><div><strong>([^<]*)/g)].map(([, title = '']) => title)
}

describe('the checklist to go live', () => {
  it('follows the organisation and ends when all steps are done', async () => {
    const { browser, testKey, organisationId } = await newOwner()
    expect(await openSteps(browser)).toEqual([
      'Create a live key',
      'Receive a webhook',
      'Complete a live job',
    ])
    await createKey(browser, { mode: 'live' })
    expect(await openSteps(browser)).toEqual(['Receive a webhook', 'Complete a live job'])

    upstream.on(RECEIVER, () => new Response('thanks'))
    await browser.post('/console/settings/webhooks/url', { url: RECEIVER })
    expect((await browser.get('/console')).html).toContain('Send a test event')
    const { jobId } = await tryOn(browser)
    await finished(clientOf(testKey), jobId)
    await vi.waitUntil(async () => (await openSteps(browser))?.length === 1)

    // The list ends although the credits are used up, because a plan or a payment is another way.
    const organisation = env.ORGANISATION.getByName(organisationId)
    await organisation.grant({ amount: -100, reference: 'test', reason: 'Test' })
    await jobsDb(jobId).prepare("UPDATE jobs SET mode = 'live' WHERE id = ?").bind(jobId).run()
    expect(await openSteps(browser)).toEqual(['Make sure that you have credits'])
    await env.DB.prepare("UPDATE organisations SET plan = 'growth' WHERE id = ?")
      .bind(organisationId)
      .run()
    expect(await openSteps(browser)).toBe(null)
  })

  it('is hidden for one user', async () => {
    const { browser, organisationId } = await newOwner()
    const colleague = await newMember(organisationId)
    expect((await browser.post('/console/checklist/hide')).path).toBe('/console')
    expect(await openSteps(browser)).toBe(null)
    expect(await openSteps(colleague.browser)).toHaveLength(3)
    const cookie = browser.cookies.get('try-on.checklist') ?? ''
    colleague.browser.cookies.set('try-on.checklist', cookie)
    expect(await openSteps(colleague.browser)).toHaveLength(3)
  })

  it('is not shown to members who do not develop', async () => {
    const { organisationId } = await newOwner()
    const { browser, userId } = await newMember(organisationId)
    await env.DB.prepare('UPDATE members SET role = ? WHERE user_id = ? AND organisation_id = ?')
      .bind('viewer', userId, organisationId)
      .run()
    expect(await openSteps(browser)).toBe(null)
  })

  it('cannot be hidden without a session', async () => {
    const page = await newBrowser().post('/console/checklist/hide')
    expect(page.path).toMatch(/^\/console\/sign-in/)
  })
})
