// Receives the body of a request as an upload: limits the size, the time, and the uploads at a time.
import { Semaphore, SemaphoreTimeout } from '../concurrency/semaphore.ts'
import { withTimeout } from '../concurrency/with-timeout.ts'
import { MAX_IMAGE_BYTES } from '../domain/limits.ts'
import { readRequestBody } from '../net/read-limited.ts'
import { storeUpload } from './upload.ts'
import type { StoredUpload } from './upload.ts'

/**
 * The maximum number of uploads that one isolate receives at a time. An isolate has 128 MB, and an
 * upload without Content-Length takes up to 20 MB: its chunks and the whole file.
 */
const MAX_UPLOADS = 3
/** How long a client may take to send an image, ms. The slot of a killed invocation is free then. */
export const MAX_UPLOAD_MS = 60_000
/** How long an upload waits for a slot, ms. */
const MAX_WAIT_MS = 20_000

const slots = new Semaphore(MAX_UPLOADS, MAX_UPLOAD_MS)

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
export async function receiveUpload({
  env,
  baseUrl,
  organisationId,
  request,
}: {
  env: Env
  baseUrl: string
  organisationId: string
  request: Request
}): Promise<StoredUpload | RejectedUpload> {
  if (contentLengthOf(request.headers) > MAX_IMAGE_BYTES) return { problem: 'too_large' }
  const receive = async (): Promise<StoredUpload | RejectedUpload> => {
    // A slow client would otherwise use memory after its slot is free.
    const body = readRequestBody(request, MAX_IMAGE_BYTES)
    const bytes = await withTimeout(body, MAX_UPLOAD_MS, () => new TooSlow())
    if (!bytes) return { problem: 'too_large' }
    if (bytes.byteLength === 0) return { problem: 'empty' }
    return storeUpload({ env, baseUrl, organisationId, bytes })
  }
  try {
    return await slots.run(receive, MAX_WAIT_MS)
  } catch (error) {
    if (error instanceof TooSlow) return { problem: 'too_slow' }
    if (error instanceof SemaphoreTimeout) return { problem: 'busy' }
    throw error
  }
}
