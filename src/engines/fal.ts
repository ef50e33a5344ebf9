// fal's queue (docs.fal.ai): submitted by POST, then asked after at the URLs that the answer names.
// Those URLs are stored, not rebuilt: rebuilt ones are wrong for models with more than two segments.
import { JobFailure } from '../domain/failure.ts'
import { z } from 'zod'
import { BaseUrl } from './base-url.ts'
import { type Engine, type EngineInput } from './engine.ts'
import { parseHandle, running } from './handle.ts'
import { fetchOutput } from './output.ts'
import { callProvider, scrub, type Explanation, type Failure } from './provider.ts'

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
// Kolors answers with one `image` (seen in third-party code only), the others with `images`.
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
  const headers = { authorization: `Key ${settings.FAL_KEY}` }
  const isFals = (url: string) => URL.parse(url)?.origin === new URL(base).origin

  /** The key goes to fal only, whatever a stored handle says. */
  function trusted(text: string): Handle {
    const handle = parseHandle('fal', text, Handle)
    if ([handle.status_url, handle.response_url, handle.cancel_url].every(isFals)) return handle
    throw new JobFailure('internal_error', 'fal: a handle that leads elsewhere', { work: 'over' })
  }

  return {
    name: 'fal',
    paid: true,

    async start(input) {
      const { status_url, response_url, cancel_url } = await callProvider({
        provider: 'fal',
        during: 'start',
        method: 'POST',
        url: `${base}/${settings.FAL_MODEL}`,
        headers: {
          ...headers,
          // We copy the picture at once; the customers' pictures need not stay with fal.
          'x-fal-object-lifecycle-preference': '{"expiration_duration_seconds":3600}',
        },
        json: await inputsFor(settings.FAL_MODEL, input),
        answer: Submitted.refine((answer) =>
          [answer.status_url, answer.response_url, answer.cancel_url].every(isFals),
        ),
        explain,
      })
      return running<Handle>({ status_url, response_url, cancel_url, startedAtMs: Date.now() })
    },

    async poll(text) {
      const handle = trusted(text)
      const { status, error, error_type } = await callProvider({
        provider: 'fal',
        during: 'poll',
        method: 'GET',
        url: handle.status_url,
        headers,
        answer: Status,
        explain,
      })
      if (status !== 'COMPLETED') return running(handle)
      if (error_type) throw jobError({ type: error_type, text: error })

      const output = await callProvider({
        provider: 'fal',
        during: 'poll',
        method: 'GET',
        url: handle.response_url,
        headers,
        answer: Result,
        explain: explainResult,
      })
      return { done: true, image: await fetchOutput('fal', output, base) }
    },

    async cancel(text) {
      await callProvider({
        provider: 'fal',
        during: 'cancel',
        method: 'PUT',
        url: trusted(text).cancel_url,
        headers,
        answer: z.unknown(),
      })
    },
  }
}

async function inputsFor(name: FalSettings['FAL_MODEL'], { model, garment }: EngineInput) {
  const [person, clothes] = await Promise.all([model.url(), garment.url()])
  switch (name) {
    case 'fal-ai/fashn/tryon/v1.6':
      return { model_image: person, garment_image: clothes, output_format: 'png' }
    case 'fal-ai/kling/v1-5/kolors-virtual-try-on':
      return { human_image_url: person, garment_image_url: clothes }
    case 'fal-ai/flux-pro/v1/vto':
      return { human_image_url: person, garment_image_url: clothes, prompt: FLUX_PROMPT }
  }
}

const FLUX_PROMPT =
  'The person, keeping exactly their face, pose and background, wearing the garment.'

/** Submitting or asking was refused: our key, our credit, our request, or fal itself. */
function explain({ status, body }: Failure): Explanation | undefined {
  const error = FalError.safeParse(body).data
  if (!error || status === 404) return undefined
  return { code: 'engine_unavailable', retriable: true, reason: describe(error) }
}

/** The result's own status: a rejection of our key, or the model's failure told as HTTP. */
function explainResult(failure: Failure): Explanation | undefined {
  const error = FalError.safeParse(failure.body).data
  if (!error || [401, 402, 403, 404, 429].includes(failure.status)) return explain(failure)

  const detail = Array.isArray(error.detail) ? error.detail[0] : undefined
  const type = detail?.type ?? error.error_type
  if (!type) return explain(failure)
  const { code, retriable } = reading(type)
  const final = failure.headers.get('x-fal-retryable') === 'false'
  return {
    code,
    // An unknown type is retried unless fal itself says that it is of no use.
    retriable: JOB_ERRORS.has(type) ? retriable : !final,
    reason: describe(error),
    work: 'over',
  }
}

function jobError(error: { type: string; text: string | null | undefined }): JobFailure {
  const { code, retriable } = reading(error.type)
  const reason = scrub([error.type, error.text].filter(Boolean).join(': '))
  return new JobFailure(code, `fal job: ${reason}`, { retriable, work: 'over' })
}

const describe = ({ detail, error_type }: z.infer<typeof FalError>): string =>
  Array.isArray(detail)
    ? detail.map(({ type, msg }) => `${type ?? 'error'}: ${msg ?? ''}`).join('; ')
    : [error_type, detail].filter(Boolean).join(': ')

type Reading = Pick<Explanation, 'code' | 'retriable'>

const reading = (type: string): Reading =>
  JOB_ERRORS.get(type) ?? { code: 'generation_failed', retriable: true }

const PERMANENT: Reading = { code: 'generation_failed', retriable: false }
const OURS: Reading = { code: 'generation_failed', retriable: true }
const TIMEOUT: Reading = { code: 'generation_timeout', retriable: true }

// Names partly from fal's error page, partly seen in other people's code; the full list is not
// published. How fal words FASHN's missing pose is not known: only face_detection_error is.
const JOB_ERRORS = new Map<string, Reading>([
  ['content_policy_violation', { code: 'generation_rejected', retriable: false }],
  ['face_detection_error', { code: 'person_not_found', retriable: false }],
  ['request_timeout', TIMEOUT],
  ['startup_timeout', TIMEOUT],
  ['generation_timeout', TIMEOUT],
  ['file_download_error', OURS],
  ['image_load_error', OURS],
  ['no_media_generated', OURS],
  ['image_too_small', PERMANENT],
  ['image_too_large', PERMANENT],
  ['file_too_large', PERMANENT],
  ['unsupported_image_format', PERMANENT],
])
