// FASHN's API (docs.fashn.ai): starts by POST /v1/run, then polls by id. The API cannot cancel.
import { z } from 'zod'
import type { JobFailure } from '../domain/failure.ts'
import { IdHandle, parseHandle, running, type Engine, type EngineInput } from './engine.ts'
import { fetchOutput } from './output.ts'
import {
  callerOf,
  jobFailure,
  unavailable,
  type JobError,
  type Explain,
  BaseUrl,
} from './provider-api.ts'

export const FashnSettings = z.object({
  FASHN_API_KEY: z.string().min(1),
  /** v1.6 takes seconds and 1 credit; max takes about a minute and several credits. */
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
  const call = callerOf({
    provider: 'fashn',
    headers: { authorization: `Bearer ${settings.FASHN_API_KEY}` },
    explain,
  })

  return {
    name: 'fashn',
    paid: true,

    async start(input) {
      const { id } = await call({
        during: 'start',
        url: `${base}/v1/run`,
        json: {
          model_name: settings.FASHN_MODEL,
          inputs: await inputsFor(settings.FASHN_MODEL, input),
        },
        schema: Started,
      })
      return running<IdHandle>({ id, startedAtMs: Date.now() })
    },

    async poll(text) {
      const handle = parseHandle('fashn', text, IdHandle)
      const { status, output, error } = await call({
        during: 'poll',
        url: `${base}/v1/status/${encodeURIComponent(handle.id)}`,
        schema: Prediction,
      })
      if (status === 'failed') throw jobError(error)
      if (status !== 'completed') return running(handle)

      const url = output?.[0]
      if (!url) throw jobError({ name: 'completed without output' })
      return { done: true, image: await fetchOutput('fashn', url, base) }
    },
  }
}

/** Each model has its own field names. */
async function inputsFor(name: FashnSettings['FASHN_MODEL'], { model, garment }: EngineInput) {
  const [modelUrl, garmentUrl] = await Promise.all([model.url(), garment.url()])
  const garmentField = name === 'tryon-max' ? 'product_image' : 'garment_image'
  return { model_image: modelUrl, [garmentField]: garmentUrl, output_format: 'png' }
}

const explain: Explain = ({ status, body }) => {
  const error = ApiError.safeParse(body).data
  // For an unknown id, the HTTP status is sufficient: the prediction no longer exists.
  return error && status !== 404 ? unavailable(error.error, error.message) : undefined
}

function jobError(error: z.infer<typeof Prediction>['error']): JobFailure {
  const name = error?.name ?? 'failed without a reason'
  return jobFailure('fashn', JOB_ERRORS.get(name) ?? RETRIABLE, name, error?.message)
}

/**
 * Every other error: PipelineError, ThirdPartyError, 3rdPartyProviderError, InternalServerError, and ImageLoadError,
 * as FASHN could not download the input copy, which is not the customer's error.
 */
const RETRIABLE: JobError = { code: 'generation_failed', retriable: true }

const JOB_ERRORS = new Map<string, JobError>([
  ['ContentModerationError', { code: 'generation_rejected', retriable: false }],
  ['PoseError', { code: 'person_not_found', retriable: false }],
  // FASHN can read the image but does not accept its size or kind.
  ['InputValidationError', { code: 'generation_failed', retriable: false }],
])
