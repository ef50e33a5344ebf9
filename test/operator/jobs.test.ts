// Reading and withdrawing jobs through /operator.
import { describe, expect, it } from 'vitest'
import { newId } from '../../src/platform/ids.ts'
import {
  finished,
  failJobQueues,
  ledgerOf,
  newOrganisation,
  operator,
  readJob,
  submit,
} from '../support/world.ts'
import { jobsDb } from '../support/jobs-database.ts'

describe('GET /operator/jobs/{job_id}', () => {
  it('returns the fields of /v1 and the engine', async () => {
    const shop = await newOrganisation()
    const { job_id } = await submit(shop.test)
    const job = await finished(shop.test, job_id)
    await jobsDb(job_id).prepare("update jobs set engine = 'fashn' where id = ?").bind(job_id).run()
    const response = await operator.get(`/operator/jobs/${job_id}`)
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({
      ...job,
      output_url: expect.stringContaining(`/outputs/${job_id}.png?`),
      org_id: shop.orgId,
      engine: 'fashn',
      attempts: 1,
      failure_reason: null,
      request_id: expect.any(String),
    })
    expect((await operator.get(`/operator/jobs/${newId('job')}`)).status).toBe(404)
    expect(await readJob(shop.test, job_id)).not.toHaveProperty('engine')
  })

  it('returns the reason of a failed job only, for every audience', async () => {
    const shop = await newOrganisation()
    const { job_id } = await submit(shop.test, {
      model_image_url: 'https://test.invalid/fail/person_not_found',
    })
    await finished(shop.test, job_id)
    const reason = async () => {
      const response = await operator.get(`/operator/jobs/${job_id}`)
      return (await response.json<{ failure_reason: string | null }>()).failure_reason
    }
    const set = (assignments: string) =>
      jobsDb(job_id).prepare(`UPDATE jobs SET ${assignments} WHERE id = ?`).bind(job_id).run()
    expect(await reason()).toBe('requested by a test scenario')
    await set("failure_audience = 'staff'")
    expect(await reason()).toBe('requested by a test scenario')
    await set("status = 'processing'")
    expect(await reason()).toBeNull()
    await set("status = 'failed', failure_reason = NULL")
    expect(await reason()).toBeNull()
  })
})

describe('POST /operator/jobs/{job_id}/withdraw', () => {
  it('cancels a pending job and returns its credit once', async () => {
    const shop = await newOrganisation({ credits: 1 })
    failJobQueues()
    const { job_id } = await submit(shop.live)
    const withdraw = () => operator.post(`/operator/jobs/${job_id}/withdraw`)
    const response = await withdraw()
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({ job_id, status: 'cancelled' })
    expect(await ledgerOf(shop)).toEqual({ granted: 1, balance: 1, reserved: 0, consumed: 0 })
    expect((await withdraw()).status).toBe(409)
    expect((await operator.post(`/operator/jobs/${newId('job')}/withdraw`)).status).toBe(404)
  })

  it('returns 409 for a finished job', async () => {
    const shop = await newOrganisation()
    const { job_id } = await submit(shop.test)
    await finished(shop.test, job_id)
    expect((await operator.post(`/operator/jobs/${job_id}/withdraw`)).status).toBe(409)
  })
})
