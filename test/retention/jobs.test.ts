// Jobs and their pictures, deleted by age, one organisation at a time.
import { env } from 'cloudflare:workers'
import { describe, expect, it, vi } from 'vitest'
import { newId } from '../../src/ids.ts'
import { processJob } from '../../src/jobs/process.ts'
import { updateOrganisation } from '../../src/accounts/organisations.ts'
import { violationsOf } from '../support/facts.ts'
import { fakePictures } from '../support/live-job.ts'
import {
  count,
  DAY_MS,
  endedJob,
  fakeClock,
  HOUR_MS,
  pass,
  picturesOf,
  retain,
  ringAlarm,
  storeCopy,
} from '../support/retention.ts'
import { ledgerOf, newOrganisation, operator, readJob, submit } from '../support/world.ts'
import type { TestOrganisation } from '../support/world.ts'

fakePictures()
fakeClock()

const HOOK = 'https://hooks.test/try-on'
const OPERATOR = { type: 'operator', ipAddress: null } as const
const retainFor = ({ orgId }: TestOrganisation, days: number) =>
  updateOrganisation({
    env,
    actor: OPERATOR,
    organisationId: orgId,
    change: { outputRetentionDays: days },
  })

/** Cron runs each minute; an organisation is looked at every six hours. */
async function passDays(days: number): Promise<void> {
  pass(days * DAY_MS)
  await retain()
}

describe('pictures', () => {
  it('are deleted with their URLs after 30 days, and not before', async () => {
    const shop = await newOrganisation()
    const jobId = await endedJob(shop, 'live', { webhook_url: HOOK })
    await storeCopy(jobId)
    pass(30 * DAY_MS - 1_000)
    await env.IMAGES.put(`inputs/${jobId}/model.jpg`, 'bytes')
    await env.DB.prepare('UPDATE organisations SET retention_due_at = 0').run()
    await retain()
    expect(await readJob(shop.live, jobId)).toMatchObject({
      status: 'completed',
      output_url: expect.any(String),
      webhook_url: HOOK,
    })
    expect(await picturesOf(jobId)).toContain(`outputs/${jobId}.png`)

    pass(6 * HOUR_MS)
    await storeCopy(jobId)
    await retain()
    expect(await picturesOf(jobId)).toEqual([])
    expect(await readJob(shop.live, jobId)).toMatchObject({
      status: 'completed',
      credits_consumed: 1,
      output_url: null,
      webhook_url: null,
      webhook_status: null,
    })
    expect(await count('jobs', 'id = ? AND model_image_url IS NULL', jobId)).toBe(1)
    expect(await count('jobs', 'id = ? AND garment_image_url IS NULL', jobId)).toBe(1)
    expect(await violationsOf(shop.orgId)).toEqual([])
  })

  it('of another organisation stay for its own period', async () => {
    const [brief, long] = [await newOrganisation(), await newOrganisation()]
    await retainFor(brief, 1)
    await retainFor(long, 365)
    const [deleted, stored] = [await endedJob(brief), await endedJob(long)]
    await passDays(1.3)
    expect(await picturesOf(deleted)).toEqual([])
    expect(await picturesOf(stored)).toEqual([`outputs/${stored}.png`])
    await passDays(363)
    expect(await picturesOf(stored)).toEqual([`outputs/${stored}.png`])
    await passDays(1)
    expect(await picturesOf(stored)).toEqual([])
  })

  it('are deleted at the next run when the period is shortened', async () => {
    const shop = await newOrganisation()
    const jobId = await endedJob(shop)
    await passDays(10)
    await retainFor(shop, 9)
    await retain()
    expect(await picturesOf(jobId)).toEqual([])
    expect(
      await count(
        'audit_log',
        "organisation_id = ? AND action = 'organisation.updated'",
        shop.orgId,
      ),
    ).toBe(1)
  })

  it('that are still stored stay longer when the period is extended', async () => {
    const shop = await newOrganisation()
    const first = await endedJob(shop)
    await passDays(20)
    const second = await endedJob(shop)
    await passDays(11)
    await retainFor(shop, 60)
    await passDays(20)
    expect(await picturesOf(first)).toEqual([])
    expect(await picturesOf(second)).toEqual([`outputs/${second}.png`])
    await passDays(30)
    expect(await picturesOf(second)).toEqual([])
  })

  it('refuses a period outside of 1 to 365 whole days', async () => {
    const shop = await newOrganisation()
    for (const days of [0, 366, 1.5, null]) {
      const path = `/operator/organisations/${shop.orgId}`
      const response = await operator.patch(path, { output_retention_days: days })
      expect(response.status).toBe(422)
    }
  })

  it('of jobs after one that is still open wait for it', async () => {
    const shop = await newOrganisation()
    const first = await endedJob(shop)
    const { job_id: open } = await submit(shop.live)
    const last = await endedJob(shop)
    await passDays(31)
    expect(await picturesOf(first)).toEqual([])
    expect(await picturesOf(last)).toEqual([`outputs/${last}.png`])
    expect((await shop.live.delete(`/v1/jobs/${open}`)).status).toBe(200)
    await passDays(0.3)
    expect(await picturesOf(last)).toEqual([])
  })

  it('of a long backlog are deleted in one run', async () => {
    const shop = await newOrganisation()
    const pattern = await endedJob(shop, 'test')
    const ids = Array.from({ length: 250 }, () => newId('job'))
    await env.DB.prepare(
      `INSERT INTO jobs SELECT j.value, organisation_id, workspace_id, 'live', 'failed',
         model_image_url, garment_image_url, webhook_url, base_url, created_at, started_at,
         completed_at, duration_ms, error_code, output_format, engine, engine_handle,
         ambiguous_starts, attempts, due_at, sweep_at
       FROM jobs, json_each(?) AS j WHERE jobs.id = ?`,
    )
      .bind(JSON.stringify(ids), pattern)
      .run()
    await passDays(31)
    expect(await count('jobs', 'organisation_id = ?', shop.orgId)).toBe(250)
    const withUrls = 'organisation_id = ? AND model_image_url IS NOT NULL'
    expect(await count('jobs', withUrls, shop.orgId)).toBe(0)
  })
})

describe('test jobs', () => {
  it('are deleted after 7 days with picture, event and attempts, and live jobs are not', async () => {
    const shop = await newOrganisation()
    const live = await endedJob(shop, 'live', { webhook_url: HOOK })
    const test = await endedJob(shop, 'test', { webhook_url: HOOK })
    await env.DB.prepare(
      `INSERT INTO webhook_attempts (event_id, number, at, duration_ms)
       SELECT id, 1, 0, 0 FROM webhook_events WHERE organisation_id = ?`,
    )
      .bind(shop.orgId)
      .run()
    const attempts = 'event_id IN (?, ?)'
    const events = [live, test].map((id) => id.replace('job', 'evt'))
    pass(7 * DAY_MS - 1_000)
    await env.DB.prepare('UPDATE organisations SET retention_due_at = 0').run()
    await retain()
    expect((await shop.test.get(`/v1/jobs/${test}`)).status).toBe(200)
    await passDays(0.3)
    expect((await shop.test.get(`/v1/jobs/${test}`)).status).toBe(404)
    expect(await picturesOf(test)).toEqual([])
    expect((await shop.live.get(`/v1/jobs/${live}`)).status).toBe(200)
    expect(await picturesOf(live)).toEqual([`outputs/${live}.png`])
    expect(await count('webhook_events', 'organisation_id = ?', shop.orgId)).toBe(1)
    expect(await count('webhook_attempts', attempts, ...events)).toBe(1)
    expect(await violationsOf(shop.orgId)).toEqual([])
  })

  it('that are open are not deleted', async () => {
    const shop = await newOrganisation()
    const { job_id: open } = await submit(shop.test)
    await passDays(8)
    expect((await shop.test.get(`/v1/jobs/${open}`)).status).toBe(200)
  })
})

describe('live jobs', () => {
  it('are deleted after 400 days, and the ledger keeps the totals', async () => {
    const shop = await newOrganisation({ credits: 5 })
    const old = await endedJob(shop)
    await passDays(399)
    const young = await endedJob(shop)
    expect((await shop.live.get(`/v1/jobs/${old}`)).status).toBe(200)
    pass(1.3 * DAY_MS)
    await retain()
    await ringAlarm(shop)
    expect((await shop.live.get(`/v1/jobs/${old}`)).status).toBe(404)
    expect((await shop.live.get(`/v1/jobs/${young}`)).status).toBe(200)
    expect(await ledgerOf(shop)).toEqual({ granted: 5, balance: 3, reserved: 0, consumed: 2 })
    expect(await violationsOf(shop.orgId, { deletedCompleted: 1 })).toEqual([])
  })
})

describe('a picture stored just before its job failed', () => {
  it('is deleted when the job fails', async () => {
    const shop = await newOrganisation()
    const put = env.IMAGES.put.bind(env.IMAGES)
    // Both puts arrive, and both answers are lost.
    vi.spyOn(env.IMAGES, 'put').mockImplementation(async (...args: Parameters<typeof put>) => {
      await put(...args)
      throw new Error('Network connection lost.')
    })
    const jobId = await endedJob(shop)
    expect(await picturesOf(jobId)).toEqual([`outputs/${jobId}.png`])
    pass(10 * 60_000)
    vi.spyOn(env.IMAGES, 'get').mockResolvedValue(null) // the picture cannot be found again
    await processJob({ env, jobId, mode: 'live' })
    expect(await readJob(shop.live, jobId)).toMatchObject({ status: 'failed' })
    expect(await picturesOf(jobId)).toEqual([])
    expect(await ledgerOf(shop)).toMatchObject({ balance: 100, consumed: 0 })
  })
})
