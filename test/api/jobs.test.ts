// GET /v1/jobs/{jobId}, GET /v1/jobs and DELETE /v1/jobs/{jobId}.
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { newId } from '../../src/ids.ts'
import { Organisation } from '../../src/organisation/organisation.ts'
import { codeOf } from '../support/client.ts'
import {
  finished,
  failJobQueues,
  ledgerOf,
  newOrganisation,
  readJob,
  submit,
} from '../support/world.ts'
import type { TestOrganisation } from '../support/world.ts'

describe('GET /v1/jobs/{jobId}', () => {
  it('returns all fields of a completed test job', async () => {
    const shop = await newOrganisation()
    const { job_id } = await submit(shop.test)
    const job = await finished(shop.test, job_id)
    expect(job).toMatchObject({
      status: 'completed',
      mode: 'test',
      credits_consumed: 0,
      error_code: null,
      completed_at: expect.stringMatching(/^\d{4}-.*Z$/),
      duration_ms: expect.any(Number),
    })
    expect(job['output_url']).toMatch(
      new RegExp(
        `^https://try-on\\.test/outputs/${job_id}\\.png\\?expires=\\d+&signature=[\\w-]{43}$`,
      ),
    )
  })

  it('returns a failed job with its code and without completed_at', async () => {
    const shop = await newOrganisation()
    const { job_id } = await submit(shop.test, {
      model_image_url: 'https://test.invalid/fail/person_not_found',
    })
    expect(await finished(shop.test, job_id)).toMatchObject({
      status: 'failed',
      error_code: 'person_not_found',
      credits_consumed: null,
      output_url: null,
      completed_at: null,
      duration_ms: expect.any(Number),
    })
  })

  it('returns 403 for another organisation and 404 for an unknown id', async () => {
    const [shop, other] = [await newOrganisation(), await newOrganisation()]
    const { job_id } = await submit(shop.test)
    const foreign = await other.test.get(`/v1/jobs/${job_id}`)
    expect(foreign.status).toBe(403)
    expect(await codeOf(foreign)).toBe('forbidden')
    for (const id of [
      newId('job'),
      'nonsense',
      job_id.toUpperCase(),
      '%00',
      '%E0%A4%A',
      'ü',
      "' or 1=1 --",
      'x'.repeat(5_000),
      newId('org'),
    ]) {
      const response = await shop.test.get(`/v1/jobs/${id}`)
      expect(response.status, id).toBe(404)
      expect(await codeOf(response)).toBe('job_not_found')
    }
  })

  it('returns a job for every key of its organisation', async () => {
    const shop = await newOrganisation()
    const { job_id } = await submit(shop.test)
    expect((await shop.live.get(`/v1/jobs/${job_id}`)).status).toBe(200)
  })

  it('waits for the preferred time, or until the job ends', async () => {
    const shop = await newOrganisation()
    const { job_id } = await submit(shop.test, {
      model_image_url: 'https://test.invalid/delay/1',
    })
    const response = await shop.test.get(`/v1/jobs/${job_id}`, { Prefer: 'wait=20' })
    expect(response.headers.get('Preference-Applied')).toBe('wait=20')
    const job = await response.json<{ status: string; duration_ms: number }>()
    expect(job.status).toBe('completed')
    expect(job.duration_ms).toBeGreaterThanOrEqual(900)
  })

  it.each(['wait=soon', 'wait=-1', 'return=minimal', ''])('ignores Prefer: %s', async (prefer) => {
    const shop = await newOrganisation()
    const { job_id } = await submit(shop.test, {
      model_image_url: 'https://test.invalid/delay/9',
    })
    const response = await shop.test.get(`/v1/jobs/${job_id}`, { Prefer: prefer })
    expect(response.status).toBe(200)
    expect(response.headers.get('Preference-Applied')).toBeNull()
  })
})

describe('GET /v1/jobs', () => {
  let shop: TestOrganisation
  let submitted: string[]

  beforeEach(async () => {
    shop = await newOrganisation()
    failJobQueues()
    submitted = []
    for (let i = 0; i < 7; i++) submitted.push((await submit(shop.test)).job_id)
  })

  interface List {
    jobs: { job_id: string; status: string }[]
    next_cursor: string | null
    has_more: boolean
  }
  const list = async (query = ''): Promise<List> => (await shop.test.get(`/v1/jobs${query}`)).json()
  const idsOf = ({ jobs }: List) => jobs.map(({ job_id }) => job_id)

  it('lists newest first, without webhook fields', async () => {
    const page = await list()
    expect(idsOf(page)).toEqual(submitted.toReversed())
    expect(page).toMatchObject({ next_cursor: null, has_more: false })
    expect(page.jobs[0]).not.toHaveProperty('webhook_url')
    expect(page.jobs[0]).not.toHaveProperty('webhook_status')
  })

  it('returns each job on exactly one page while new jobs arrive', async () => {
    const seen: string[] = []
    let cursor: string | null = null
    do {
      const page: List = await list(`?limit=3${cursor === null ? '' : `&cursor=${cursor}`}`)
      seen.push(...idsOf(page))
      expect(page.has_more).toBe(page.next_cursor !== null)
      cursor = page.next_cursor
      await submit(shop.test)
    } while (cursor !== null)
    expect(seen).toEqual(submitted.toReversed())
  })

  it('returns has_more false when a page ends at the last job', async () => {
    expect(await list('?limit=7')).toMatchObject({ next_cursor: null, has_more: false })
    expect(await list('?limit=6')).toMatchObject({ has_more: true })
  })

  it('filters by status and by workspace', async () => {
    await shop.test.delete(`/v1/jobs/${submitted[2]}`)
    expect(idsOf(await list('?status=refunded'))).toEqual([submitted[2]])
    expect(idsOf(await list('?status=pending'))).toHaveLength(6)
    expect(idsOf(await list('?status=completed'))).toEqual([])
    expect(idsOf(await list(`?workspace_id=${shop.workspaceId}&status=refunded`))).toHaveLength(1)
    const other = await newOrganisation()
    for (const id of [other.workspaceId, 'nonsense', '%00', '']) {
      expect(await list(`?workspace_id=${id}`), id).toMatchObject({ jobs: [], has_more: false })
    }
  })

  it('returns no jobs of another organisation', async () => {
    const other = await newOrganisation()
    expect(await (await other.test.get('/v1/jobs')).json()).toMatchObject({ jobs: [] })
  })

  it.each(['0', '101', '-1', '1.5', 'ten', '', '1e1', ' 5', '99999999999'])(
    'rejects limit=%j',
    async (limit) => {
      const response = await shop.test.get(`/v1/jobs?limit=${encodeURIComponent(limit)}`)
      expect(response.status).toBe(422)
      const { error } = await response.json<{ error: { code: string; message: string } }>()
      expect(error.code).toBe('validation_error')
      expect(error.message).toMatch(/^limit must be a whole number from 1 to 100/)
    },
  )

  it.each(['limit=1', 'limit=100', 'limit=020', 'unknown=1', 'limit=5&other='])(
    'accepts %s',
    async (query) => {
      expect((await shop.test.get(`/v1/jobs?${query}`)).status).toBe(200)
    },
  )

  it.each([
    'status=done',
    'status=',
    'status=pending&status=failed',
    'limit=1&limit=2',
    'cursor=nonsense',
    'cursor=',
    'cursor=%00',
  ])('rejects %s', async (query) => {
    const response = await shop.test.get(`/v1/jobs?${query}`)
    expect(response.status).toBe(422)
    const { error } = await response.json<{ error: { message: string } }>()
    expect(error.message).toMatch(new RegExp(`^${query.split('=')[0]} must`))
  })

  it('accepts a cursor only for the list that it was created for', async () => {
    const cursor = (await list('?limit=2&status=pending')).next_cursor!
    expect((await shop.test.get(`/v1/jobs?limit=5&status=pending&cursor=${cursor}`)).status).toBe(
      200,
    )
    const other = await newOrganisation()
    const forged = cursor.replace(/^job_\w+/, submitted[0]!)
    for (const [client, query] of [
      [shop.test, `cursor=${cursor}`],
      [shop.test, `status=failed&cursor=${cursor}`],
      [shop.test, `status=pending&workspace_id=${shop.workspaceId}&cursor=${cursor}`],
      [shop.test, `status=pending&cursor=${forged}`],
      [shop.test, `status=pending&cursor=${cursor}x`],
      [other.test, `status=pending&cursor=${cursor}`],
    ] as const) {
      expect((await client.get(`/v1/jobs?${query}`)).status, query).toBe(422)
    }
  })
})

describe('DELETE /v1/jobs/{jobId}', () => {
  it('refunds a pending live job, once', async () => {
    const shop = await newOrganisation({ credits: 1 })
    failJobQueues()
    const { job_id } = await submit(shop.live)
    const response = await shop.live.delete(`/v1/jobs/${job_id}`)
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({ job_id, status: 'refunded', refunded_credits: 1 })
    expect(await ledgerOf(shop)).toEqual({ granted: 1, balance: 1, reserved: 0, consumed: 0 })
    expect(await readJob(shop.live, job_id)).toMatchObject({
      status: 'refunded',
      credits_consumed: null,
      completed_at: null,
    })
    const again = await shop.live.delete(`/v1/jobs/${job_id}`)
    expect(again.status).toBe(409)
    expect(await codeOf(again)).toBe('job_not_cancellable')
    expect(await ledgerOf(shop)).toMatchObject({ balance: 1 })
  })

  it('refunds no credits for a test job', async () => {
    const shop = await newOrganisation()
    failJobQueues()
    const { job_id } = await submit(shop.test)
    const response = await shop.test.delete(`/v1/jobs/${job_id}`)
    expect(await response.json()).toMatchObject({ status: 'refunded', refunded_credits: 0 })
  })

  it('refunds once for simultaneous cancellations', async () => {
    const shop = await newOrganisation({ credits: 1 })
    failJobQueues()
    const { job_id } = await submit(shop.live)
    const responses = await Promise.all(
      Array.from({ length: 6 }, () => shop.live.delete(`/v1/jobs/${job_id}`)),
    )
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(responses.filter(({ status }) => status === 409)).toHaveLength(5)
    expect(await ledgerOf(shop)).toEqual({ granted: 1, balance: 1, reserved: 0, consumed: 0 })
  })

  it('returns 409 once processing has started, and when the job has ended', async () => {
    const shop = await newOrganisation()
    const slow = await submit(shop.test, { garment_image_url: 'https://test.invalid/delay/20' })
    await vi.waitUntil(async () => (await readJob(shop.test, slow.job_id)).status === 'processing')
    expect((await shop.test.delete(`/v1/jobs/${slow.job_id}`)).status).toBe(409)
    const quick = await submit(shop.test)
    await finished(shop.test, quick.job_id)
    expect((await shop.test.delete(`/v1/jobs/${quick.job_id}`)).status).toBe(409)
  })

  it('returns 403 for another organisation and 404 for an unknown id', async () => {
    const [shop, other] = [await newOrganisation(), await newOrganisation()]
    failJobQueues()
    const { job_id } = await submit(shop.test)
    expect((await other.test.delete(`/v1/jobs/${job_id}`)).status).toBe(403)
    expect((await readJob(shop.test, job_id)).status).toBe('pending')
    expect((await shop.test.delete(`/v1/jobs/${newId('job')}`)).status).toBe(404)
    expect((await shop.test.delete('/v1/jobs/nonsense')).status).toBe(404)
  })

  it('returns the refund even when the credits cannot be settled immediately', async () => {
    const shop = await newOrganisation({ credits: 1 })
    failJobQueues()
    const { job_id } = await submit(shop.live)
    const release = vi.spyOn(Organisation.prototype, 'release').mockImplementation(() => {
      throw new Error('the object is unavailable')
    })
    expect((await shop.live.delete(`/v1/jobs/${job_id}`)).status).toBe(200)
    expect(release).toHaveBeenCalledOnce()
    expect(await ledgerOf(shop)).toMatchObject({ balance: 0, reserved: 1 }) // the alarm settles it
  })
})
