// POST /v1/uploads: stores an image, so that jobs can use it without a public URL.
import { Hono } from 'hono'
import { z } from 'zod'
import { AppError } from '../domain/errors.ts'
import { MAX_IMAGE_BYTES } from '../domain/limits.ts'
import { baseUrlOf } from '../http/base-url.ts'
import { describeRoute, errors, ok } from '../http/openapi.ts'
import type { RejectedImage } from '../images/fetch.ts'
import { storeUpload } from '../jobs/upload.ts'
import { readLimited } from '../net/read-limited.ts'
import { organisationStub } from '../organisation/stub.ts'
import { requireAdmitted } from './authenticate.ts'
import type { ApiApp } from './context.ts'

const Upload = z
  .object({
    url: z.string().meta({
      description:
        'Use it unchanged as `model_image_url` or `garment_image_url`. It is a secret: it gives access to the image.',
    }),
    expires_at: z.iso
      .datetime()
      .meta({ description: 'Jobs can be submitted with the URL until then.' }),
  })
  .meta({ id: 'Upload' })

const ImageBody = { schema: { type: 'string' as const, format: 'binary' } }

export const uploads = new Hono<ApiApp>().post(
  '/',
  describeRoute({
    operationId: 'uploadImage',
    summary: 'Upload an image',
    description:
      'Stores an image of at most 10 MB for jobs of your organisation, and returns its URL, which is valid for a day. The body is the file itself; its format is read from its bytes, not from the `Content-Type` header. An organisation has a daily allowance for uploads, which grows with its rate limit. An upload without a `Content-Length` header takes 10 MB of it.',
    tags: ['Uploads'],
    requestBody: {
      required: true,
      content: {
        'image/jpeg': ImageBody,
        'image/png': ImageBody,
        'image/webp': ImageBody,
        'application/octet-stream': ImageBody,
      },
    },
    responses: {
      '201': ok('The image is stored', Upload),
      ...errors('account_suspended', 'payload_too_large', 'validation_error'),
    },
  }),
  async (c) => {
    const caller = c.get('caller')
    const { organisationId } = caller
    const length = contentLengthOf(c.req.raw)
    // Before the body is read. A body that is too large is never stored, so it takes nothing.
    const taken = length <= MAX_IMAGE_BYTES ? length : 0
    requireAdmitted(c, await organisationStub(c.env, organisationId).admitUpload(caller, taken))
    const bytes = length <= MAX_IMAGE_BYTES ? await readImage(c.req.raw) : null
    if (!bytes) throw new AppError('payload_too_large', TOO_LARGE)

    const upload = await storeUpload({ env: c.env, baseUrl: baseUrlOf(c), organisationId, bytes })
    if ('problem' in upload) throw new AppError('validation_error', messageOf(upload, bytes))
    return c.json({ url: upload.url, expires_at: upload.expiresAt.toISOString() }, 201)
  },
)

const TOO_LARGE = `The image is too large. The limit is ${MAX_IMAGE_BYTES.toLocaleString('en')} bytes (10 MB). Send a smaller file.`

/** The length of the body in bytes; the maximum if it is unknown. */
const contentLengthOf = ({ headers }: Request): number =>
  Number(headers.get('Content-Length') ?? MAX_IMAGE_BYTES)

/** @returns null for a body over the limit */
async function readImage(request: Request): Promise<Uint8Array<ArrayBuffer> | null> {
  // The runtime enforces Content-Length, so one call can read the whole body.
  if (request.headers.has('Content-Length')) return new Uint8Array(await request.arrayBuffer())
  return readLimited(request.body, MAX_IMAGE_BYTES)
}

function messageOf({ problem, reason }: RejectedImage, bytes: Uint8Array): string {
  if (bytes.byteLength === 0) return 'The body is empty. Send the image file as the body.'
  return problem === 'corrupt'
    ? `The image is damaged and cannot be read: ${reason}. Export it again and upload the new file.`
    : 'The body must be a JPEG, PNG or WebP file. Convert other formats. Send the file itself, not a form or JSON.'
}
