// POST /v1/uploads: stores an image, so that jobs can use it without a public URL.
import { Hono } from 'hono'
import { z } from 'zod'
import { Semaphore, SemaphoreTimeout } from '../concurrency/semaphore.ts'
import { withTimeout } from '../concurrency/with-timeout.ts'
import { EXAMPLE_ORIGIN } from '../domain/docs.ts'
import { AppError } from '../domain/errors.ts'
import { MAX_IMAGE_BYTES } from '../domain/limits.ts'
import { baseUrlOf } from '../http/base-url.ts'
import { describeRoute, ok } from '../http/openapi.ts'
import type { RejectedImage } from '../images/fetch.ts'
import { storeUpload } from '../jobs/upload.ts'
import { readRequestBody } from '../net/read-limited.ts'
import { organisationStub } from '../organisation/stub.ts'
import { requireAdmitted } from './authenticate.ts'
import type { ApiApp } from './context.ts'
import { errors } from './errors.ts'
import { uploads as examples } from './examples.ts'

/**
 * The maximum number of uploads that one isolate receives at a time. An isolate has 128 MB, and an
 * upload without Content-Length takes up to 20 MB: its chunks and the whole file.
 */
const MAX_UPLOADS = 3
/** How long a client may take to send an image, ms. The slot of a killed invocation is free then. */
const MAX_UPLOAD_MS = 60_000
/** How long an upload waits for a slot, ms. */
const MAX_WAIT_MS = 20_000
const RETRY_AFTER_SECONDS = 10

const slots = new Semaphore(MAX_UPLOADS, MAX_UPLOAD_MS)

const Upload = z
  .object({
    url: z.string().meta({
      description:
        'The URL of the image. Use it unchanged as `model_image_url` or `garment_image_url`. It is a secret: it gives access to the image.',
      examples: [examples.upload.value.url],
    }),
    expires_at: z.iso
      .datetime()
      .meta({ description: 'Until when jobs can be submitted with the URL (ISO 8601, UTC).' }),
  })
  .meta({ id: 'Upload', description: 'An uploaded image.' })

const ImageBody = { schema: { type: 'string' as const, format: 'binary' } }

/** Files that the service itself has. */
const sample = (summary: string, file: string) => ({
  ...ImageBody,
  examples: { sample: { summary, externalValue: `${EXAMPLE_ORIGIN}/static/${file}` } },
})

const TOO_LARGE = `The image is too large. The limit is ${MAX_IMAGE_BYTES.toLocaleString('en')} bytes (10 MB). Send a smaller file.`

const TOO_SLOW = `The image was not received within ${MAX_UPLOAD_MS / 1_000} seconds. Send a smaller file, or use a faster connection.`

const BUSY =
  'Too many uploads at a time. Wait for the number of seconds in the Retry-After header, then send the image again.'

const UNSUPPORTED =
  'The body must be a JPEG, PNG or WebP file. Convert other formats. Send the file itself, not a form or JSON.'

export const uploads = new Hono<ApiApp>().post(
  '/',
  describeRoute({
    operationId: 'uploadImage',
    summary: 'Upload an image',
    description:
      'Stores an image of at most 10 MB for jobs of your organisation, and returns its URL, which is valid for a day. The body is the file itself; its format is read from its bytes, not from the `Content-Type` header. An organisation has a daily allowance for uploads, which grows with its rate limit. An upload without a `Content-Length` header takes 10 MB of it. The image must be received within 60 seconds. While the service receives too many uploads, the response is 429.',
    tags: ['Uploads'],
    requestBody: {
      description: 'The bytes of a JPEG, PNG or WebP file of at most 10 MB.',
      required: true,
      content: {
        'image/jpeg': sample('The photo of a model', 'model.jpg'),
        'image/png': ImageBody,
        'image/webp': ImageBody,
        'application/octet-stream': sample('The photo of a garment', 'garment.jpg'),
      },
    },
    responses: {
      '201': ok('The image is stored.', Upload, { examples }),
      ...errors(
        'account_suspended',
        { code: 'payload_too_large', message: TOO_LARGE },
        { code: 'validation_error', message: UNSUPPORTED },
      ),
    },
  }),
  async (c) => {
    const caller = c.get('caller')
    const { organisationId } = caller
    const length = contentLengthOf(c.req.raw)
    // Before the body is read. A body that is too large is never stored, so it takes nothing.
    const taken = length <= MAX_IMAGE_BYTES ? length : 0
    const result = await organisationStub(c.env, organisationId).admitUpload(caller, taken)
    requireAdmitted(c, result)
    if (length > MAX_IMAGE_BYTES) throw new AppError('payload_too_large', TOO_LARGE)

    const receive = async () => {
      // A slow client would otherwise use memory after its slot is free.
      const bytes = await withTimeout(
        readRequestBody(c.req.raw, MAX_IMAGE_BYTES),
        MAX_UPLOAD_MS,
        () => new AppError('validation_error', TOO_SLOW),
      )
      if (!bytes) throw new AppError('payload_too_large', TOO_LARGE)
      const stored = await storeUpload({ env: c.env, baseUrl: baseUrlOf(c), organisationId, bytes })
      if ('problem' in stored) throw new AppError('validation_error', messageOf(stored, bytes))
      return stored
    }
    const upload = await slots.run(receive, MAX_WAIT_MS).catch((error: unknown) => {
      if (!(error instanceof SemaphoreTimeout)) throw error
      const seconds = Math.max(RETRY_AFTER_SECONDS, result.quota?.resetSeconds ?? 0)
      throw new AppError('rate_limit_exceeded', BUSY, { 'Retry-After': String(seconds) })
    })
    return c.json({ url: upload.url, expires_at: upload.expiresAt.toISOString() }, 201)
  },
)

/** The length of the body in bytes; the maximum if it is unknown. */
const contentLengthOf = ({ headers }: Request): number =>
  Number(headers.get('Content-Length') ?? MAX_IMAGE_BYTES)

function messageOf({ problem, reason }: RejectedImage, bytes: Uint8Array): string {
  if (bytes.byteLength === 0) return 'The body is empty. Send the image file as the body.'
  return problem === 'corrupt'
    ? `The image is damaged and cannot be read: ${reason}. Export it again and upload the new file.`
    : UNSUPPORTED
}
