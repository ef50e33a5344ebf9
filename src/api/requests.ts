// What clients may send, as schemas: they check requests and make the OpenAPI document.
import { z } from 'zod'
import { imageUrlProblem, urlProblem } from '../net/public-url.ts'
import type { UrlPolicy } from '../net/public-url.ts'
import { isScenario, scenarioProblem } from '../domain/scenario.ts'
import { JOB_STATUSES } from '../domain/job.ts'
import type { Mode } from '../domain/job.ts'
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, MAX_URL_LENGTH } from '../domain/limits.ts'

const required = (expected: string) => (issue: { input?: unknown }) =>
  issue.input === undefined ? `is required: ${expected}` : `must be ${expected}`

const url = (expected: string, problem: (text: string) => string | null) =>
  z.string({ error: required(expected) }).superRefine((text, context) => {
    const message = problem(text)
    if (message) context.addIssue({ code: 'custom', message })
  })

type TryOnBody = ReturnType<typeof makeTryOnBody>
const bodies = new WeakMap<UrlPolicy, Partial<Record<Mode, TryOnBody>>>()

/** The body of POST /v1/tryon. Cached per policy, since making a schema costs more than using it. */
export function tryOnBody(policy: UrlPolicy, mode: Mode): TryOnBody {
  let byMode = bodies.get(policy)
  if (!byMode) bodies.set(policy, (byMode = {}))
  return (byMode[mode] ??= makeTryOnBody(policy, mode))
}

function makeTryOnBody(policy: UrlPolicy, mode: Mode) {
  const imageUrl = (description: string, example: string) =>
    url('a string, the URL of an image', (text) => {
      const problem = imageUrlProblem(text, policy)
      if (problem || !isScenario(text)) return problem
      if (mode === 'live') return 'must not be on test.invalid, which steers test mode only'
      return scenarioProblem(text)
    }).meta({
      description: `${description} JPEG, PNG or WebP, at most 10 MB.`,
      format: 'uri',
      maxLength: MAX_URL_LENGTH,
      example,
    })
  return z.object(
    {
      model_image_url: imageUrl(
        'Publicly accessible URL of the model photo.',
        'https://shop.example/model.jpg',
      ),
      garment_image_url: imageUrl(
        'Publicly accessible URL of the garment photo.',
        'https://shop.example/shirt.png',
      ),
      workspace_id: z
        .string({ error: required('a string, the id of a workspace') })
        .min(1, 'must not be empty')
        .max(255, 'must have at most 255 characters')
        .optional()
        .meta({ description: 'Default: the first active workspace of the organisation.' }),
      webhook_url: url('a string, an http or https URL', (text) => urlProblem(text, policy))
        .optional()
        .meta({
          description: 'Receives the result. Overrides the organisation’s default webhook URL.',
          format: 'uri',
          maxLength: MAX_URL_LENGTH,
        }),
    },
    'The body must be a JSON object',
  )
}

const PAGE_LIMIT = `must be a whole number from 1 to ${MAX_PAGE_SIZE}`

/** The page size of any list, as it comes in a query. */
export const PageLimit = z
  .string('must be given once')
  .regex(/^\d{1,3}$/, PAGE_LIMIT)
  .transform(Number)
  .pipe(z.int().min(1, PAGE_LIMIT).max(MAX_PAGE_SIZE, PAGE_LIMIT))
  .default(DEFAULT_PAGE_SIZE)
  .meta({
    description: 'Page size.',
    override: { type: 'integer', minimum: 1, maximum: MAX_PAGE_SIZE, default: DEFAULT_PAGE_SIZE },
  })

/** The query of GET /v1/jobs. */
export const JobsQuery = z.object({
  workspace_id: z
    .string('must be given once')
    .optional()
    .meta({ description: 'Only jobs of this workspace.' }),
  status: z
    .enum(JOB_STATUSES, `must be one of ${JOB_STATUSES.join(', ')}`)
    .optional()
    .meta({ description: 'Only jobs with this status.' }),
  limit: PageLimit,
  cursor: z
    .string('must be given once')
    .optional()
    .meta({ description: 'next_cursor of the page before. Opaque.' }),
})

/** Idempotency-Key: visible ASCII, 1 to 255 characters. */
export const IdempotencyKey = z
  .string()
  .regex(/^[\x21-\x7e]{1,255}$/, 'must be 1 to 255 visible ASCII characters')
