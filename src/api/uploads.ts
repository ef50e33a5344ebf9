// POST /v1/uploads: stores an image, so that jobs can use it without a public URL.
import { Hono } from 'hono'
import { z } from 'zod'
import { EXAMPLE_ORIGIN } from '../domain/docs.ts'
import { AppError, invalid, rateLimited } from '../domain/errors.ts'
import { MAX_IMAGE_BYTES } from '../domain/limits.ts'
import { baseUrlOf } from '../http/base-url.ts'
import { describeRoute, ok } from '../http/describe-route.ts'
import {
  MAX_UPLOAD_MS,
  MIN_RATE_BYTES,
  MIN_RATE_MS,
  receiveUpload,
  uploadBytesOf,
  type RejectedUpload,
} from '../jobs/receive-upload.ts'
import { organisationStub } from '../credits/organisation-stub.ts'
import { requireAdmitted } from './authenticate-key.ts'
import type { ApiApp } from './api-context.ts'
import { errors } from './error-responses.ts'
import { uploads as examples } from './examples.ts'

/** For an upload that got no slot. */
const RETRY_AFTER_SECONDS = 10

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

const TOO_SLOW = `The image was received too slowly. Send at least ${MIN_RATE_BYTES / 1_000} kB in ${MIN_RATE_MS / 1_000} seconds, and the whole image within ${MAX_UPLOAD_MS / 1_000} seconds: use a smaller file or a faster connection.`

const BUSY =
  'Too many uploads at a time. Wait for the number of seconds in the Retry-After header, then send the image again.'

const UNSUPPORTED =
  'The body must be a JPEG, PNG or WebP file. Convert other formats. Send the file itself, not a form or JSON.'

export const uploads = new Hono<ApiApp>().post(
  '/',
  describeRoute('Uploads', {
    operationId: 'uploadImage',
    summary: 'Upload an image',
    description:
      'Stores an image of at most 10 MB for jobs of your organisation, and returns its URL, which is valid for a day. The body is the file itself; its format is read from its bytes, not from the `Content-Type` header. An organisation has a daily allowance for uploads, which grows with its rate limit. An upload without a `Content-Length` header takes 10 MB of it. The image must be received within 60 seconds, and at least 100 kB of it in 5 seconds. An organisation uploads one image at a time: further uploads wait for up to 20 seconds. An upload that waits for longer, or while the service receives too many uploads, gets 429.',
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
        'forbidden',
        { code: 'payload_too_large', message: TOO_LARGE },
        { code: 'validation_error', message: UNSUPPORTED },
      ),
    },
  }),
  async (c) => {
    const caller = c.get('caller')
    const { organisationId } = caller
    const request = c.req.raw
    // Before the body is read.
    const taken = uploadBytesOf(request)
    const result = await organisationStub(c.env, organisationId).admitUpload(caller, taken)
    requireAdmitted(c, result)
    const baseUrl = baseUrlOf(c)
    const upload = await receiveUpload({ env: c.env, baseUrl, organisationId, request })
    if ('problem' in upload) throw errorOf(upload, result.quota?.resetSeconds ?? 0)
    return c.json({ url: upload.url, expires_at: upload.expiresAt.toISOString() }, 201)
  },
)

function errorOf(rejected: RejectedUpload, resetSeconds: number): AppError {
  switch (rejected.problem) {
    case 'too_large':
      return new AppError('payload_too_large', TOO_LARGE)
    case 'too_slow':
      return invalid(TOO_SLOW)
    case 'busy':
      return rateLimited(Math.max(RETRY_AFTER_SECONDS, resetSeconds), BUSY)
    case 'empty':
      return invalid('The body is empty. Send the image file as the body.')
    case 'corrupt':
      return invalid(
        `The image is damaged and cannot be read: ${rejected.reason}. Export it again and upload the new file.`,
      )
    case 'unsupported_format':
      return invalid(UNSUPPORTED)
  }
}
