// Deletion of organisations: scheduling, cancelling, and deleting after the grace period.
import {
  createExecutionContext,
  runDurableObjectAlarm,
  waitOnExecutionContext,
} from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, it, vi } from 'vitest'
import worker from '../../src/index.ts'
import { eventIdOf, newId } from '../../src/platform/ids.ts'
import { runDeletions } from '../../src/privacy/run-deletions.ts'
import { signedUrl } from '../../src/platform/signing/signed-url.ts'
import { BASE, clientOf, codeOf, request } from '../support/client.ts'
import { DAY_MS, GRACE_MS, PAST_GRACE_MS, passTime, runCron } from '../support/deletion.ts'
import { factsOf } from '../support/facts.ts'
import { cellsWith, NOTHING_STORED, picturesWith, storedIn } from '../support/traces.ts'
import { fakeUpstream } from '../support/upstream.ts'
import {
  createKey,
  join,
  latestMail,
  newAddress,
  newOwner,
  PASSWORD,
  totalsOf,
  type Browser,
} from '../support/browser.ts'
import {
  finished,
  failJobQueues,
  ledgerOf,
  newOrganisation,
  operator,
  submit,
} from '../support/world.ts'
import { jobsDb, newJobId } from '../support/jobs-database.ts'

const upstream = fakeUpstream()
const SETTINGS = '/console/settings/organisation'

const pathOf = (orgId: string, rest = '') => `/operator/organisations/${orgId}${rest}`
const schedule = (orgId: string) => operator.delete(pathOf(orgId))
const restore = (orgId: string) => operator.post(pathOf(orgId, '/restore'))
const auditOf = async (orgId: string) =>
  (
    await env.DB.prepare(
      `SELECT action FROM audit_log
       WHERE organisation_id = ? AND action LIKE 'organisation.deletion%' ORDER BY id`,
    )
      .bind(orgId)
      .all<{ action: string }>()
  ).results.map(({ action }) => action)

const deleteFromConsole = (browser: Browser, fields: Record<string, string> = {}) =>
  browser.post(`${SETTINGS}/delete`, { confirmation: 'Acme', password: PASSWORD, ...fields })

afterEach(() => void vi.useRealTimers())

describe('DELETE /operator/organisations/{org_id}', () => {
  it('schedules the deletion in seven days, and returns the same response when repeated', async () => {
    const { orgId } = await newOrganisation()
    const response = await schedule(orgId)
    expect(response.status).toBe(202)
    const body = await response.json<{ delete_after: string }>()
    expect(body).toEqual({ org_id: orgId, status: 'active', delete_after: expect.any(String) })
    expect(Math.abs(Date.parse(body.delete_after) - Date.now() - GRACE_MS)).toBeLessThan(60_000)
    passTime(DAY_MS)
    expect(await (await schedule(orgId)).json()).toEqual(body)
    expect(await (await operator.get(pathOf(orgId))).json()).toMatchObject(body)
    expect(await auditOf(orgId)).toEqual(['organisation.deletion_scheduled'])
  })

  it('suspends the organisation in /v1 and releases reserved credits', async () => {
    const shop = await newOrganisation({ credits: 3 })
    const done = await finished(shop.test, (await submit(shop.test)).job_id)
    failJobQueues()
    await submit(shop.live)
    await submit(shop.test)
    await schedule(shop.orgId)
    const rejected = [
      await shop.live.post('/v1/tryon', {
        model_image_url: 'https://shop.test/a.jpg',
        garment_image_url: 'https://shop.test/b.jpg',
      }),
      await shop.test.get(`/v1/jobs/${done.job_id}`),
    ]
    for (const response of rejected) {
      expect(response.status).toBe(403)
      expect(await codeOf(response)).toBe('account_suspended')
    }
    const list = await (await shop.test.get('/v1/jobs')).json<{ jobs: { status: string }[] }>()
    expect(list.jobs.map(({ status }) => status)).toEqual(['cancelled', 'cancelled', 'completed'])
    expect((await shop.test.get('/v1/account')).status).toBe(200)
    expect(await ledgerOf(shop)).toEqual({ granted: 3, balance: 3, reserved: 0, consumed: 0 })
  })

  it('rejects new API keys while it is scheduled', async () => {
    const { orgId } = await newOrganisation()
    await schedule(orgId)
    const response = await operator.post(pathOf(orgId, '/api-keys'), { mode: 'live' })
    expect(response.status).toBe(409)
    expect(await codeOf(response)).toBe('deletion_scheduled')
    await restore(orgId)
    const accepted = await operator.post(pathOf(orgId, '/api-keys'), { mode: 'live' })
    expect(accepted.status).toBe(201)
  })

  it('returns 404 for an unknown organisation', async () => {
    expect((await schedule(newId('org'))).status).toBe(404)
    expect((await restore(newId('org'))).status).toBe(404)
  })
})

describe('POST /operator/organisations/{org_id}/restore', () => {
  it('cancels the deletion, and changes nothing when none is scheduled', async () => {
    const shop = await newOrganisation()
    await schedule(shop.orgId)
    for (const response of [await restore(shop.orgId), await restore(shop.orgId)]) {
      expect(response.status).toBe(200)
      expect(await response.json()).toMatchObject({ org_id: shop.orgId, delete_after: null })
    }
    const job = await finished(shop.test, (await submit(shop.test)).job_id)
    expect(job.status).toBe('completed')
    expect(await auditOf(shop.orgId)).toEqual([
      'organisation.deletion_scheduled',
      'organisation.deletion_cancelled',
    ])
    passTime(PAST_GRACE_MS)
    await runCron()
    expect((await operator.get(pathOf(shop.orgId))).status).toBe(200)
  })

  it('does not lift a suspension', async () => {
    const shop = await newOrganisation()
    await operator.patch(pathOf(shop.orgId), { status: 'suspended' })
    expect(await (await schedule(shop.orgId)).json()).toMatchObject({ status: 'suspended' })
    expect(await (await restore(shop.orgId)).json()).toMatchObject({ status: 'suspended' })
    const response = await shop.test.post('/v1/tryon', {
      model_image_url: 'https://shop.test/a.jpg',
      garment_image_url: 'https://shop.test/b.jpg',
    })
    expect(await codeOf(response)).toBe('account_suspended')
  })

  it('returns 404 once the grace period is over', async () => {
    const { orgId } = await newOrganisation()
    await schedule(orgId)
    passTime(GRACE_MS)
    expect((await restore(orgId)).status).toBe(404)
    expect((await operator.get(pathOf(orgId))).status).toBe(404)
  })

  it('does not cancel a deletion that has begun, even if the clock is behind', async () => {
    const shop = await newOrganisation()
    const { job_id } = await submit(shop.test, { model_image_url: 'https://test.invalid/delay/60' })
    await vi.waitUntil(async () => (await statusOf(job_id)) === 'processing')
    await schedule(shop.orgId)
    passTime(PAST_GRACE_MS)
    await jobsDb(job_id)
      .prepare('UPDATE jobs SET due_at = ?, sweep_at = ? WHERE id = ?')
      .bind(Date.now() + DAY_MS, Date.now() + DAY_MS, job_id)
      .run()
    await runCron() // begins the deletion and postpones it because of the job
    passTime(-DAY_MS)
    expect((await restore(shop.orgId)).status).toBe(404)
    expect((await operator.get(pathOf(shop.orgId))).status).toBe(404)
    expect(await statusOf(job_id)).toBe('processing')
    await jobsDb(job_id)
      .prepare("UPDATE jobs SET status = 'failed' WHERE id = ?")
      .bind(job_id)
      .run()
    await runCron()
    expect(await cellsWith(shop.orgId)).toEqual(['closed_organisations.id'])
  })
})

const statusOf = (jobId: string) =>
  jobsDb(jobId).prepare('SELECT status FROM jobs WHERE id = ?').bind(jobId).first<string>('status')

describe('organisation deletion in the console', () => {
  it('requires the name and the password, shows the date, and can be cancelled', async () => {
    const { browser, email, testKey } = await newOwner()
    const unnamed = await deleteFromConsole(browser, { confirmation: 'Acne' })
    expect(unnamed.status).toBe(422)
    expect(unnamed.html).toContain('Enter “Acme” to confirm.')
    const wrongPassword = await deleteFromConsole(browser, { password: 'wrong' })
    expect(wrongPassword.status).toBe(422)
    expect(wrongPassword.html).toContain('Incorrect password.')
    expect((await clientOf(testKey).get('/v1/jobs/job_x')).status).toBe(404)

    const page = await deleteFromConsole(browser)
    expect(page.path).toBe(SETTINGS)
    expect(page.html).toContain('Acme will be deleted on')
    expect(latestMail(email).subject).toBe('Acme will be deleted')
    expect(await codeOf(await clientOf(testKey).get('/v1/jobs/job_x'))).toBe('account_suspended')
    expect((await createKey(browser)).status).toBe(409)
    const keysPage = await browser.get('/console/settings/api-keys')
    expect(keysPage.html).not.toContain('Create an API key')

    passTime(6 * DAY_MS)
    const restored = await browser.post(`${SETTINGS}/keep`)
    expect(restored.html).not.toContain('will be deleted on')
    expect((await clientOf(testKey).get('/v1/jobs/job_x')).status).toBe(404)
  })

  it('is limited to owners; members see the date without a button', async () => {
    const { browser, organisationId } = await newOwner()
    const address = newAddress()
    await browser.post('/console/settings/team/invitations', { email: address, role: 'developer' })
    const member = await join(address)
    await member.get('/console')
    expect((await deleteFromConsole(member)).status).toBe(404)
    await deleteFromConsole(browser)
    const page = await member.get('/console')
    expect(page.html).toContain('Acme will be deleted on')
    expect(page.html).not.toContain('Cancel deletion')
    expect((await member.post(`${SETTINGS}/keep`)).status).toBe(404)
    expect(await auditOf(organisationId)).toEqual(['organisation.deletion_scheduled'])
    expect(latestMail(address).subject).not.toContain('deleted')
  })
})

describe('runDeletions', () => {
  it('deletes everything except the accounting record and the claim of free credits', async () => {
    upstream.on('https://hooks.test/gone', () => new Response('thanks'))
    const { browser, email, organisationId: orgId, testKey } = await newOwner()
    const address = newAddress()
    const invite = (to: string) =>
      browser.post('/console/settings/team/invitations', { email: to, role: 'developer' })
    await invite(address)
    const member = await join(address)
    await invite(newAddress())
    await browser.post('/console/settings/workspaces', { name: 'Outlet' })
    await browser.post('/console/settings/webhooks/url', { url: 'https://hooks.test/gone' })
    await browser.post(`${SETTINGS}/retention`, { days: '60' })
    await operator.post(pathOf(orgId, '/credits'), {
      amount: 20,
      reason: 'Bought',
      reference: 'invoice-7',
    })
    const client = clientOf(testKey)
    const { job_id: jobId, ...job } = await finished(client, (await submit(client)).job_id)
    await vi.waitUntil(async () => {
      const { events } = await factsOf(orgId)
      return events[0]?.status === 'delivered'
    })
    const outputPath = String(job['output_url']).replace(BASE, '')
    expect((await request(outputPath)).status).toBe(200)
    await env.IMAGES.put(`inputs/${jobId}/model.webp`, 'a copy')
    await jobsDb(orgId)
      .prepare(
        'INSERT INTO failing_receivers (organisation_id, receiver, origin, failing_since, failures, timed_out) VALUES (?1, ?2, ?2, 0, 1, 0)',
      )
      .bind(orgId, 'https://hooks.test')
      .run()
    await env.DB.prepare('INSERT INTO free_credit_claims VALUES (?, ?, 0)')
      .bind('shop.example', orgId)
      .run()
    const otherOrganisation = await newOrganisation()

    await deleteFromConsole(browser)
    passTime(PAST_GRACE_MS)
    await runCron()

    expect(await cellsWith(orgId)).toEqual([
      'closed_organisations.id',
      'free_credit_claims.organisation_id',
    ])
    expect(await cellsWith(jobId)).toEqual([])
    expect(await cellsWith(eventIdOf(jobId))).toEqual([])
    expect(await picturesWith(jobId)).toEqual([])
    expect(await storedIn(orgId)).toEqual(NOTHING_STORED)
    const closed = await env.DB.prepare('SELECT * FROM closed_organisations WHERE id = ?')
      .bind(orgId)
      .first<Record<string, unknown>>()
    expect(closed).toMatchObject({ name: 'Acme', granted: 120, consumed: 0, region_code: 'EU' })
    expect(JSON.parse(String(closed?.['grants']))).toMatchObject([
      { amount: 100, reference: 'sign-up', reason: 'Credits at sign-up' },
      { amount: 20, reference: 'invoice-7', reason: 'Bought' },
    ])

    const response = await client.get('/v1/account')
    expect([response.status, await codeOf(response)]).toEqual([401, 'invalid_api_key'])
    expect((await operator.get(pathOf(orgId))).status).toBe(404)
    const freshLink = signedUrl(env, BASE, outputPath.slice(1).split('?')[0] ?? '')
    expect((await request(freshLink.replace(BASE, ''))).status).toBe(404)
    for (const [person, credentials] of [
      [browser, email],
      [member, address],
    ] as const) {
      await person.post('/console/sign-in', { email: credentials, password: PASSWORD })
      expect((await person.get('/console')).html).not.toContain('Acme</h1>')
    }
    expect((await otherOrganisation.test.get('/v1/account')).status).toBe(200)
  })

  it('stores nothing for late calls and messages', async () => {
    const shop = await newOrganisation()
    const { job_id } = await submit(shop.test)
    await finished(shop.test, job_id)
    await schedule(shop.orgId)
    passTime(PAST_GRACE_MS)
    await runCron()
    const before = await cellsWith(shop.orgId)

    const organisation = env.ORGANISATION.getByName(shop.orgId)
    await organisation.capture(job_id)
    await organisation.release([job_id])
    await organisation.release([job_id])
    expect(await organisation.renewReservation(job_id)).toBe(false)
    await organisation.refresh()
    expect(await organisation.entries({ limit: 10 })).toEqual([])
    expect(await totalsOf(shop.orgId)).toEqual({ granted: 0, balance: 0, reserved: 0, consumed: 0 })
    await runDurableObjectAlarm(organisation)
    await deliver('tryon-jobs', { jobId: job_id, mode: 'live', swept: true })
    await deliver('tryon-jobs-dead', { jobId: job_id })
    await deliver('tryon-webhooks', { eventId: eventIdOf(job_id) })
    expect((await shop.live.get('/v1/account')).status).toBe(401)
    expect((await shop.test.get(`/v1/jobs/${job_id}`)).status).toBe(401)
    await organisation.destroy()

    expect(await cellsWith(shop.orgId)).toEqual(before)
    expect(await cellsWith(job_id)).toEqual([])
    expect(await storedIn(shop.orgId)).toEqual(NOTHING_STORED)
  })

  it('deletes several pages of jobs', async () => {
    const shop = await newOrganisation()
    const first = await submit(shop.test)
    await finished(shop.test, first.job_id)
    const jobIds = Array.from({ length: 250 }, () => newJobId(shop.orgId))
    await jobsDb(shop.orgId).batch(
      jobIds.map((id) =>
        jobsDb(first.job_id)
          .prepare(
            `INSERT INTO jobs (id, organisation_id, workspace_id, mode, status, base_url, created_at, due_at)
           SELECT ?, organisation_id, workspace_id, mode, status, base_url, created_at, due_at
           FROM jobs WHERE id = ?`,
          )
          .bind(id, first.job_id),
      ),
    )
    await env.IMAGES.put(`outputs/${jobIds[249]}.webp`, 'a picture')
    await schedule(shop.orgId)
    passTime(PAST_GRACE_MS)
    await runCron()
    expect(await cellsWith(shop.orgId)).toEqual(['closed_organisations.id'])
    expect(await picturesWith(...jobIds)).toEqual([])
  })

  it('starts a deletion although 50 others are postponed again and again', async () => {
    const { orgId: template } = await newOrganisation()
    const ids = Array.from({ length: 50 }, () => newId('org'))
    const list = JSON.stringify(ids)
    await env.DB.prepare(
      `INSERT INTO organisations (id, name, plan, region_code, rate_limit_per_minute, webhook_secret,
                                  created_at, delete_after)
       SELECT value, 'Postponed', plan, region_code, rate_limit_per_minute, webhook_secret, created_at, 0
       FROM organisations JOIN json_each(?) WHERE organisations.id = ?`,
    )
      .bind(list, template)
      .run()
    await env.JOBS_DB_0.prepare(
      `INSERT INTO jobs (id, organisation_id, workspace_id, mode, status, base_url, created_at, due_at)
       SELECT 'job' || substr(value, 4), value, '', 'test', 'processing', '', 0, 0 FROM json_each(?)`,
    )
      .bind(list)
      .run()
    passTime(0)
    await runDeletions(env)
    const { orgId } = await newOrganisation()
    await schedule(orgId)
    passTime(PAST_GRACE_MS)
    await runDeletions(env)
    expect(await cellsWith(orgId)).toEqual(['closed_organisations.id'])
    for (const [db, table] of [
      [env.DB, 'organisations WHERE id'],
      [env.JOBS_DB_0, 'jobs WHERE organisation_id'],
    ] as const)
      await db.prepare(`DELETE FROM ${table} IN (SELECT value FROM json_each(?))`).bind(list).run()
  })

  it('continues with the next organisation when a deletion fails', async () => {
    const [failing, other] = [await newOrganisation(), await newOrganisation()]
    const { job_id } = await submit(failing.test)
    await finished(failing.test, job_id)
    await schedule(failing.orgId)
    await schedule(other.orgId)
    passTime(PAST_GRACE_MS)
    vi.spyOn(env.IMAGES, 'delete').mockRejectedValueOnce(new Error('R2 is down'))
    await expect(runDeletions(env)).rejects.toThrow('R2 is down')
    expect(await cellsWith(other.orgId)).toEqual(['closed_organisations.id'])
    expect(await cellsWith(failing.orgId)).toContain('organisations.id')
    await runCron()
    expect(await cellsWith(failing.orgId)).toEqual(['closed_organisations.id'])
  })
})

/** Sends a message to the Worker's queue handler. */
async function deliver(queue: string, body: object): Promise<void> {
  const message = {
    id: '1',
    timestamp: new Date(),
    body,
    attempts: 1,
    ack: () => {},
    retry: () => {},
  }
  const context = createExecutionContext()
  await worker.queue(
    {
      queue,
      messages: [message],
      metadata: { metrics: { backlogCount: 1, backlogBytes: 1 } },
      ackAll: () => {},
      retryAll: () => {},
    },
    env,
    context,
  )
  await waitOnExecutionContext(context)
}
