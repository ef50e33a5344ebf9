// The limit of uploads that an isolate receives at a time.
import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { errorOf } from '../support/client.ts'
import { png } from '../support/picture.ts'
import { postUpload } from '../support/upload.ts'
import { newOrganisation } from '../support/world.ts'

/** How long the service waits for a body, ms. */
const LIMIT_MS = 60_000

let key: string

beforeEach(async () => {
  key = (await newOrganisation()).keys.test
})
afterEach(() => void vi.useRealTimers())

/** Starts an upload whose body does not end by itself. */
function openUpload() {
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

/** Starts uploads that use all slots. */
async function fillSlots() {
  const timer = vi.spyOn(globalThis, 'setTimeout')
  const timers = () => timer.mock.calls.filter(([, ms]) => ms === LIMIT_MS)
  const uploads = [openUpload(), openUpload(), openUpload()]
  await vi.waitUntil(() => timers().length === uploads.length)
  return uploads
}

it('receives three uploads at a time, and the next one when one of them has ended', async () => {
  const uploads = await fillSlots()
  const put = vi.spyOn(env.IMAGES, 'put')
  const wait = vi.spyOn(scheduler, 'wait')
  const fourth = postUpload(key)
  await vi.waitUntil(() => wait.mock.calls.length > 3)
  expect(put).not.toHaveBeenCalled()
  expect((await uploads[1]?.end())?.status).toBe(201)
  expect((await fourth).status).toBe(201)
  for (const { end } of [uploads[0]!, uploads[2]!]) expect((await end()).status).toBe(201)
})

it('returns 429 when no upload ends in time', async () => {
  const uploads = await fillSlots()
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
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + LIMIT_MS })
  expect((await postUpload(key)).status).toBe(201)
  vi.useRealTimers()
  for (const { end } of uploads) expect((await end()).status).toBe(201)
})

it('returns 422 for a body that does not end within a minute', async () => {
  const { setTimeout: start } = globalThis
  vi.spyOn(globalThis, 'setTimeout').mockImplementation((callback, ms) =>
    start(callback, ms === LIMIT_MS ? 50 : ms),
  )
  for (const { response } of [openUpload(), openUpload(), openUpload()]) {
    expect((await response).status).toBe(422)
    expect(await errorOf(await response)).toEqual({
      code: 'validation_error',
      message:
        'The image was not received within 60 seconds. Send a smaller file, or use a faster connection.',
    })
  }
  expect((await postUpload(key)).status).toBe(201)
})
