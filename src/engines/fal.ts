// fal's queue API (docs.fal.ai): submits by POST, then polls the URLs of the response. These URLs are
// stored, because constructed ones are wrong for models with more than two path segments.
import { z } from 'zod'
import { JobFailure } from '../domain/failure.ts'
import { parseHandle, running, type Engine, type EngineInput } from './engine.ts'
import { fetchOutput } from './output.ts'
import {
  callerOf,
  jobFailure,
  unavailable,
  type JobError,
  type Explain,
  BaseUrl,
} from './provider-api.ts'

export const FalSettings = z.object({
  FAL_KEY: z.string().min(1),
  FAL_MODEL: z
    .enum([
      'fal-ai/fashn/tryon/v1.6',
      'fal-ai/kling/v1-5/kolors-virtual-try-on',
      'fal-ai/flux-pro/v1/vto',
    ])
    .default('fal-ai/fashn/tryon/v1.6'),
  FAL_BASE_URL: BaseUrl.default('https://queue.fal.run'),
})
export type FalSettings = z.infer<typeof FalSettings>

const Submitted = z.object({
  request_id: z.string(),
  status_url: z.url(),
  response_url: z.url(),
  cancel_url: z.url(),
})

const Handle = Submitted.omit({ request_id: true }).extend({ startedAtMs: z.number() })
type Handle = z.infer<typeof Handle>

const Status = z.object({
  status: z.enum(['IN_QUEUE', 'IN_PROGRESS', 'COMPLETED']),
  error: z.string().nullish(),
  error_type: z.string().nullish(),
})

const File = z.object({ url: z.string() })
// Kolors returns one `image` (known from third-party code only), the other models `images`.
const Result = z.union([
  z.object({ images: z.tuple([File], File) }).transform(({ images }) => images[0].url),
  z.object({ image: File }).transform(({ image }) => image.url),
])

const FalError = z.object({
  detail: z.union([
    z.string(),
    z.array(z.object({ type: z.string().nullish(), msg: z.string().nullish() })),
  ]),
  error_type: z.string().nullish(),
})

export function createFal(settings: FalSettings): Engine {
  const base = settings.FAL_BASE_URL
  const call = callerOf({
    provider: 'fal',
    headers: { authorization: `Key ${settings.FAL_KEY}` },
    explain,
  })
  const { origin } = new URL(base)
  const hasFalUrls = ({ status_url, response_url, cancel_url }: Omit<Handle, 'startedAtMs'>) =>
    [status_url, response_url, cancel_url].every((url) => URL.parse(url)?.origin === origin)

  /** Rejects handles with other hosts, so that the key is sent to fal only. */
  function trusted(text: string): Handle {
    const handle = parseHandle('fal', text, Handle)
    if (hasFalUrls(handle)) return handle
    throw new JobFailure('internal_error', 'fal: the handle has a URL of another host', {
      work: 'over',
    })
  }

  return {
    name: 'fal',
    paid: true,

    async start(input) {
      const { status_url, response_url, cancel_url } = await call({
        during: 'start',
        url: `${base}/${settings.FAL_MODEL}`,
        // The output is downloaded immediately, so fal can delete the files soon.
        headers: { 'x-fal-object-lifecycle-preference': '{"expiration_duration_seconds":3600}' },
        json: await inputsFor(settings.FAL_MODEL, input),
        schema: Submitted.refine(hasFalUrls),
      })
      return running<Handle>({ status_url, response_url, cancel_url, startedAtMs: Date.now() })
    },

    async poll(text) {
      const handle = trusted(text)
      const { status, error, error_type } = await call({
        during: 'poll',
        url: handle.status_url,
        schema: Status,
      })
      if (status !== 'COMPLETED') return running(handle)
      if (error_type) throw jobFailure('fal', mappingOf(error_type), error_type, error)

      const output = await call({
        during: 'poll',
        url: handle.response_url,
        schema: Result,
        explain: explainResult,
      })
      return { done: true, image: await fetchOutput('fal', output, base) }
    },

    async cancel(text) {
      const url = trusted(text).cancel_url
      await call({ during: 'cancel', method: 'PUT', url, schema: z.unknown() })
    },
  }
}

/** Each model has its own field names. */
async function inputsFor(name: FalSettings['FAL_MODEL'], { model, garment }: EngineInput) {
  const [modelUrl, garmentUrl] = await Promise.all([model.url(), garment.url()])
  switch (name) {
    case 'fal-ai/fashn/tryon/v1.6':
      return { model_image: modelUrl, garment_image: garmentUrl, output_format: 'png' }
    case 'fal-ai/kling/v1-5/kolors-virtual-try-on':
      return { human_image_url: modelUrl, garment_image_url: garmentUrl }
    case 'fal-ai/flux-pro/v1/vto':
      return { human_image_url: modelUrl, garment_image_url: garmentUrl, prompt: FLUX_PROMPT }
  }
}

const FLUX_PROMPT =
  'The person, keeping exactly their face, pose and background, wearing the garment.'

/** Errors of submitting and polling are caused by our key, credit or request, or by fal. */
const explain: Explain = ({ status, body }) => {
  const error = FalError.safeParse(body).data
  return error && status !== 404 ? unavailable(describe(error)) : undefined
}

/** The status of the result is an error of the request, or the model's failure as an HTTP status. */
const explainResult: Explain = (response) => {
  const error = FalError.safeParse(response.body).data
  if (!error || [401, 402, 403, 404, 429].includes(response.status)) return explain(response)

  const detail = Array.isArray(error.detail) ? error.detail[0] : undefined
  const type = detail?.type ?? error.error_type
  if (!type) return explain(response)
  const { code, retriable } = mappingOf(type)
  const isFinal = response.headers.get('x-fal-retryable') === 'false'
  return {
    code,
    // For unknown types, fal's header determines whether a retry is possible.
    retriable: JOB_ERRORS.has(type) ? retriable : !isFinal,
    reason: describe(error),
    work: 'over',
  }
}

const describe = ({ detail, error_type }: z.infer<typeof FalError>): string =>
  Array.isArray(detail)
    ? detail.map(({ type, msg }) => `${type ?? 'error'}: ${msg ?? ''}`).join('; ')
    : [error_type, detail].filter(Boolean).join(': ')

const mappingOf = (type: string): JobError => JOB_ERRORS.get(type) ?? RETRIABLE

const PERMANENT: JobError = { code: 'generation_failed', retriable: false }
const RETRIABLE: JobError = { code: 'generation_failed', retriable: true }
const TIMEOUT: JobError = { code: 'generation_timeout', retriable: true }

// The types come from fal's error page and from third-party code; fal publishes no complete list.
// The type of FASHN's missing pose is not documented: only face_detection_error is known.
const JOB_ERRORS = new Map<string, JobError>([
  ['content_policy_violation', { code: 'generation_rejected', retriable: false }],
  ['face_detection_error', { code: 'person_not_found', retriable: false }],
  ['request_timeout', TIMEOUT],
  ['startup_timeout', TIMEOUT],
  ['generation_timeout', TIMEOUT],
  ['file_download_error', RETRIABLE],
  ['image_load_error', RETRIABLE],
  ['no_media_generated', RETRIABLE],
  ['image_too_small', PERMANENT],
  ['image_too_large', PERMANENT],
  ['file_too_large', PERMANENT],
  ['unsupported_image_format', PERMANENT],
])
