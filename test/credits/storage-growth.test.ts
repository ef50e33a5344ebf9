// The growth of the database per job, compared with the bytes that the daily storage allowance counts
// (docs/performance.md, "Growth of one organisation").
import { env } from 'cloudflare:workers'
import { describe, expect, inject, it } from 'vitest'
import { MAX_FAILURE_REASON_BYTES } from '../../src/domain/limits.ts'
import { storedBytes } from '../../src/credits/storage-allowance.ts'
import { addedEventIdOf, eventIdOf } from '../../src/platform/ids.ts'
import { processJob } from '../../src/jobs/processing/process.ts'
import { deliverEvent } from '../../src/webhooks/delivery/deliver.ts'
import { BASE } from '../support/client.ts'
import { fakeClock, pass } from '../support/retention.ts'
import { fakeUpstream } from '../support/upstream.ts'
import { newEndpoint } from '../support/webhooks.ts'
import { newOrganisation, submit } from '../support/world.ts'
import { jobsDb } from '../support/jobs-database.ts'

const upstream = fakeUpstream()
fakeClock()

/** Enough jobs for a measurement in whole pages. Fewer with eight deliveries per job. */
const JOBS = 60
const JOBS_WITH_WEBHOOK = 30
const ATTEMPTS = 8
/** Eight attempts, the most that any schedule has. */
const SCHEDULE = { WEBHOOK_RETRY_DELAYS: '1,1,1,1,1,1,1' }

const databaseBytes = async () => (await env.DB.prepare('SELECT 1').run()).meta.size_after

/** An https URL with `length` characters. */
const urlOf = (host: string, length: number) => {
  const start = `https://${host}/`
  return start + 'a'.repeat(Math.max(0, length - start.length))
}

/** Two secrets sign each delivery of the test. */
const rotate = (organisationId: string) =>
  jobsDb(organisationId)
    .prepare(
      `UPDATE added_webhook_endpoints SET secret_previous = secret, secret_previous_until = ?
       WHERE organisation_id = ? AND id = 'default'`,
    )
    .bind(Number.MAX_SAFE_INTEGER, organisationId)
    .run()

const failForLongestReason = (jobId: string) =>
  jobsDb(jobId)
    .prepare(
      `UPDATE jobs SET status = 'failed', error_code = 'garment_image_unsupported_format',
       failure_reason = ?, failure_audience = 'members' WHERE id = ?`,
    )
    .bind('x'.repeat(MAX_FAILURE_REASON_BYTES), jobId)
    .run()

interface Load {
  imageUrl: number
  /** Whether the pictures are deleted, which leaves an audit entry. */
  deleted?: boolean
  /** Whether the job fails with the longest reason. */
  failed?: boolean
  webhookUrl?: number
  /** The URL of an added endpoint. */
  addedUrl?: number
  /** The receiver's response; undefined makes every attempt fail without a response. */
  body?: () => BodyInit
}

/** More than is stored. */
const LONG_HEADERS = Object.fromEntries(
  Array.from({ length: 20 }, (_, n) => [`x-receiver-${n}`, 'x'.repeat(80)]),
)

const invalid = () => new Uint8Array(2_000).fill(0xff)
const LOADS: Record<string, Load & { sampled?: true }> = {
  'the shortest URLs, no webhook': { imageUrl: 20, sampled: true },
  'the shortest URLs, pictures deleted': { imageUrl: 20, deleted: true },
  'the shortest URLs, failed for the longest reason': { imageUrl: 20, failed: true },
  'the same, pictures deleted': { imageUrl: 20, failed: true, deleted: true, sampled: true },
  'URLs of 100 characters, no webhook': { imageUrl: 100 },
  'URLs of 1,000 characters, no webhook': { imageUrl: 1_000 },
  'the longest URLs, no webhook': { imageUrl: 2_048 },
  'a webhook that responds with 2 kB': {
    imageUrl: 100,
    webhookUrl: 100,
    body: () => 'x'.repeat(2_000),
  },
  'a webhook that responds with characters of four bytes': {
    imageUrl: 100,
    webhookUrl: 100,
    body: () => '😀'.repeat(500),
  },
  'a webhook with URLs of 700 characters': { imageUrl: 700, webhookUrl: 700, body: invalid },
  'an added endpoint': { imageUrl: 100, addedUrl: 100, body: invalid },
  'added endpoints with the longest URLs': { imageUrl: 100, addedUrl: 2_048, body: invalid },
  'the longest URLs and responses': {
    imageUrl: 2_048,
    webhookUrl: 2_048,
    body: invalid,
    sampled: true,
  },
}
/** All loads with `npm run test:all`. */
const chosenLoads = Object.entries(LOADS).filter(
  ([, { sampled }]) => sampled || inject('matrix') === 'all',
)

describe('the growth of the database per job', () => {
  it.each(chosenLoads)('does not exceed the allowance: %s', async (_name, load) => {
    const { imageUrl, webhookUrl, addedUrl, body, deleted, failed } = load
    const shop = await newOrganisation()
    if (webhookUrl !== undefined) await rotate(shop.orgId)
    const model = urlOf('a.test', imageUrl)
    const garment = urlOf('b.test', imageUrl)
    const hook = webhookUrl === undefined ? undefined : urlOf('hooks.test', webhookUrl)
    const added = addedUrl === undefined ? undefined : urlOf('added.test', addedUrl)
    const endpoint = added ? await newEndpoint(shop.orgId, { url: added }) : undefined
    for (const receiver of [hook, added]) {
      if (!receiver) continue
      upstream.on(receiver, () => {
        if (!body) throw new TypeError('x'.repeat(500))
        return new Response(body(), { status: 500, headers: LONG_HEADERS })
      })
    }
    const attempts = hook || added ? ATTEMPTS : 0
    const count = attempts > 0 ? JOBS_WITH_WEBHOOK : JOBS
    const before = await databaseBytes()
    for (let n = 0; n < count; n++) {
      const { job_id: jobId } = await submit(shop.test, {
        model_image_url: model,
        garment_image_url: garment,
        ...(hook && { webhook_url: hook }),
      })
      await processJob({ env, jobId, mode: 'test' })
      if (failed) await failForLongestReason(jobId)
      for (let attempt = 0; attempt < attempts; attempt++) {
        const eventId = endpoint ? addedEventIdOf(jobId, endpoint.id) : eventIdOf(jobId)
        await deliverEvent({ env: { ...env, ...SCHEDULE }, eventId })
        pass(3_000)
      }
      if (deleted) {
        expect((await shop.test.delete(`/v1/jobs/${jobId}/output`)).status).toBe(204)
      }
    }
    const grown = ((await databaseBytes()) - before) / count
    const counted = storedBytes({
      imageUrlsLength: model.length + garment.length + BASE.length,
      requestIdLength: crypto.randomUUID().length,
      webhookUrlLength: hook?.length ?? null,
      addedUrlLengths: added ? [added.length] : [],
    })
    expect(grown, `of ${counted} counted`).toBeLessThanOrEqual(counted)
  })
})
