// Google's virtual-try-on-001 on Vertex AI: synchronous, pictures go in and come back as base64.
import { JobFailure } from '../domain/failure.ts'
import { z } from 'zod'
import { contentTypeOf } from '../domain/image.ts'
import { BaseUrl } from './base-url.ts'
import { type CheckedImage, type Engine } from './engine.ts'
import { ServiceAccount, createTokenSource } from './google-token.ts'
import { MAX_OUTPUT_BYTES, decodeOutput } from './output.ts'
import { callProvider, scrub, type Explanation, type Failure } from './provider.ts'
import type { Scale } from './scale.ts'

export const VertexSettings = z.object({
  VERTEX_PROJECT: z.string().regex(/^[a-z0-9.:-]+$/),
  VERTEX_LOCATION: z
    .string()
    .regex(/^[a-z]+-[a-z]+\d+$/)
    .default('us-central1'),
  VERTEX_SERVICE_ACCOUNT: ServiceAccount,
  /** Default: the host of the location. */
  VERTEX_BASE_URL: BaseUrl.optional(),
})
export type VertexSettings = z.infer<typeof VertexSettings>

const Predicted = z.object({
  predictions: z
    .array(
      z.object({
        bytesBase64Encoded: z.string().nullish(),
        raiFilteredReason: z.string().nullish(),
      }),
    )
    .default([]),
})

// The body of an error is known from Google's other APIs; this one's page does not show it.
const GoogleError = z.object({
  error: z.object({ status: z.string().nullish(), message: z.string().nullish() }),
})

const TIMEOUT_MS = 120_000
const MAX_ANSWER_BYTES = (MAX_OUTPUT_BYTES / 3) * 4 + 64 * 1024
/** Google takes PNG and JPEG of at most 7 MB inline. */
const MAX_INLINE_BYTES = 7_000_000
const MAX_INLINE_SIDE = 2048

/** `scale` is needed for WebP and for pictures above 7 MB; without it those go to another engine. */
export function createVertex(settings: VertexSettings, scale?: Scale): Engine {
  const { VERTEX_PROJECT: project, VERTEX_LOCATION: location } = settings
  const base = settings.VERTEX_BASE_URL ?? `https://${location}-aiplatform.googleapis.com`
  const url =
    `${base}/v1/projects/${encodeURIComponent(project)}/locations/${location}` +
    '/publishers/google/models/virtual-try-on-001:predict'
  const tokens = createTokenSource(settings.VERTEX_SERVICE_ACCOUNT)

  return {
    name: 'vertex',
    paid: true,

    async start({ model, garment }) {
      const person = await inline(model, scale)
      const product = await inline(garment, scale)
      const { predictions } = await callProvider({
        provider: 'vertex',
        during: 'start',
        method: 'POST',
        url,
        headers: { authorization: `Bearer ${await tokens.token()}` },
        json: {
          instances: [{ personImage: { image: person }, productImages: [{ image: product }] }],
          parameters: {
            sampleCount: 1,
            // The picture comes as large as the person's photo: as PNG it could pass our cap.
            outputOptions: { mimeType: 'image/jpeg', compressionQuality: 95 },
          },
        },
        answer: Predicted,
        explain(failure) {
          if (failure.status === 401) tokens.forget()
          return explain(failure)
        },
        timeoutMs: TIMEOUT_MS,
        maxBytes: MAX_ANSWER_BYTES,
      })
      const picture = predictions.find((prediction) => prediction.bytesBase64Encoded)
      // Google's safety filter answers 200: with a reason, or with no prediction at all.
      if (!picture?.bytesBase64Encoded) throw rejected(predictions[0]?.raiFilteredReason)
      return { done: true, image: decodeOutput('vertex', picture.bytesBase64Encoded) }
    },
  }
}

async function inline(image: CheckedImage, scale: Scale | undefined) {
  if (image.format !== 'webp' && image.bytes.byteLength <= MAX_INLINE_BYTES) {
    return { bytesBase64Encoded: image.bytes.toBase64(), mimeType: contentTypeOf(image.format) }
  }
  if (!scale) throw unfit('takes no WebP and nothing above 7 MB')
  let bytes: Uint8Array
  try {
    bytes = await (await scale(image.bytes, MAX_INLINE_SIDE)).bytes()
  } catch {
    throw unfit('a picture could not be scaled')
  }
  return { bytesBase64Encoded: bytes.toBase64(), mimeType: 'image/jpeg' }
}

function explain({ body }: Failure): Explanation | undefined {
  const error = GoogleError.safeParse(body).data?.error
  if (!error) return undefined
  const reason = [error.status, error.message].filter(Boolean).join(': ')
  switch (error.status) {
    case 'INVALID_ARGUMENT':
      // Google refuses unsafe inputs with this too, and says so in prose only.
      return /responsible ai|usage guidelines|safety/i.test(error.message ?? '')
        ? { code: 'generation_rejected', retriable: false, reason }
        : { code: 'generation_failed', retriable: true, reason }
    case 'DEADLINE_EXCEEDED':
      return { code: 'generation_timeout', retriable: true, reason }
    default:
      return { code: 'engine_unavailable', retriable: true, reason }
  }
}

const rejected = (reason: string | null | undefined) =>
  new JobFailure('generation_rejected', `vertex filtered: ${scrub(reason ?? 'no reason given')}`, {
    work: 'over',
  })

const unfit = (reason: string) =>
  new JobFailure('engine_unavailable', `vertex: ${reason}`, { retriable: true, work: 'refused' })
