// DELETE /v1/jobs/{job_id}/output deletes the pictures of a finished job.
import { env } from 'cloudflare:workers'
import { describe, expect, it, vi } from 'vitest'
import { eventIdOf, newId } from '../../src/platform/ids.ts'
import { SYSTEM } from '../../src/domain/actor.ts'
import { resendEvent } from '../../src/webhooks/delivery/resend.ts'
import { deliverEvent } from '../../src/webhooks/delivery/deliver.ts'
import { clientOf, codeOf, errorOf } from '../support/client.ts'
import { violationsOf } from '../support/facts.ts'
import { fakePictures } from '../support/live-job.ts'
import { count, endedJob, fakeClock, pass, picturesOf, storeCopy } from '../support/retention.ts'
import { newOrganisation, operator, readJob, submit } from '../support/world.ts'
import { failOnce, jobsDb } from '../support/jobs-database.ts'

const upstream = fakePictures()
fakeClock()

const HOOK = 'https://hooks.test/output'
const outputOf = (jobId: string) => `/v1/jobs/${jobId}/output`

describe('DELETE /v1/jobs/{job_id}/output', () => {
  it('deletes the output and the input copies, clears the URLs and leaves the job', async () => {
    const shop = await newOrganisation()
    const jobId = await endedJob(shop, 'live', { webhook_url: HOOK })
    await storeCopy(jobId)
    const link = String((await readJob(shop.live, jobId))['output_url'])
    const response = await shop.live.delete(outputOf(jobId))
    expect(response.status).toBe(204)
    expect(await response.text()).toBe('')
    expect(await picturesOf(jobId)).toEqual([])
    expect(await readJob(shop.live, jobId)).toMatchObject({
      status: 'completed',
      output_url: null,
      credits_consumed: 1,
      webhook_url: null,
      webhook_status: null,
    })
    const { pathname, search } = new URL(link)
    expect((await shop.live.get(pathname + search)).status).toBe(404)
    expect(await count('jobs', 'id = ? AND garment_image_url IS NULL', jobId)).toBe(1)
    expect(await violationsOf(shop.orgId)).toEqual([])
  })

  it('succeeds when repeated, and records one audit entry with the API key', async () => {
    const shop = await newOrganisation()
    const jobId = await endedJob(shop)
    expect((await shop.live.delete(outputOf(jobId))).status).toBe(204)
    expect((await shop.live.delete(outputOf(jobId))).status).toBe(204)
    const { results } = await env.DB.prepare(
      "SELECT * FROM audit_log WHERE organisation_id = ? AND action LIKE 'job.%'",
    )
      .bind(shop.orgId)
      .all()
    const keyId = await env.DB.prepare(
      "SELECT id FROM api_keys WHERE organisation_id = ? AND mode = 'live'",
    )
      .bind(shop.orgId)
      .first('id')
    expect(results).toEqual([
      expect.objectContaining({
        action: 'job.output_deleted',
        actor_type: 'api_key',
        actor_id: keyId,
        target: jobId,
      }),
    ])
  })

  it.each([
    ['failed', { model_image_url: 'https://test.invalid/fail/person_not_found' }],
    ['refunded', undefined],
  ])('clears the URLs of a %s job', async (status, body) => {
    const shop = await newOrganisation()
    const jobId = body ? await endedJob(shop, 'test', body) : (await submit(shop.test)).job_id
    if (!body) await shop.test.delete(`/v1/jobs/${jobId}`)
    expect((await shop.test.delete(outputOf(jobId))).status).toBe(204)
    expect(await readJob(shop.test, jobId)).toMatchObject({ status })
    expect(await count('jobs', 'id = ? AND model_image_url IS NULL', jobId)).toBe(1)
  })

  it('returns 409 while the job is pending or processing, and deletes nothing', async () => {
    const shop = await newOrganisation()
    const { job_id: jobId } = await submit(shop.live)
    for (const status of ['pending', 'processing']) {
      await jobsDb(jobId)
        .prepare('UPDATE jobs SET status = ? WHERE id = ?')
        .bind(status, jobId)
        .run()
      const response = await shop.live.delete(outputOf(jobId))
      expect(response.status).toBe(409)
      expect(await errorOf(response)).toMatchObject({
        code: 'job_not_finished',
        message: expect.stringContaining('The job has not finished'),
      })
    }
    expect(await count('jobs', 'id = ? AND model_image_url IS NOT NULL', jobId)).toBe(1)
  })

  it('returns 403 for a job of another organisation, and deletes nothing', async () => {
    const [shop, other] = [await newOrganisation(), await newOrganisation()]
    const jobId = await endedJob(shop)
    const response = await other.live.delete(outputOf(jobId))
    expect([response.status, await codeOf(response)]).toEqual([403, 'forbidden'])
    expect(await picturesOf(jobId)).toHaveLength(1)
  })

  it.each([newId('job'), 'job_x', 'nonsense'])('returns 404 for %s', async (jobId) => {
    const { live } = await newOrganisation()
    const response = await live.delete(outputOf(jobId))
    expect([response.status, await codeOf(response)]).toEqual([404, 'job_not_found'])
  })

  it('returns 401 without a valid key and 429 over the rate limit', async () => {
    const response = await clientOf('nonsense').delete(outputOf(newId('job')))
    expect([response.status, await codeOf(response)]).toEqual([401, 'invalid_api_key'])
    const { live } = await newOrganisation({ rate_limit_per_minute: 1 })
    await live.delete(outputOf(newId('job')))
    const limited = await live.delete(outputOf(newId('job')))
    expect(limited.status).toBe(429)
    expect(limited.headers.get('Retry-After')).toBe('60')
  })

  it('accepts requests of a suspended organisation', async () => {
    const shop = await newOrganisation()
    const jobId = await endedJob(shop)
    await operator.patch(`/operator/organisations/${shop.orgId}`, { status: 'suspended' })
    expect((await shop.live.delete(outputOf(jobId))).status).toBe(204)
  })

  it('returns 405 with Allow for other methods', async () => {
    const { live } = await newOrganisation()
    const response = await live.get(outputOf(newId('job')))
    expect([response.status, response.headers.get('Allow')]).toEqual([405, 'DELETE'])
  })

  it('can be repeated after R2 or D1 failed', async () => {
    const shop = await newOrganisation()
    const jobId = await endedJob(shop)
    vi.spyOn(env.IMAGES, 'delete').mockRejectedValueOnce(new Error('R2 is down'))
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    expect((await shop.live.delete(outputOf(jobId))).status).toBe(500)
    expect(await count('jobs', 'id = ? AND model_image_url IS NOT NULL', jobId)).toBe(1)
    failOnce(jobsDb(jobId), /^update "jobs"/)
    expect((await shop.live.delete(outputOf(jobId))).status).toBe(500)
    log.mockRestore()
    expect((await shop.live.delete(outputOf(jobId))).status).toBe(204)
    expect(await picturesOf(jobId)).toEqual([])
    expect(await count('jobs', 'id = ? AND model_image_url IS NULL', jobId)).toBe(1)
  })

  it('leaves output_url null in a webhook that is sent later', async () => {
    const shop = await newOrganisation()
    const jobId = await endedJob(shop, 'live', { webhook_url: HOOK })
    upstream.on(HOOK, () => new Response('thanks'))
    const eventId = eventIdOf(jobId)
    await deliverEvent({ env, eventId })
    expect((await shop.live.delete(outputOf(jobId))).status).toBe(204)
    pass(61_000)
    await resendEvent({ env, actor: SYSTEM, organisationId: shop.orgId, eventId })
    await deliverEvent({ env, eventId })
    const [first, second] = upstream.seen(HOOK).map(({ body }) => JSON.parse(body).data.output_url)
    expect([typeof first, second]).toEqual(['string', null])
  })
})
