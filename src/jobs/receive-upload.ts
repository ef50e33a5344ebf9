// Images that clients upload through the API or the console. They are stored for about a day. Limits the size,
// the rate and the time of each upload, and the uploads at a time.
import { Semaphore, SemaphoreTimeout } from '../platform/concurrency/semaphore.ts'
import { withTimeout } from '../platform/concurrency/with-timeout.ts'
import { MAX_IMAGE_BYTES } from '../domain/limits.ts'
import { newId } from '../platform/ids.ts'
import { uploadKey, uploadLink } from '../platform/signing/signed-url.ts'
import { storePicture } from './pictures.ts'
import { inspectImage } from './processing/fetch-image.ts'

/** How long a client may take to send an image, ms. The slot of a killed invocation is free then. */
export const MAX_UPLOAD_MS = 60_000
/** A client that sends fewer bytes than this in `MIN_RATE_MS` is too slow, unless the image ends. */
export const MIN_RATE_BYTES = 100_000
export const MIN_RATE_MS = 5_000
/** How long an upload waits for a slot, ms. */
const MAX_WAIT_MS = 20_000

/**
 * The maximum number of uploads that one isolate receives at a time. An isolate has 128 MB, and an
 * upload takes up to 10 MB. Slow clients of one organisation delay only its own uploads.
 */
const slots = new Semaphore({ slots: 3, slotsPerOwner: 1, timeoutMs: MAX_UPLOAD_MS })

/** A signed link to an upload, for jobs of its organisation that are submitted before `expiresAt`. */
export type StoredUpload = ReturnType<typeof uploadLink>
export type RejectedUpload =
  | { problem: 'too_large' | 'too_slow' | 'busy' | 'empty' | 'unsupported_format' }
  | { problem: 'corrupt'; reason: string }

class TooSlow extends Error {}

/**
 * The bytes that an upload takes from the organisation's allowance: the maximum if its length is
 * unknown, and none if it is too large, because it is never stored.
 */
export function uploadBytesOf({ headers }: Request): number {
  const length = contentLengthOf(headers)
  return length <= MAX_IMAGE_BYTES ? length : 0
}

const contentLengthOf = (headers: Headers): number =>
  Number(headers.get('Content-Length') ?? MAX_IMAGE_BYTES)

/**
 * Stores the body of a request. The caller has called `Organisation.admitUpload` with `uploadBytesOf`.
 * Does not read a body whose length is known to be too large.
 */
export async function receiveUpload(upload: {
  env: Env
  baseUrl: string
  organisationId: string
  request: Request
}): Promise<StoredUpload | RejectedUpload> {
  const { env, baseUrl, organisationId, request } = upload
  if (contentLengthOf(request.headers) > MAX_IMAGE_BYTES) return { problem: 'too_large' }
  const receive = async (): Promise<StoredUpload | RejectedUpload> => {
    const bytes = await readImage(request)
    if (bytes.byteLength > MAX_IMAGE_BYTES) return { problem: 'too_large' }
    if (bytes.byteLength === 0) return { problem: 'empty' }
    const picture = inspectImage(bytes)
    if ('problem' in picture) return picture
    const key = uploadKey(newId('upl'), organisationId, picture.format)
    await storePicture(env, key, picture)
    return uploadLink(env, baseUrl, key)
  }
  try {
    return await slots.run(receive, { owner: organisationId, maxWaitMs: MAX_WAIT_MS })
  } catch (error) {
    if (error instanceof TooSlow) return { problem: 'too_slow' }
    if (error instanceof SemaphoreTimeout) return { problem: 'busy' }
    throw error
  }
}

/**
 * Reads the body of a request into one buffer, at least at the least rate.
 * @returns at most one byte more than an image may have
 * @throws TooSlow for a slow client, and for one that closes the connection
 */
async function readImage({ headers, body }: Request): Promise<Uint8Array<ArrayBuffer>> {
  // The runtime enforces Content-Length. One byte more than the limit shows that a body is longer.
  const capacity = headers.has('Content-Length') ? contentLengthOf(headers) : MAX_IMAGE_BYTES + 1
  let buffer = new Uint8Array(capacity)
  let length = 0
  if (!body) return buffer.subarray(0, 0)
  const reader = body.getReader({ mode: 'byob' })
  const readAll = async () => {
    while (length < capacity) {
      const least = Math.min(MIN_RATE_BYTES, capacity - length)
      const part = reader.readAtLeast(least, buffer.subarray(length)).catch(() => {
        throw new TooSlow()
      })
      const { done, value } = await withTimeout(part, MIN_RATE_MS, () => new TooSlow())
      // Reading transfers the memory of the buffer to the value.
      if (value) buffer = new Uint8Array(value.buffer)
      length += value?.byteLength ?? 0
      if (done) break
    }
  }
  try {
    await withTimeout(readAll(), MAX_UPLOAD_MS, () => new TooSlow())
  } catch (error) {
    // A slow client would otherwise use memory after its slot is free.
    await reader.cancel().catch(() => {})
    throw error
  }
  if (length > MAX_IMAGE_BYTES) await reader.cancel().catch(() => {})
  return buffer.subarray(0, length)
}
