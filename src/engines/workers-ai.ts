// Cloudflare's models through the `AI` binding, which needs no second account. Calls are synchronous.
// Only a failed download of a finished picture is repeated by polling, so that it is not paid for twice.
import { z } from 'zod'
import { JobFailure, type ProviderWork } from '../domain/failure.ts'
import type { JobErrorCode } from '../domain/job.ts'
import { dimensions, detectFormat } from '@try-on/image-files'
import { parseHandle, refused, type Engine, type EngineInput, type Progress } from './engine.ts'
import { decodeOutput, fetchOutput } from './output.ts'
import { scrub, type JobError } from './provider-api.ts'
import type { Scale } from './scale.ts'

const TRY_ON = 'pruna/p-image-try-on'

export const WorkersAiSettings = z.object({
  WORKERS_AI_MODEL: z
    .enum([
      TRY_ON,
      '@cf/black-forest-labs/flux-2-dev',
      '@cf/black-forest-labs/flux-2-klein-4b',
      '@cf/black-forest-labs/flux-2-klein-9b',
    ])
    .default(TRY_ON),
})
export type WorkersAiSettings = z.infer<typeof WorkersAiSettings>

/** The part of the `AI` binding that is used. Its own types do not list `pruna/…` yet. */
export interface WorkersAi {
  run(
    model: string,
    input: Record<string, unknown>,
    options?: { signal?: AbortSignal },
  ): Promise<unknown>
}

// Known from Cloudflare's page of the model and from third-party Workers, some of which read a bare
// `image`. Whether a failure is thrown or returned in `state` is not documented.
const TryOnResult = z.union([
  z.object({ state: z.string().nullish(), result: z.object({ image: z.string() }) }),
  z.object({ image: z.string() }).transform((result) => ({ state: null, result })),
  z.object({ state: z.string(), result: z.null().optional() }),
])
const FluxResult = z.object({ image: z.string() })

const Handle = z.object({ image: z.url({ protocol: /^https$/ }) })

const TIMEOUT_MS = 120_000
const DOWNLOAD_RETRY_SECONDS = 2
/** FLUX.2 accepts reference images below 512 × 512. */
const MAX_REFERENCE_SIDE = 511
/** FLUX.2 returns pictures whose sides are multiples of 16, at least 256. */
const OUTPUT_SIDE = 1024
const MIN_OUTPUT_SIDE = 256

const FLUX_PROMPT =
  'The person in image 0, with exactly the same face, hair, body, pose and background, wearing ' +
  'the garment in image 1. Change nothing but the clothing that the garment replaces.'

/** Only the FLUX.2 models need `scale`. */
export function createWorkersAi(settings: WorkersAiSettings, ai: WorkersAi, scale?: Scale): Engine {
  const model = settings.WORKERS_AI_MODEL

  async function run<Result>(schema: z.ZodType<Result>, input: Record<string, unknown>) {
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    // Older runtimes ignore the signal, so the call also races against a timeout.
    const timeout = new Promise<never>((_, reject) =>
      signal.addEventListener('abort', () => reject(signal.reason)),
    )
    let result: unknown
    try {
      result = await Promise.race([ai.run(model, input, { signal }), timeout])
    } catch (error) {
      throw bindingError(error)
    }
    const parsed = schema.safeParse(result)
    if (!parsed.success) throw ambiguous('unexpected result')
    return parsed.data
  }

  async function tryOn({ model: person, garment }: EngineInput): Promise<Progress> {
    const [personUrl, garmentUrl] = await Promise.all([person.url(), garment.url()])
    const { state, result } = await run(TryOnResult, {
      // URLs, because the gateway drops large data URIs.
      person_image: personUrl,
      garment_images: [garmentUrl],
      output_format: 'jpg',
      output_quality: 95,
      preserve_input_size: true,
    })
    if (!result) throw failed(`ended in state ${scrub(state ?? 'unknown')} without a picture`)
    return download(result.image)
  }

  async function flux(input: EngineInput): Promise<Progress> {
    const form = await fluxForm(input, scale)
    const request = new Response(form)
    const contentType = request.headers.get('content-type')
    const { image } = await run(FluxResult, { multipart: { body: request.body, contentType } })
    return { done: true, image: decodeOutput('workers-ai', image) }
  }

  return {
    name: 'workers-ai',
    paid: true,
    start: model === TRY_ON ? tryOn : flux,

    async poll(handle) {
      const { image } = parseHandle('workers-ai', handle, Handle)
      return { done: true, image: await fetchOutput('workers-ai', image) }
    },
  }
}

/** The picture is already paid for, so a temporary error causes another download instead of a start. */
async function download(image: string): Promise<Progress> {
  try {
    return { done: true, image: await fetchOutput('workers-ai', image) }
  } catch (error) {
    if (!(error instanceof JobFailure) || error.work !== 'alive') throw error
    const handle = JSON.stringify({ image })
    return { done: false, handle, pollAfterSeconds: DOWNLOAD_RETRY_SECONDS }
  }
}

async function fluxForm({ model, garment }: EngineInput, scale?: Scale): Promise<FormData> {
  if (!scale)
    throw refused('workers-ai: a FLUX.2 model needs the [images] binding to scale its inputs')
  let person: Blob
  let clothes: Blob
  try {
    person = await scale(model.bytes, MAX_REFERENCE_SIDE)
    clothes = await scale(garment.bytes, MAX_REFERENCE_SIDE)
  } catch {
    throw refused('workers-ai: the images could not be scaled')
  }
  const form = new FormData()
  form.append('prompt', FLUX_PROMPT)
  form.append('input_image_0', person)
  form.append('input_image_1', clothes)
  // Uses the size of the scaled image, since the original may have an EXIF orientation.
  const { width, height } = outputSize(await person.bytes())
  form.append('width', String(width))
  form.append('height', String(height))
  return form
}

function outputSize(person: Uint8Array): { width: number; height: number } {
  const format = detectFormat(person)
  const size = format && dimensions(person, format)
  if (!size) throw refused('workers-ai: the scaled image is not valid')
  const factor = OUTPUT_SIDE / Math.max(size.width, size.height)
  const side = (pixels: number) =>
    Math.max(MIN_OUTPUT_SIDE, Math.round((pixels * factor) / 16) * 16)
  return { width: side(size.width), height: side(size.height) }
}

/** The binding throws `InferenceUpstreamError` with the message `<code>: <description>`. */
function bindingError(error: unknown): JobFailure {
  const name = error instanceof Error ? error.name : 'unknown error'
  const text = error instanceof Error ? error.message : ''
  const known = CODES.get(Number(/\b(\d{4}): /.exec(text)?.[1]))
  if (!known) return ambiguous(name)
  return new JobFailure(known.code, `workers-ai: ${scrub(text)}`, known)
}

type BindingError = JobError & { work: ProviderWork }

/** Capacity (3040), errors of our account and errors of our request. Nothing was started. */
const NOT_STARTED = [
  3040, 3036, 3023, 3041, 5016, 5018, 2001, 2021, 3003, 3039, 3042, 5004, 5005, 5006, 5007, 5019,
]

const REFUSED: BindingError = { code: 'engine_unavailable', retriable: true, work: 'refused' }

// https://developers.cloudflare.com/workers-ai/platform/errors/; its table does not list 2001 and 2021
// (billing), 3030 (safety filter) and 5006 (no multipart).
const CODES = new Map<number, BindingError>([
  ...NOT_STARTED.map((code): [number, BindingError] => [code, REFUSED]),
  [3006, { code: 'generation_failed', retriable: true, work: 'refused' }],
  [3007, { code: 'generation_timeout', retriable: true, work: 'ambiguous' }],
  [3008, { code: 'engine_unavailable', retriable: true, work: 'ambiguous' }],
  [3030, { code: 'generation_rejected', retriable: false, work: 'over' }],
])

const failure =
  (code: JobErrorCode, work: ProviderWork) =>
  (reason: string): JobFailure =>
    new JobFailure(code, `workers-ai: ${reason}`, { retriable: true, work })

const ambiguous = failure('engine_unavailable', 'ambiguous')
const failed = failure('generation_failed', 'over')
