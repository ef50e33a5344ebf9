// The client in a Worker, against the service's fetch handler.
import { exports } from 'cloudflare:workers'
import { ApiError, TryOnClient, type Fetch } from '../../packages/client/src/index.ts'
import { describe, expect, it } from 'vitest'
import { BASE } from '../support/client.ts'
import { IMAGES, newOrganisation } from '../support/world.ts'

const fetch: Fetch = (url, init) => exports.default.fetch(new Request(url, init))

describe('the client in a Worker', () => {
  it('runs a job, lists it and reads the account', async () => {
    const shop = await newOrganisation()
    const client = new TryOnClient({ apiKey: shop.keys.test, baseUrl: BASE, fetch })
    const job = await client.tryOn.run(IMAGES)
    expect(job).toMatchObject({ status: 'completed', mode: 'test', credits_consumed: 0 })
    const ids: string[] = []
    for await (const { job_id: id } of client.jobs.list()) ids.push(id)
    expect(ids).toEqual([job.job_id])
    expect(await client.account.get()).toMatchObject({ org_id: shop.orgId })
  })

  it('throws typed errors', async () => {
    const client = new TryOnClient({ apiKey: 'svc_test_sk_1', baseUrl: BASE, fetch })
    const error: unknown = await client.account.get().catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ApiError)
    expect(error).toMatchObject({ status: 401, code: 'invalid_api_key' })
  })
})
