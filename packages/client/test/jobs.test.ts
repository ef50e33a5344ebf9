// Submitting, waiting, listing and cancelling, with a fake `fetch`.
import { ApiError, JobError, TimeoutError, type Job } from '../src/index.ts'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  abortedLater,
  errorResponse,
  expectError,
  fakeService,
  IMAGES,
  jobResponse,
  networkError,
  rateLimited,
  settle,
  stalled,
  submitted,
} from './fake-service.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const preferences = (requests: { headers: Headers }[]) =>
  requests.map(({ headers }) => headers.get('Prefer'))

describe('tryOn.run', () => {
  it('returns the job that ends within the first request', async () => {
    const { client, requests } = fakeService([jobResponse()])
    expect(await settle(client.tryOn.run(IMAGES))).toMatchObject({ status: 'completed' })
    expect(preferences(requests)).toEqual(['wait=30'])
  })

  it('waits for a job that takes longer', async () => {
    const { client, requests } = fakeService([
      submitted(),
      jobResponse({ status: 'processing' }),
      jobResponse(),
    ])
    expect(await settle(client.tryOn.run(IMAGES))).toMatchObject({ status: 'completed' })
    expect(preferences(requests)).toEqual(['wait=30', 'wait=30', 'wait=30'])
    expect(requests[2]?.path).toBe('/v1/jobs/job_1')
  })

  it('throws a JobError when the picture of a repeated submission was deleted', async () => {
    const { client } = fakeService([jobResponse({ output_url: null })])
    const message = expect.stringContaining('deleted')
    const run = client.tryOn.run(IMAGES, { idempotencyKey: 'order-1' })
    await expectError(run, JobError, { jobId: 'job_1', code: null, message })
  })

  it('reports the job at once and each change of its status', async () => {
    const { client, requests } = fakeService([
      submitted(),
      jobResponse({ status: 'pending' }),
      jobResponse({ status: 'pending' }),
      jobResponse({ status: 'processing' }),
      jobResponse(),
    ])
    const statuses: string[] = []
    const onUpdate = ({ status }: Job) => void statuses.push(status)
    await settle(client.tryOn.run(IMAGES, { onUpdate }))
    expect(statuses).toEqual(['pending', 'processing', 'completed'])
    expect(preferences(requests)).toEqual([null, null, 'wait=5', 'wait=5', 'wait=5'])
  })

  it.each([
    ['failed', 'person_not_found', 'Job job_1 failed: person_not_found.'],
    ['failed', 'new_code', 'Job job_1 failed: new_code.'],
    ['cancelled', null, 'Job job_1 ended with the status cancelled.'],
  ])('throws a JobError for %s %s', async (status, code, message) => {
    const response = jobResponse({ status, error_code: code } as Partial<Job>)
    const { client } = fakeService([response])
    const job = { job_id: 'job_1', status }
    await expectError(client.tryOn.run(IMAGES), JobError, { code, message, jobId: 'job_1', job })
  })

  it('throws a TimeoutError with the job id', async () => {
    const { client } = fakeService([submitted(), stalled])
    const message = 'Job job_1 has not ended within 40000 ms.'
    const run = client.tryOn.run(IMAGES, { timeoutMs: 40_000 })
    await expectError(run, TimeoutError, { jobId: 'job_1', message })
  })

  it('throws errors with the id of a job that the service accepted', async () => {
    const { client } = fakeService([submitted(), errorResponse(401, 'api_key_revoked')])
    await expectError(client.tryOn.run(IMAGES), ApiError, { status: 401, jobId: 'job_1' })
    const rejected = fakeService([errorResponse(402, 'insufficient_credits')])
    expect(await settle(rejected.client.tryOn.run(IMAGES))).toMatchObject({ jobId: null })
  })

  it('leaves time for the response that has the job id', async () => {
    const { client, requests } = fakeService([submitted(), stalled])
    await settle(client.tryOn.run(IMAGES, { timeoutMs: 8_000 }))
    expect(preferences(requests)[0]).toBe('wait=3')
  })

  it('throws a TimeoutError without a job id when the submission gets no response', async () => {
    const { client } = fakeService([stalled])
    const run = client.tryOn.run(IMAGES, { timeoutMs: 2_000 })
    await expectError(run, TimeoutError, { jobId: null })
  })

  it.each([
    ['submission', [stalled]],
    ['wait', [submitted(), stalled]],
  ])('can be aborted during the %s', async (_, steps) => {
    const { client } = fakeService(steps)
    const { signal, reason } = abortedLater()
    expect(await settle(client.tryOn.run(IMAGES, { signal }))).toBe(reason)
  })
})

describe('jobs.wait', () => {
  it('returns a failed job', async () => {
    const { client } = fakeService([jobResponse({ status: 'failed' })])
    expect(await settle(client.jobs.wait('job_1'))).toMatchObject({ status: 'failed' })
  })

  it('continues after a temporary error', async () => {
    const { client } = fakeService([networkError(), errorResponse(500, 'x'), jobResponse()])
    expect(await settle(client.jobs.wait('job_1'))).toMatchObject({ status: 'completed' })
  })

  it('continues after more temporary errors than maxRetries, until the time limit', async () => {
    const failures = [rateLimited('90'), errorResponse(503, 'x'), networkError(), networkError()]
    const patient = fakeService([...failures, jobResponse()], { maxRetries: 0 })
    expect(await settle(patient.client.jobs.wait('job_1'))).toMatchObject({ status: 'completed' })
    const { client, requests } = fakeService([networkError(), rateLimited('90')], { maxRetries: 0 })
    const wait = client.jobs.wait('job_1', { timeoutMs: 60_000 })
    await expectError(wait, TimeoutError, { jobId: 'job_1', cause: { status: 429 } })
    expect(requests).toHaveLength(2)
  })

  it('pauses after a temporary error with Retry-After 0', async () => {
    const { client, requests } = fakeService(
      Array.from({ length: 20 }, () => errorResponse(503, 'x', { 'Retry-After': '0' })),
    )
    await settle(client.jobs.wait('job_1', { timeoutMs: 10_000 }))
    expect(requests.length).toBeLessThan(9)
  })

  it('throws the reason of the signal during a pause', async () => {
    const { client } = fakeService([rateLimited('30')])
    const { signal, reason } = abortedLater()
    expect(await settle(client.jobs.wait('job_1', { signal }))).toBe(reason)
  })

  it('throws an error that is not temporary, with the job id', async () => {
    const { client } = fakeService([errorResponse(404, 'job_not_found')])
    const error = await settle(client.jobs.wait('job_1'))
    expect(error).toMatchObject({ code: 'job_not_found', jobId: 'job_1' })
  })

  it('does not poll faster than every 2 seconds, also with an unknown status', async () => {
    const steps = Array.from({ length: 5 }, () => jobResponse({ status: 'archived' }))
    const { client, requests } = fakeService([...steps, stalled])
    const error = await settle(client.jobs.wait('job_1', { timeoutMs: 9_000 }))
    expect(error).toMatchObject({ name: 'TimeoutError', jobId: 'job_1' })
    expect(requests).toHaveLength(5)
  })
})

describe('jobs.cancel', () => {
  const cancelled = () =>
    Response.json({ job_id: 'job_1', status: 'refunded', refunded_credits: 1 })
  const conflict = () => errorResponse(409, 'job_not_cancellable')

  it('returns the refund', async () => {
    const { client, requests } = fakeService([cancelled()])
    expect(await client.jobs.cancel('job_1')).toMatchObject({ refunded_credits: 1 })
    expect(requests[0]).toMatchObject({ method: 'DELETE', path: '/v1/jobs/job_1' })
  })

  it('returns the refund of an attempt whose response was lost', async () => {
    const refunded = jobResponse({ status: 'refunded', mode: 'live' })
    const { client } = fakeService([networkError(), conflict(), refunded])
    const expected = { job_id: 'job_1', status: 'refunded', refunded_credits: 1 }
    expect(await settle(client.jobs.cancel('job_1'))).toEqual(expected)
  })

  it('throws when the job was not cancelled by the lost attempt', async () => {
    const processing = jobResponse({ status: 'processing' })
    const { client } = fakeService([networkError(), conflict(), processing])
    await expectError(client.jobs.cancel('job_1'), ApiError, { code: 'job_not_cancellable' })
  })

  it.each([
    ['no attempt was lost', []],
    ['the first attempt was rejected', [rateLimited()]],
  ])('throws when %s', async (_, before) => {
    const { client, requests } = fakeService([...before, conflict()])
    expect(await settle(client.jobs.cancel('job_1'))).toMatchObject({ status: 409 })
    expect(requests.every(({ method }) => method === 'DELETE')).toBe(true)
  })
})

describe('jobs.list', () => {
  const page = (ids: string[], cursor: string | null) =>
    Response.json({
      jobs: ids.map((id) => ({ job_id: id })),
      next_cursor: cursor,
      has_more: cursor !== null,
    })

  it('requests a page when it is needed', async () => {
    const { client, requests } = fakeService([page(['a', 'b'], 'c1'), page(['c'], null)])
    const jobs = client.jobs.list({ status: 'failed' })
    expect(requests).toHaveLength(0)
    const seen: [string, number][] = []
    for await (const job of jobs) seen.push([job.job_id, requests.length])
    expect(seen).toEqual([
      ['a', 1],
      ['b', 1],
      ['c', 2],
    ])
    expect(requests.map(({ path }) => path)).toEqual([
      '/v1/jobs?status=failed',
      '/v1/jobs?status=failed&cursor=c1',
    ])
  })

  it('requests no further page after the loop ends', async () => {
    const { client, requests } = fakeService([page(['a', 'b'], 'c1')])
    for await (const job of client.jobs.list()) if (job.job_id === 'b') break
    expect(requests.map(({ path }) => path)).toEqual(['/v1/jobs'])
  })

  it('rejects an invalid date', async () => {
    const { client, requests } = fakeService([])
    const page = client.jobs.list({ created_after: new Date(Number.NaN) }).page()
    await expect(page).rejects.toThrow(RangeError)
    expect(requests).toEqual([])
  })

  it('reads one page', async () => {
    const { client, requests } = fakeService([page(['a'], 'c2')])
    const result = await client.jobs
      .list({
        created_after: new Date(Date.UTC(2026, 10, 1)),
        created_before: '2026-11-22T00:00:00Z',
        workspace_id: undefined,
        limit: 1,
        cursor: 'c1',
      })
      .page()
    expect(result).toMatchObject({ jobs: [{ job_id: 'a' }], next_cursor: 'c2', has_more: true })
    expect(new URLSearchParams(requests[0]?.path.split('?')[1])).toEqual(
      new URLSearchParams({
        created_after: '2026-11-01T00:00:00.000Z',
        created_before: '2026-11-22T00:00:00Z',
        limit: '1',
        cursor: 'c1',
      }),
    )
  })
})

describe('uploads.create', () => {
  it.each([
    ['a Uint8Array', new Uint8Array([1, 2, 3])],
    ['a part of a buffer', new Uint8Array([0, 1, 2, 3]).subarray(1)],
    ['an ArrayBuffer', new Uint8Array([1, 2, 3]).buffer],
    ['a Blob', new Blob([new Uint8Array([1, 2, 3])])],
  ])('sends the bytes of %s', async (_, bytes) => {
    const upload = { url: 'https://try-on.example/inputs/1', expires_at: '2026-11-23T00:00:00Z' }
    const { client, requests } = fakeService([Response.json(upload, { status: 201 })])
    expect(await client.uploads.create(bytes)).toEqual(upload)
    const sent = await new Response(requests[0]?.body as BodyInit).arrayBuffer()
    expect([...new Uint8Array(sent)]).toEqual([1, 2, 3])
  })
})
