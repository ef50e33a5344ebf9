// Organisations for tests: each test brings its own.
import { env } from 'cloudflare:workers'
import { expect, vi } from 'vitest'
import { clientOf } from './client.ts'
import type { Client } from './client.ts'

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

/** A new organisation, made through the operator API. */
export async function newOrganisation(order: object = {}): Promise<TestOrganisation> {
  // A limit out of the way of tests that poll; those about the limit give their own.
  const whole = { name: 'Shop', rate_limit_per_minute: 100_000, ...order }
  const answer = await operator.post('/operator/organisations', whole)
  expect(answer.status).toBe(201)
  const body = await answer.json<{
    org_id: string
    webhook_secret: string
    workspaces: [{ id: string }]
    api_keys: { test: string; live: string }
  }>()
  return {
    orgId: body.org_id,
    workspaceId: body.workspaces[0].id,
    webhookSecret: body.webhook_secret,
    keys: body.api_keys,
    test: clientOf(body.api_keys.test),
    live: clientOf(body.api_keys.live),
  }
}

/** Two addresses that test mode takes without asking anything of them. */
export const IMAGES = {
  model_image_url: 'https://shop.test/model.jpg',
  garment_image_url: 'https://shop.test/garment.png',
}

/** For a body: the job stays in processing for a minute. */
export const DELAYED = { model_image_url: 'https://test.invalid/delay/60' }

export type JobJson = Record<string, unknown> & { job_id: string; status: string }

export async function submit(client: Client, body: object = {}): Promise<JobJson> {
  const answer = await client.post('/v1/tryon', { ...IMAGES, ...body })
  expect(answer.status).toBe(202)
  return answer.json()
}

export const readJob = async (client: Client, jobId: string): Promise<JobJson> =>
  (await client.get(`/v1/jobs/${jobId}`)).json()

/** Keeps jobs that are submitted from now on pending. */
export function freeze() {
  const error = new Error('the queue is unavailable')
  vi.spyOn(env.TEST_JOBS, 'send').mockRejectedValue(error)
  return vi.spyOn(env.JOBS, 'send').mockRejectedValue(error)
}

/** Waits until a job is over. */
export const finished = (client: Client, jobId: string): Promise<JobJson> =>
  vi.waitUntil(
    async () => {
      const job = await readJob(client, jobId)
      return ['pending', 'processing'].includes(job.status) ? undefined : job
    },
    { timeout: 10_000, interval: 20 },
  )

export async function ledgerOf({ orgId }: TestOrganisation) {
  const answer = await operator.get(`/operator/organisations/${orgId}`)
  const { ledger } = await answer.json<{
    ledger: { granted: number; balance: number; reserved: number; consumed: number }
  }>()
  return ledger
}
