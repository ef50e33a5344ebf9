// Exports of an organisation's data and of a user's data.
import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { exportOrganisation } from '../../src/privacy/export-organisation.ts'
import { shopOnPlan } from '../support/billing.ts'
import { BASE, clientOf, request } from '../support/client.ts'
import { fakePayments } from '../support/fake-payment-provider.ts'
import { fakeUpstream } from '../support/upstream.ts'
import { join, newAddress, newOwner, newBrowser } from '../support/browser.ts'
import { finished, operator, submit } from '../support/world.ts'
import { jobsDb, newJobId } from '../support/jobs-database.ts'

const upstream = fakeUpstream()
const SETTINGS = '/console/settings/organisation'

interface Export {
  jobs: Record<string, string | null>[]
  webhook_events: { attempts: Record<string, unknown>[] }[]
  ledger: Record<string, unknown>[]
  audit_log: { action: string }[]
}

afterEach(() => void vi.useRealTimers())

describe('organisation export', () => {
  it('downloads all data except secrets as one JSON document', async () => {
    upstream.on('https://hooks.test/export', () => new Response('thanks'))
    const { browser, email, testKey, organisationId } = await newOwner()
    await browser.post('/console/settings/webhooks/url', { url: 'https://hooks.test/export' })
    const client = clientOf(testKey)
    const { job_id: jobId } = await finished(client, (await submit(client)).job_id)
    await vi.waitUntil(async () => {
      const status = await jobsDb(jobId)
        .prepare('SELECT status FROM webhook_events WHERE job_id = ?')
        .bind(jobId)
        .first('status')
      return status === 'delivered'
    })
    await browser.get(SETTINGS)
    const file = await browser.post(`${SETTINGS}/export`)
    expect(file.status).toBe(200)
    expect(file.headers.get('Content-Type')).toMatch(/^application\/json/)
    expect(file.headers.get('Cache-Control')).toBe('no-store')
    expect(file.headers.get('Content-Disposition')).toMatch(
      new RegExp(`^attachment; filename="try-on-${organisationId}-\\d{4}-\\d\\d-\\d\\d\\.json"$`),
    )
    const body: Export = JSON.parse(file.html)
    expect(body).toMatchObject({
      organisation: { id: organisationId, name: 'Acme', currency_code: 'EUR' },
      credits: { granted: 100, balance: 100 },
      workspaces: [{ name: 'Default' }],
      members: [{ email, role: 'owner' }],
      api_keys: [{ name: 'First test key', mode: 'test', last_four: testKey.slice(-4) }],
      jobs: [
        {
          job_id: jobId,
          status: 'completed',
          model_image_url: 'https://shop.test/model.jpg',
          webhook_url: 'https://hooks.test/export',
        },
      ],
      webhook_events: [
        { job_id: jobId, attempts: [{ number: 1, response_status: 200, response_body: 'thanks' }] },
      ],
      ledger: [{ kind: 'grant', amount: 100, reference: 'sign-up' }],
    })
    expect(body.audit_log).toContainEqual(
      expect.objectContaining({ action: 'organisation.exported', actor_email: email }),
    )
    expect(file.html).not.toContain('whsec_')
    expect(file.html).not.toContain(testKey)
    const { results } = await env.DB.prepare('SELECT hash FROM api_keys').all<{ hash: string }>()
    for (const { hash } of results) expect(file.html).not.toContain(hash)
    const link = body.jobs[0]?.['output_url'] ?? ''
    expect((await request(link.replace(BASE, ''))).status).toBe(200)
  })

  it('contains payments and the billing account without ids of the provider', async () => {
    const provider = fakePayments()
    const shop = await shopOnPlan(provider, 'growth')
    const result = await exportOrganisation({ ...shop.request, baseUrl: BASE })
    const text = await new Response(result).text()
    expect(JSON.parse(text)).toMatchObject({
      billing: {
        payment_method: 'Visa •••• 4242',
        subscription_status: 'active',
        next_plan: null,
        enterprise_terms: null,
      },
      payments: [
        {
          id: shop.paymentId,
          kind: 'plan',
          status: 'paid',
          plan: 'growth',
          credits: 750,
          amount: 4_900,
          currency_code: 'USD',
        },
      ],
    })
    expect(text).not.toContain(shop.subscriptionId)
    expect(text).not.toContain(`cus_${shop.organisationId}`)
    expect(text).not.toContain(provider.stateOf(shop.paymentId).reference)
  })

  it('includes all rows of lists longer than a page', async () => {
    const { browser, testKey, organisationId } = await newOwner()
    const client = clientOf(testKey)
    const { job_id } = await finished(client, (await submit(client)).job_id)
    const copies = Array.from({ length: 1_005 }, () => newJobId(organisationId))
    for (let at = 0; at < copies.length; at += 500) {
      await jobsDb(organisationId).batch(
        copies.slice(at, at + 500).map((id) =>
          jobsDb(job_id)
            .prepare(
              `INSERT INTO jobs (id, organisation_id, workspace_id, mode, status, base_url, created_at, due_at)
             SELECT ?, organisation_id, workspace_id, mode, status, base_url, created_at, due_at
             FROM jobs WHERE id = ?`,
            )
            .bind(id, job_id),
        ),
      )
    }
    const events = copies.slice(0, 405).map((id) => id.replace('job_', 'evt_'))
    await jobsDb(organisationId).batch(
      events.flatMap((id) => [
        jobsDb(organisationId)
          .prepare(
            `INSERT INTO webhook_events (id, organisation_id, job_id, type, url, status, due_at, created_at)
           VALUES (?, ?, 'job', 'job.completed', 'https://hooks.test', 'delivered', 0, 0)`,
          )
          .bind(id, organisationId),
        jobsDb(id)
          .prepare(
            'INSERT INTO webhook_attempts (event_id, number, at, duration_ms) VALUES (?, 1, 0, 5)',
          )
          .bind(id),
      ]),
    )
    await browser.get(SETTINGS)
    const body: Export = JSON.parse((await browser.post(`${SETTINGS}/export`)).html)
    expect(body.jobs.map(({ job_id: id }) => id)).toEqual([...copies.toReversed(), job_id])
    expect(body.webhook_events).toHaveLength(405)
    for (const { attempts } of body.webhook_events) expect(attempts).toHaveLength(1)
  })

  it('is limited to owners and to ten times an hour', async () => {
    const { browser, organisationId } = await newOwner()
    const email = newAddress()
    await browser.post('/console/settings/team/invitations', { email, role: 'developer' })
    const member = await join(email)
    await member.get('/console')
    expect((await member.post(`${SETTINGS}/export`)).status).toBe(404)
    for (let count = 0; count < 10; count++) {
      expect((await browser.post(`${SETTINGS}/export`)).status).toBe(200)
    }
    const rejected = await browser.post(`${SETTINGS}/export`)
    expect(rejected.status).toBe(429)
    expect(Number(rejected.headers.get('Retry-After'))).toBeGreaterThan(0)
    const audits = await env.DB.prepare(
      `SELECT count(*) AS n FROM audit_log
       WHERE organisation_id = ? AND action = 'organisation.exported'`,
    )
      .bind(organisationId)
      .first('n')
    expect(audits).toBe(10)
  })
})

describe('account export', () => {
  it('downloads the profile, sessions and memberships', async () => {
    const { browser, email, organisationId } = await newOwner()
    await browser.get('/console/account')
    const file = await browser.post('/console/account/export')
    expect(file.headers.get('Content-Disposition')).toMatch(
      /^attachment; filename="try-on-account-/,
    )
    expect(JSON.parse(file.html)).toMatchObject({
      account: { email, email_verified: true },
      sessions: [{ ip_address: expect.any(String) }],
      memberships: [{ organisation_id: organisationId, role: 'owner' }],
    })
    const { results } = await env.DB.prepare('SELECT token FROM sessions').all<{ token: string }>()
    for (const { token } of results) expect(file.html).not.toContain(token)
    expect((await newBrowser().post('/console/account/export')).path).toMatch(/^\/console\/sign-in/)
  })
})

describe('organisation settings', () => {
  it('can be changed by owners, effective at the next request', async () => {
    const { browser, testKey, organisationId } = await newOwner()
    const client = clientOf(testKey)
    await client.get('/v1/account')
    await browser.get(SETTINGS)
    expect((await browser.post(`${SETTINGS}/name`, { name: 'Acme & Co' })).html).toContain(
      'Organisation renamed.',
    )
    expect(await (await client.get('/v1/account')).json()).toMatchObject({ name: 'Acme & Co' })
    for (const days of ['0', '366', '1.5', '', 'x']) {
      const page = await browser.post(`${SETTINGS}/retention`, { days })
      expect(page.status).toBe(422)
      expect(page.html).toContain('id="days-error"')
    }
    expect((await browser.post(`${SETTINGS}/retention`, { days: '90' })).html).toContain(
      'value="90"',
    )
    expect((await browser.post(`${SETTINGS}/name`, { name: ' ' })).status).toBe(422)
    const { results } = await env.DB.prepare(
      `SELECT details FROM audit_log
       WHERE organisation_id = ? AND action = 'organisation.updated' ORDER BY id`,
    )
      .bind(organisationId)
      .all<{ details: string }>()
    expect(results.map(({ details }) => JSON.parse(details) as unknown)).toEqual([
      { name_old: 'Acme', name_new: 'Acme & Co' },
      { output_retention_days_old: 30, output_retention_days_new: 90 },
    ])
    expect((await operator.get(`/operator/organisations/${organisationId}`)).status).toBe(200)
  })

  it('are read-only for members', async () => {
    const { browser } = await newOwner()
    const email = newAddress()
    await browser.post('/console/settings/team/invitations', { email, role: 'developer' })
    const member = await join(email)
    const page = await member.get(SETTINGS)
    expect(page.html).toContain('Only owners can change these settings.')
    expect(page.html).toContain('30 days')
    expect(page.html).not.toContain(`action="${SETTINGS}`)
    for (const [form, fields] of [
      ['name', { name: 'Mine' }],
      ['retention', { days: '1' }],
    ] as const) {
      expect((await member.post(`${SETTINGS}/${form}`, fields)).status).toBe(404)
    }
  })
})
