// FASHN's own API (docs.fashn.ai): started by POST /v1/run, then asked after by id. It offers no way
// to cancel.
import { JobFailure } from '../domain/failure.ts'
import { z } from 'zod'
import { BaseUrl } from './base-url.ts'
import { type CheckedImage, type Engine } from './engine.ts'
import { IdHandle, parseHandle, running } from './handle.ts'
import { fetchOutput } from './output.ts'
import { callProvider, scrub, type Explanation, type Failure } from './provider.ts'

export const FashnSettings = z.object({
  FASHN_API_KEY: z.string().min(1),
  /** v1.6 answers in seconds for 1 credit; max takes about a minute and several credits. */
  FASHN_MODEL: z.enum(['tryon-v1.6', 'tryon-max']).default('tryon-v1.6'),
  FASHN_BASE_URL: BaseUrl.default('https://api.fashn.ai'),
})
export type FashnSettings = z.infer<typeof FashnSettings>

const Started = z.object({ id: z.string().min(1) })

const Prediction = z.object({
  status: z.enum(['starting', 'in_queue', 'processing', 'completed', 'failed']),
  output: z.array(z.string()).nullish(),
  error: z.object({ name: z.string(), message: z.string().nullish() }).nullish(),
})

const ApiError = z.object({ error: z.string(), message: z.string().nullish() })

export function createFashn(settings: FashnSettings): Engine {
  const base = settings.FASHN_BASE_URL
  const headers = { authorization: `Bearer ${settings.FASHN_API_KEY}` }

  return {
    name: 'fashn',
    paid: true,

    async start({ model, garment }) {
      const { id } = await callProvider({
        provider: 'fashn',
        during: 'start',
        method: 'POST',
        url: `${base}/v1/run`,
        headers,
        json: {
          model_name: settings.FASHN_MODEL,
          inputs: await inputsFor(settings.FASHN_MODEL, model, garment),
        },
        answer: Started,
        explain,
      })
      return running<IdHandle>({ id, startedAtMs: Date.now() })
    },

    async poll(handle) {
      const { id, startedAtMs } = parseHandle('fashn', handle, IdHandle)
      const prediction = await callProvider({
        provider: 'fashn',
        during: 'poll',
        method: 'GET',
        url: `${base}/v1/status/${encodeURIComponent(id)}`,
        headers,
        answer: Prediction,
        explain,
      })
      if (prediction.status === 'failed') throw jobError(prediction.error)
      if (prediction.status !== 'completed') return running({ id, startedAtMs })

      const output = prediction.output?.[0]
      if (!output) throw jobError({ name: 'completed without output' })
      return { done: true, image: await fetchOutput('fashn', output, base) }
    },
  }
}

async function inputsFor(name: string, model: CheckedImage, garment: CheckedImage) {
  const [modelUrl, garmentUrl] = await Promise.all([model.url(), garment.url()])
  const garmentField = name === 'tryon-max' ? 'product_image' : 'garment_image'
  return { model_image: modelUrl, [garmentField]: garmentUrl, output_format: 'png' }
}

function explain({ status, body }: Failure): Explanation | undefined {
  const error = ApiError.safeParse(body).data
  // An unknown id on /status is left to the status: the prediction is gone.
  if (!error || status === 404) return undefined
  const reason = [error.error, error.message].filter(Boolean).join(': ')
  return { code: 'engine_unavailable', retriable: true, reason }
}

function jobError(error: z.infer<typeof Prediction>['error']): JobFailure {
  const name = error?.name ?? 'failed without a reason'
  const { code, retriable } = JOB_ERRORS.get(name) ?? TRY_AGAIN
  const reason = scrub([name, error?.message].filter(Boolean).join(': '))
  return new JobFailure(code, `fashn job: ${reason}`, { retriable, work: 'over' })
}

type Reading = Pick<Explanation, 'code' | 'retriable'>

const TRY_AGAIN: Reading = { code: 'generation_failed', retriable: true }

const JOB_ERRORS = new Map<string, Reading>([
  ['ContentModerationError', { code: 'generation_rejected', retriable: false }],
  ['PoseError', { code: 'person_not_found', retriable: false }],
  // FASHN could read the picture and cannot use it (its size or kind).
  ['InputValidationError', { code: 'generation_failed', retriable: false }],
  // Our copy did not load: never the customer's fault.
  ['ImageLoadError', TRY_AGAIN],
  ['PipelineError', TRY_AGAIN],
  ['ThirdPartyError', TRY_AGAIN],
  ['3rdPartyProviderError', TRY_AGAIN],
  ['InternalServerError', TRY_AGAIN],
])
