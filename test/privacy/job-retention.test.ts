// Retention of jobs and their pictures.
import { env } from 'cloudflare:workers'
import { describe, expect, it, vi } from 'vitest'
import { processJob } from '../../src/jobs/processing/process.ts'
import { updateOrganisation } from '../../src/billing/update-organisation.ts'
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
  runAlarm,
  storeCopy,
} from '../support/retention.ts'
import {
  ledgerOf,
  newOrganisation,
  operator,
  readJob,
  submit,
  type TestOrganisation,
} from '../support/world.ts'
import { jobsDb, newJobId } from '../support/jobs-database.ts'

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

/** Passes time and runs retention, which is due for an organisation every six hours. */
async function passDays(days: number): Promise<void> {
  pass(days * DAY_MS)
  await retain()
}

describe('retention of pictures', () => {
  it('deletes pictures and URLs after 30 days, and not before', async () => {
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

  it('uses the period of each organisation', async () => {
    const [short, long] = [await newOrganisation(), await newOrganisation()]
    await retainFor(short, 1)
    await retainFor(long, 365)
    const [deleted, stored] = [await endedJob(short), await endedJob(long)]
    await passDays(1.3)
    expect(await picturesOf(deleted)).toEqual([])
    expect(await picturesOf(stored)).toEqual([`outputs/${stored}.png`])
    await passDays(363)
    expect(await picturesOf(stored)).toEqual([`outputs/${stored}.png`])
    await passDays(1)
    expect(await picturesOf(stored)).toEqual([])
  })

  it('applies a shorter period at the next run', async () => {
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

  it('applies a longer period to pictures that are still stored', async () => {
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

  it('rejects periods other than 1 to 365 whole days', async () => {
    const shop = await newOrganisation()
    for (const days of [0, 366, 1.5, null]) {
      const path = `/operator/organisations/${shop.orgId}`
      const response = await operator.patch(path, { output_retention_days: days })
      expect(response.status).toBe(422)
    }
  })

  it('postpones jobs that follow an unfinished one', async () => {
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

  it('deletes a long backlog in one run', async () => {
    const shop = await newOrganisation()
    const template = await endedJob(shop, 'test')
    const ids = Array.from({ length: 250 }, () => newJobId(shop.orgId))
    await jobsDb(shop.orgId)
      .prepare(
        `INSERT INTO jobs (id, organisation_id, workspace_id, mode, status,
         model_image_url, garment_image_url, webhook_url, base_url, created_at, started_at,
         completed_at, duration_ms, error_code, output_format, engine, engine_handle,
         ambiguous_starts, attempts, due_at, sweep_at, failure_reason, failure_audience)
       SELECT j.value, organisation_id, workspace_id, 'live', 'failed',
         model_image_url, garment_image_url, webhook_url, base_url, created_at, started_at,
         completed_at, duration_ms, error_code, output_format, engine, engine_handle,
         ambiguous_starts, attempts, due_at, sweep_at, 'A reason.', 'members'
       FROM jobs, json_each(?) AS j WHERE jobs.id = ?`,
      )
      .bind(JSON.stringify(ids), template)
      .run()
    await passDays(31)
    expect(await count('jobs', 'organisation_id = ?', shop.orgId)).toBe(250)
    const withUrls = 'organisation_id = ? AND model_image_url IS NOT NULL'
    expect(await count('jobs', withUrls, shop.orgId)).toBe(0)
    const withReason = 'organisation_id = ? AND failure_reason IS NOT NULL'
    expect(await count('jobs', withReason, shop.orgId)).toBe(0)
  })
})

describe('retention of test jobs', () => {
  it('deletes test jobs with picture, event and attempts after 7 days, and no live jobs', async () => {
    const shop = await newOrganisation()
    const live = await endedJob(shop, 'live', { webhook_url: HOOK })
    const test = await endedJob(shop, 'test', { webhook_url: HOOK })
    await jobsDb(shop.orgId)
      .prepare(
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

  it('does not delete unfinished jobs', async () => {
    const shop = await newOrganisation()
    const { job_id: open } = await submit(shop.test)
    await passDays(8)
    expect((await shop.test.get(`/v1/jobs/${open}`)).status).toBe(200)
  })
})

describe('retention of live jobs', () => {
  it('deletes live jobs after 400 days without changing the ledger totals', async () => {
    const shop = await newOrganisation({ credits: 5 })
    const old = await endedJob(shop)
    await passDays(399)
    const young = await endedJob(shop)
    expect((await shop.live.get(`/v1/jobs/${old}`)).status).toBe(200)
    pass(1.3 * DAY_MS)
    await retain()
    await runAlarm(shop)
    expect((await shop.live.get(`/v1/jobs/${old}`)).status).toBe(404)
    expect((await shop.live.get(`/v1/jobs/${young}`)).status).toBe(200)
    expect(await ledgerOf(shop)).toEqual({ granted: 5, balance: 3, reserved: 0, consumed: 2 })
    expect(await violationsOf(shop.orgId, { deletedCompleted: 1 })).toEqual([])
  })
})

describe('a picture of a failed job', () => {
  it('is deleted when the job fails after storing it', async () => {
    const shop = await newOrganisation()
    const put = env.IMAGES.put.bind(env.IMAGES)
    // Both puts succeed, and both responses are lost.
    vi.spyOn(env.IMAGES, 'put').mockImplementation(async (...args: Parameters<typeof put>) => {
      await put(...args)
      throw new Error('Network connection lost.')
    })
    const jobId = await endedJob(shop)
    expect(await picturesOf(jobId)).toEqual([`outputs/${jobId}.png`])
    pass(10 * 60_000)
    vi.spyOn(env.IMAGES, 'get').mockResolvedValue(null) // the stored picture cannot be read
    await processJob({ env, jobId, mode: 'live' })
    expect(await readJob(shop.live, jobId)).toMatchObject({ status: 'failed' })
    expect(await picturesOf(jobId)).toEqual([])
    expect(await ledgerOf(shop)).toMatchObject({ balance: 100, consumed: 0 })
  })
})
