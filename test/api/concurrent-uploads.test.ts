// The limit of uploads that an isolate receives at a time.
import { env } from 'cloudflare:workers'
import { afterEach, expect, it, vi } from 'vitest'
import { errorOf } from '../support/client.ts'
import { png } from '../support/picture.ts'
import { postUpload } from '../support/upload.ts'
import { newOrganisation } from '../support/world.ts'

/** How long the service waits for a body, and for 100 kB of it, ms. */
const LIMIT_MS = 60_000
const RATE_MS = 5_000

afterEach(() => void vi.useRealTimers())

const newKey = async () => (await newOrganisation()).keys.test

/** Starts an upload whose body does not end by itself. */
function openUpload(key: string) {
  const { promise, resolve } = Promise.withResolvers<ReadableStreamDefaultController>()
  const body = new ReadableStream({ start: resolve })
  const response = postUpload(key, body)
  const end = async () => {
    const controller = await promise
    controller.enqueue(png())
    controller.close()
    return response
  }
  return { response, end }
}

/** Starts uploads and waits until the service reads them. The rate is not measured: the machine may be busy. */
async function startUploads(keys: string[]) {
  const { setTimeout: start } = globalThis
  const timer = vi
    .spyOn(globalThis, 'setTimeout')
    .mockImplementation((callback, ms) => start(callback, ms === RATE_MS ? LIMIT_MS : ms))
  const timers = () => timer.mock.calls.filter(([, ms]) => ms === LIMIT_MS)
  const uploads = keys.map(openUpload)
  await vi.waitUntil(() => timers().length === uploads.length)
  return uploads
}

/** Records the keys of stored uploads. A job of an earlier file may store its output at the same time. */
function recordUploads() {
  const put = vi.spyOn(env.IMAGES, 'put')
  return () => put.mock.calls.map(([key]) => key).filter((key) => key.startsWith('uploads/'))
}

/** Starts uploads of three organisations, which use all slots. */
const fillSlots = async () => startUploads(await Promise.all([newKey(), newKey(), newKey()]))

it('receives three uploads at a time, and the next one when one of them has ended', async () => {
  const uploads = await fillSlots()
  const key = await newKey()
  const stored = recordUploads()
  const wait = vi.spyOn(scheduler, 'wait')
  const fourth = postUpload(key)
  await vi.waitUntil(() => wait.mock.calls.length > 3)
  expect(stored()).toEqual([])
  expect((await uploads[1]?.end())?.status).toBe(201)
  expect((await fourth).status).toBe(201)
  for (const { end } of [uploads[0]!, uploads[2]!]) expect((await end()).status).toBe(201)
})

it('receives one upload of an organisation at a time, which delays no other organisation', async () => {
  const key = await newKey()
  const [slow] = await startUploads([key])
  const waiting = [openUpload(key), openUpload(key), openUpload(key)]
  const stored = recordUploads()
  const own = postUpload(key)
  expect((await postUpload(await newKey())).status).toBe(201)
  expect(stored()).toHaveLength(1)
  // Their order is open.
  const responses = await Promise.all([slow!, ...waiting].map(({ end }) => end()))
  expect(responses.map(({ status }) => status)).toEqual([201, 201, 201, 201])
  expect((await own).status).toBe(201)
})

it('returns 429 when no upload ends in time', async () => {
  const uploads = await fillSlots()
  const key = await newKey()
  const wait = vi.spyOn(scheduler, 'wait')
  const fourth = postUpload(key)
  await vi.waitUntil(() => wait.mock.calls.length > 0)
  const now = performance.now()
  const clock = vi.spyOn(performance, 'now').mockReturnValue(now + 20_000)
  const response = await fourth
  clock.mockRestore()
  expect(response.status).toBe(429)
  expect(Number(response.headers.get('Retry-After'))).toBe(10)
  expect(await errorOf(response)).toEqual({
    code: 'rate_limit_exceeded',
    message: expect.stringMatching(/^Too many uploads at a time\. Wait/),
  })
  for (const { end } of uploads) expect((await end()).status).toBe(201)
})

it('receives another upload a minute after invocations were killed', async () => {
  const uploads = await fillSlots()
  const key = await newKey()
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + LIMIT_MS })
  expect((await postUpload(key)).status).toBe(201)
  vi.useRealTimers()
  for (const { end } of uploads) expect((await end()).status).toBe(201)
})

it.each([
  ['does not end within a minute', LIMIT_MS],
  ['sends less than 100 kB in five seconds', RATE_MS],
])('returns 422 for a body that %s', async (_, limitMs) => {
  const keys = await Promise.all([newKey(), newKey(), newKey()])
  const { setTimeout: start } = globalThis
  vi.spyOn(globalThis, 'setTimeout').mockImplementation((callback, ms) =>
    start(callback, ms === limitMs ? 50 : ms),
  )
  for (const { response } of keys.map(openUpload)) {
    expect((await response).status).toBe(422)
    expect(await errorOf(await response)).toEqual({
      code: 'validation_error',
      message:
        'The image was received too slowly. Send at least 100 kB in 5 seconds, and the whole image within 60 seconds: use a smaller file or a faster connection.',
    })
  }
  expect((await postUpload(keys[0]!)).status).toBe(201)
})
