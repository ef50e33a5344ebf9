// GET /v1/jobs/{jobId}, GET /v1/jobs and DELETE /v1/jobs/{jobId}.
import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { processJob } from '../../src/jobs/processing/process.ts'
import { newId } from '../../src/platform/ids.ts'
import { Organisation } from '../../src/organisation-object.ts'
import { codeOf, errorOf } from '../support/client.ts'
import { InjectedError } from '../support/injected-error.ts'
import { spyPrepare } from '../support/jobs-database.ts'
import {
  finished,
  failJobQueues,
  ledgerOf,
  newOrganisation,
  readJob,
  submit,
  type TestOrganisation,
} from '../support/world.ts'

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

  it('reads an unfinished job at most five times in a wait of 30 seconds', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const shop = await newOrganisation()
    failJobQueues()
    const { job_id } = await submit(shop.test)
    const startedAt = Date.now()
    vi.spyOn(scheduler, 'wait').mockImplementation(
      async (ms) => void vi.setSystemTime(Date.now() + ms),
    )
    const prepare = spyPrepare()
    const response = await shop.test.get(`/v1/jobs/${job_id}`, { Prefer: 'wait=30' })
    const waitedMs = Date.now() - startedAt
    vi.useRealTimers()
    expect(await response.json()).toMatchObject({ status: 'pending' })
    expect(waitedMs).toBeGreaterThanOrEqual(30_000)
    const reads = prepare.mock.calls.filter(([sql]) => /from "jobs"/.test(sql))
    // The first one answers a request without a wait.
    expect(reads.length - 1).toBeLessThanOrEqual(5)
  })

  describe('with Prefer: wait', () => {
    /** Makes waits longer than a test, so that only a signal can end them. */
    function stopTime() {
      const wait = scheduler.wait.bind(scheduler)
      const waits = vi
        .spyOn(scheduler, 'wait')
        .mockImplementation((_, options) => wait(3_600_000, options))
      const prepare = spyPrepare()
      const reads = () =>
        prepare.mock.calls.filter(([sql]) => /left join "webhook_events"/.test(sql))
      return { waits, reads: () => reads().length }
    }

    async function waiting(shop: TestOrganisation, waits: { mock: { calls: unknown[][] } }) {
      const { job_id: jobId } = await submit(shop.test)
      const before = waits.mock.calls.length
      const response = shop.test.get(`/v1/jobs/${jobId}`, { Prefer: 'wait=30' })
      await vi.waitUntil(() => waits.mock.calls.length > before)
      return { jobId, response }
    }

    it('is answered by the signal of the end, with two reads', async () => {
      const shop = await newOrganisation()
      failJobQueues()
      const { waits, reads } = stopTime()
      const { jobId, response } = await waiting(shop, waits)
      expect(reads()).toBe(1)
      await processJob({ env, jobId, mode: 'test' })
      expect(await (await response).json()).toMatchObject({ status: 'completed' })
      expect(reads()).toBe(2)
    })

    it('is answered by the cancellation of the job', async () => {
      const shop = await newOrganisation()
      failJobQueues()
      const { waits } = stopTime()
      const { jobId, response } = await waiting(shop, waits)
      expect((await shop.test.delete(`/v1/jobs/${jobId}`)).status).toBe(200)
      expect(await (await response).json()).toMatchObject({ status: 'refunded' })
    })

    it('finds an end that came just before the wait', async () => {
      const shop = await newOrganisation()
      failJobQueues()
      const { job_id: jobId } = await submit(shop.test)
      const stub = env.ORGANISATION.getByName(shop.orgId)
      await stub.jobsEnded([jobId])
      await stub.waitForEnd(jobId, 30_000)
    })

    it('reads the job later when the signal is lost', async () => {
      const shop = await newOrganisation()
      failJobQueues()
      const { job_id: jobId } = await submit(shop.test)
      const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
      vi.spyOn(Organisation.prototype, 'waitForEnd').mockImplementation(() => {
        throw new InjectedError('evicted')
      })
      vi.spyOn(scheduler, 'wait').mockImplementationOnce(async () => {
        await processJob({ env, jobId, mode: 'test' })
      })
      const response = await shop.test.get(`/v1/jobs/${jobId}`, { Prefer: 'wait=30' })
      expect(await response.json()).toMatchObject({ status: 'completed' })
      expect(warn.mock.calls.join()).toContain('end of the job not awaited')
    })
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

  describe('with created_after and created_before', () => {
    const at = async (position: number, addMs = 0) => {
      const job = await readJob(shop.test, submitted[position]!)
      return new Date(Date.parse(String(job['created_at'])) + addMs).toISOString()
    }
    /** The submitted jobs that were created in a range of time, newest first. */
    const expected = async (from: string, to: string) => {
      const all = await Promise.all(submitted.map(async (id, n) => ({ id, at: await at(n) })))
      return all
        .filter((job) => job.at >= from && job.at < to)
        .map(({ id }) => id)
        .toReversed()
    }
    const FOREVER = '9999-12-31T23:59:59.999Z'

    it('includes the first instant and excludes the last one', async () => {
      const [from, to] = [await at(2), await at(5)]
      expect(idsOf(await list(`?created_after=${from}`))).toEqual(await expected(from, FOREVER))
      expect(idsOf(await list(`?created_before=${to}`))).toEqual(await expected('', to))
      const range = await list(`?created_after=${from}&created_before=${await at(5, 1)}`)
      expect(idsOf(range)).toEqual(await expected(from, await at(5, 1)))
      expect(idsOf(range)).toContain(submitted[5])
      expect(idsOf(range)).toContain(submitted[2])
    })

    it('filters jobs by their created_at to the millisecond', async () => {
      for (const [n, id] of submitted.entries()) {
        const range = `?created_after=${await at(n)}&created_before=${await at(n, 1)}`
        expect(idsOf(await list(range))).toContain(id)
        expect(idsOf(await list(`?created_after=${await at(n, 1)}`))).not.toContain(id)
        expect(idsOf(await list(`?created_before=${await at(n)}`))).not.toContain(id)
      }
    })

    it('combines them with the other filters and with pages', async () => {
      await shop.test.delete(`/v1/jobs/${submitted[3]}`)
      const range = `created_after=${await at(1)}&created_before=${await at(6, 1)}`
      const filters = `?${range}&status=pending&workspace_id=${shop.workspaceId}&limit=2`
      const seen: string[] = []
      let cursor: string | null = null
      do {
        const page: List = await list(`${filters}${cursor === null ? '' : `&cursor=${cursor}`}`)
        seen.push(...idsOf(page))
        cursor = page.next_cursor
      } while (cursor !== null)
      const inRange = await expected(await at(1), FOREVER)
      expect(seen).toEqual(inRange.filter((id) => id !== submitted[3]))
    })

    it('accepts a cursor only with the same range', async () => {
      const from = await at(0)
      const cursor = (await list(`?limit=2&created_after=${from}`)).next_cursor!
      const statusOf = async (query: string) =>
        (await shop.test.get(`/v1/jobs?cursor=${cursor}${query}`)).status
      expect(await statusOf(`&created_after=${from}`)).toBe(200)
      expect(await statusOf(`&created_after=${from.replace('Z', '%2B00:00')}`)).toBe(200)
      expect(await statusOf('')).toBe(422)
      expect(await statusOf(`&created_before=${from}`)).toBe(422)
      expect(await statusOf(`&created_after=${await at(0, -1)}`)).toBe(422)
      expect(await statusOf(`&created_after=${from}&created_before=${FOREVER}`)).toBe(422)
    })

    it('understands time zones, fractions of a millisecond and distant years', async () => {
      const last = Date.parse(await at(6))
      const zoned = new Date(last + 330 * 60_000).toISOString().replace('Z', '%2B05:30')
      expect(idsOf(await list(`?created_after=${zoned}`))).toContain(submitted[6])
      const later = new Date(last).toISOString().replace('Z', '001Z')
      expect(idsOf(await list(`?created_after=${later}`))).not.toContain(submitted[6])
      expect(idsOf(await list(`?created_before=${later}`))).toContain(submitted[6])
      const all = `?created_after=0001-01-01T00:00:00Z&created_before=${FOREVER}`
      expect(idsOf(await list(all))).toHaveLength(7)
    })

    it.each(['created_after', 'created_before'])('rejects malformed values of %s', async (name) => {
      for (const value of [
        '',
        'yesterday',
        '2026-01-31',
        '2026-01-31T09:00:00',
        '2026-01-31T09:00Z',
        '2026-02-30T09:00:00Z',
        '2026-01-31T09:00:00+01:00',
        '1767225600000',
      ]) {
        const response = await shop.test.get(`/v1/jobs?${name}=${value}`)
        expect(response.status, value).toBe(422)
        expect((await errorOf(response)).message).toBe(
          `${name} must be an ISO 8601 instant with a time zone, such as 2026-01-31T09:00:00Z (encode + as %2B).`,
        )
      }
      const repeated = `${name}=2026-01-31T09:00:00Z&${name}=2026-02-01T09:00:00Z`
      const response = await shop.test.get(`/v1/jobs?${repeated}`)
      expect((await errorOf(response)).message).toBe(`${name} must not be repeated.`)
    })

    it('rejects a range without an instant', async () => {
      const now = new Date().toISOString()
      for (const end of [now, '2026-01-01T00:00:00Z']) {
        const response = await shop.test.get(`/v1/jobs?created_after=${now}&created_before=${end}`)
        expect(response.status).toBe(422)
        const { message } = await errorOf(response)
        expect(message).toBe('created_after must be before created_before.')
      }
    })
  })

  it('names unknown parameters in Ignored-Fields', async () => {
    const ignored = async (query: string) =>
      (await shop.test.get(`/v1/jobs?${query}`)).headers.get('Ignored-Fields')
    expect(await ignored('limit=1&created_after=2026-01-01T00:00:00Z')).toBeNull()
    expect(await ignored('created_afer=2026-01-01T00:00:00Z&limit=1&State=x')).toBe(
      'created_afer, State',
    )
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
      throw new InjectedError('the object is unavailable')
    })
    expect((await shop.live.delete(`/v1/jobs/${job_id}`)).status).toBe(200)
    expect(release).toHaveBeenCalledOnce()
    expect(await ledgerOf(shop)).toMatchObject({ balance: 0, reserved: 1 }) // the alarm settles it
  })
})
