// Google's virtual-try-on-001 on Vertex AI: synchronous, with images as base64 in both directions.
import { z } from 'zod'
import { JobFailure } from '../domain/failure.ts'
import { contentTypeOf } from '../domain/image.ts'
import { refused, type CheckedImage, type Engine } from './engine.ts'
import { ServiceAccount, createTokenSource } from './google-token.ts'
import { MAX_OUTPUT_BYTES, decodeOutput } from './output.ts'
import { callProvider, scrub, unavailable, type Explain, BaseUrl } from './provider-api.ts'
import type { Scale } from './scale.ts'

export const VertexSettings = z.object({
  VERTEX_PROJECT: z.string().regex(/^[a-z0-9.:-]+$/),
  VERTEX_LOCATION: z
    .string()
    .regex(/^[a-z]+-[a-z]+\d+$/)
    .default('us-central1'),
  VERTEX_SERVICE_ACCOUNT: ServiceAccount,
  /** The default is the host of the location. */
  VERTEX_BASE_URL: BaseUrl.optional(),
})
export type VertexSettings = z.infer<typeof VertexSettings>

const Prediction = z.object({
  predictions: z
    .array(
      z.object({
        bytesBase64Encoded: z.string().nullish(),
        raiFilteredReason: z.string().nullish(),
      }),
    )
    .default([]),
})

// Known from Google's other APIs: the documentation of this one does not show its error body.
const GoogleError = z.object({
  error: z.object({ status: z.string().nullish(), message: z.string().nullish() }),
})

const TIMEOUT_MS = 120_000
const MAX_RESPONSE_BYTES = (MAX_OUTPUT_BYTES / 3) * 4 + 64 * 1024
/** Google accepts PNG and JPEG inline, up to 7 MB. */
const MAX_INLINE_BYTES = 7_000_000
const MAX_INLINE_SIDE = 2048

/** Without `scale`, WebP images and images above 7 MB are left to the next engine. */
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
        url,
        headers: { authorization: `Bearer ${await tokens.token()}` },
        json: {
          instances: [{ personImage: { image: person }, productImages: [{ image: product }] }],
          parameters: {
            sampleCount: 1,
            // The picture has the size of the model image: as PNG it could exceed MAX_OUTPUT_BYTES.
            outputOptions: { mimeType: 'image/jpeg', compressionQuality: 95 },
          },
        },
        schema: Prediction,
        explain(response) {
          if (response.status === 401) tokens.invalidate()
          return explain(response)
        },
        timeoutMs: TIMEOUT_MS,
        maxBytes: MAX_RESPONSE_BYTES,
      })
      const picture = predictions.find((prediction) => prediction.bytesBase64Encoded)
      // Google's safety filter returns 200, with a reason or without any prediction.
      if (!picture?.bytesBase64Encoded) throw rejected(predictions[0]?.raiFilteredReason)
      return { done: true, image: decodeOutput('vertex', picture.bytesBase64Encoded) }
    },
  }
}

async function inline(image: CheckedImage, scale: Scale | undefined) {
  if (image.format !== 'webp' && image.bytes.byteLength <= MAX_INLINE_BYTES) {
    return { bytesBase64Encoded: image.bytes.toBase64(), mimeType: contentTypeOf(image.format) }
  }
  if (!scale) throw refused('vertex: WebP and images above 7 MB need the [images] binding')
  let bytes: Uint8Array
  try {
    bytes = await (await scale(image.bytes, MAX_INLINE_SIDE)).bytes()
  } catch {
    throw refused('vertex: an image could not be scaled')
  }
  return { bytesBase64Encoded: bytes.toBase64(), mimeType: 'image/jpeg' }
}

const explain: Explain = ({ body }) => {
  const error = GoogleError.safeParse(body).data?.error
  if (!error) return undefined
  const explanation = unavailable(error.status, error.message)
  switch (error.status) {
    case 'INVALID_ARGUMENT':
      // Also the status of unsafe inputs, which only the message identifies.
      return /responsible ai|usage guidelines|safety/i.test(error.message ?? '')
        ? { ...explanation, code: 'generation_rejected', retriable: false }
        : { ...explanation, code: 'generation_failed' }
    case 'DEADLINE_EXCEEDED':
      return { ...explanation, code: 'generation_timeout' }
    default:
      return explanation
  }
}

const rejected = (reason: string | null | undefined) =>
  new JobFailure('generation_rejected', `vertex filtered: ${scrub(reason ?? 'no reason given')}`, {
    work: 'over',
  })
