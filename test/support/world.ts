// Organisations for tests. Each test creates its own.
import { env } from 'cloudflare:workers'
import { expect, vi } from 'vitest'
import { clientOf, type Client } from './client.ts'

export const operator = clientOf(env.OPERATOR_TOKEN)

export interface TestOrganisation {
  orgId: string
  workspaceId: string
  webhookSecret: string
  keys: { test: string; live: string }
  /** Clients with the test key and the live key. */
  test: Client
  live: Client
}

/** Creates an organisation through the operator API. */
export async function newOrganisation(options: object = {}): Promise<TestOrganisation> {
  // A high limit for tests that poll. Tests of the limit set their own.
  const body = { name: 'Shop', rate_limit_per_minute: 100_000, ...options }
  const response = await operator.post('/operator/organisations', body)
  expect(response.status).toBe(201)
  const created = await response.json<{
    org_id: string
    webhook_secret: string
    workspaces: [{ id: string }]
    api_keys: { test: string; live: string }
  }>()
  return {
    orgId: created.org_id,
    workspaceId: created.workspaces[0].id,
    webhookSecret: created.webhook_secret,
    keys: created.api_keys,
    test: clientOf(created.api_keys.test),
    live: clientOf(created.api_keys.live),
  }
}

/** URLs that test mode accepts without fetching them. */
export const IMAGES = {
  model_image_url: 'https://shop.test/model.jpg',
  garment_image_url: 'https://shop.test/garment.png',
}

/** A scenario: the job stays in processing for a minute. */
export const DELAYED = { model_image_url: 'https://test.invalid/delay/60' }

export type JobJson = Record<string, unknown> & { job_id: string; status: string }

export async function submit(client: Client, body: object = {}): Promise<JobJson> {
  const response = await client.post('/v1/tryon', { ...IMAGES, ...body })
  expect(response.status).toBe(202)
  return response.json()
}

export const readJob = async (client: Client, jobId: string): Promise<JobJson> =>
  (await client.get(`/v1/jobs/${jobId}`)).json()

/** Makes the job queues fail, so that new jobs stay pending. */
export function failJobQueues() {
  const error = new Error('the queue is unavailable')
  vi.spyOn(env.TEST_JOBS, 'send').mockRejectedValue(error)
  return vi.spyOn(env.JOBS, 'send').mockRejectedValue(error)
}

/** Waits until a job has ended. @param interval of the reads, ms: they slow the engine if it computes */
export const finished = (client: Client, jobId: string, interval = 20): Promise<JobJson> =>
  vi.waitUntil(
    async () => {
      const job = await readJob(client, jobId)
      return ['pending', 'processing'].includes(job.status) ? undefined : job
    },
    { interval },
  )

export async function ledgerOf({ orgId }: TestOrganisation) {
  const response = await operator.get(`/operator/organisations/${orgId}`)
  const { ledger } = await response.json<{
    ledger: { granted: number; balance: number; reserved: number; consumed: number }
  }>()
  return ledger
}
