// Replicate's API (replicate.com/docs/reference/http): creates a prediction with one pinned model
// version, then polls it. The model must accept the inputs of prunaai/p-image-try-on.
import { z } from 'zod'
import type { JobFailure } from '../domain/failure.ts'
import { IdHandle, parseHandle, running, type Engine } from './engine.ts'
import { fetchOutput } from './output.ts'
import { callerOf, jobFailure, unavailable, type Explain, BaseUrl } from './provider-api.ts'

export const ReplicateSettings = z.object({
  REPLICATE_API_TOKEN: z.string().min(1),
  /** The default is the version in Replicate's documentation; newer ones may exist. */
  REPLICATE_VERSION: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .default('6aaa4749ee142241dfa3bf5736f9e8d16e0796d4452e450ba2e92e40cf7e676a'),
  REPLICATE_BASE_URL: BaseUrl.default('https://api.replicate.com'),
})
export type ReplicateSettings = z.infer<typeof ReplicateSettings>

const Prediction = z.object({
  id: z.string().min(1),
  status: z.enum(['starting', 'processing', 'succeeded', 'failed', 'canceled', 'aborted']),
  output: z.union([z.string(), z.array(z.string())]).nullish(),
  error: z.string().nullish(),
})

const Problem = z.object({ title: z.string().nullish(), detail: z.string().nullish() })

// Cancels predictions that are no longer polled but cost money. The documented format is '1m'.
const CANCEL_AFTER = '5m'

export function createReplicate(settings: ReplicateSettings): Engine {
  const base = settings.REPLICATE_BASE_URL
  const urlOf = (id: string) => `${base}/v1/predictions/${encodeURIComponent(id)}`
  const call = callerOf({
    provider: 'replicate',
    headers: { authorization: `Bearer ${settings.REPLICATE_API_TOKEN}` },
    explain,
  })

  return {
    name: 'replicate',
    paid: true,

    async start({ model, garment }) {
      const [modelUrl, garmentUrl] = await Promise.all([model.url(), garment.url()])
      const { id } = await call({
        during: 'start',
        url: `${base}/v1/predictions`,
        headers: { 'cancel-after': CANCEL_AFTER },
        json: {
          version: settings.REPLICATE_VERSION,
          input: {
            person_image: modelUrl,
            garment_images: [garmentUrl],
            output_format: 'jpg',
            output_quality: 95,
            preserve_input_size: true,
          },
        },
        schema: Prediction.pick({ id: true }),
      })
      return running<IdHandle>({ id, startedAtMs: Date.now() })
    },

    async poll(text) {
      const handle = parseHandle('replicate', text, IdHandle)
      const { status, output, error } = await call({
        during: 'poll',
        url: urlOf(handle.id),
        schema: Prediction,
      })
      switch (status) {
        case 'starting':
        case 'processing':
          return running(handle)
        case 'failed':
          throw jobError(error ?? 'failed without a reason')
        case 'canceled':
        case 'aborted':
          // A prediction that is still polled is canceled only by Cancel-After.
          throw ended('generation_timeout', status)
        case 'succeeded': {
          const url = Array.isArray(output) ? output[0] : output
          if (!url) throw ended('generation_failed', 'succeeded without output')
          return { done: true, image: await fetchOutput('replicate', url, base) }
        }
      }
    },

    async cancel(text) {
      const { id } = parseHandle('replicate', text, IdHandle)
      const url = `${urlOf(id)}/cancel`
      await call({ during: 'cancel', url, schema: z.unknown() })
    },
  }
}

const explain: Explain = ({ status, body }) => {
  const problem = Problem.safeParse(body).data
  if (!problem || status === 404) return undefined
  const reset = /resets in ~?(\d+)s/.exec(problem.detail ?? '')?.[1]
  return {
    ...unavailable(problem.title, problem.detail),
    ...(status === 429 && reset ? { retryAfterSeconds: Number(reset) } : {}),
  }
}

/** A failed prediction contains its reason only as text, sometimes with one of Replicate's codes. */
function jobError(error: string): JobFailure {
  // E005 is known from third-party logs only; Replicate's list begins at E1000.
  if (/\bE005\b|flagged as sensitive|nsfw/i.test(error)) {
    return ended('generation_rejected', error, false)
  }
  return /\bE6716\b|timed? ?out/i.test(error)
    ? ended('generation_timeout', error)
    : ended('generation_failed', error)
}

const ended = (code: JobFailure['code'], reason: string, retriable = true) =>
  jobFailure('replicate', { code, retriable }, reason)
