// The body of POST /v1/tryon. The console validates its form with the same fields.
import { z } from 'zod'
import type { Mode } from '../domain/job.ts'
import { MAX_URL_LENGTH } from '../domain/limits.ts'
import { isScenario, scenarioProblem } from '../domain/scenario.ts'
import { imageUrlProblem, urlProblem, type UrlPolicy } from '../platform/net/public-url.ts'

type TryOnBody = ReturnType<typeof createTryOnBody>
const schemas = new WeakMap<UrlPolicy, Partial<Record<Mode, TryOnBody>>>()

/** The schema. Cached per policy, since creating a schema takes longer than using it. */
export function tryOnBody(policy: UrlPolicy, mode: Mode): TryOnBody {
  let byMode = schemas.get(policy)
  if (!byMode) schemas.set(policy, (byMode = {}))
  return (byMode[mode] ??= createTryOnBody(policy, mode))
}

function createTryOnBody(policy: UrlPolicy, mode: Mode) {
  const imageUrl = (description: string, example: string) =>
    url('a string, the URL of an image', (text) => {
      const problem = imageUrlProblem(text, policy)
      if (problem || !isScenario(text)) return problem
      if (mode === 'live') return 'must not be on test.invalid, which is for test mode only'
      return scenarioProblem(text)
    }).meta({
      description: `${description} The image must be a JPEG, PNG or WebP file of at most 10 MB.`,
      format: 'uri',
      maxLength: MAX_URL_LENGTH,
      examples: [example],
    })
  return z.object(
    {
      model_image_url: imageUrl(
        'The publicly accessible URL of the model photo, or the `url` of an upload.',
        'https://shop.example/model.jpg',
      ),
      garment_image_url: imageUrl(
        'The publicly accessible URL of the garment photo, or the `url` of an upload.',
        'https://shop.example/shirt.png',
      ),
      workspace_id: z
        .string({ error: required('a string, the id of a workspace') })
        .min(1, 'must not be empty')
        .max(255, 'must have at most 255 characters')
        .optional()
        .meta({
          description:
            'The workspace that the job belongs to. By default the first active workspace of the organisation.',
          examples: ['ws_01m45j10cfeqs81jeh7e74f9g5'],
        }),
      webhook_url: webhookUrl(policy).optional().meta({
        description:
          'The http or https URL that receives the result. Overrides the default webhook URL of the organisation.',
      }),
    },
    'The body must be a JSON object',
  )
}

/** A URL that receives events. */
export const webhookUrl = (policy: UrlPolicy) =>
  url('a string, an http or https URL', (text) => urlProblem(text, policy)).meta({
    format: 'uri',
    maxLength: MAX_URL_LENGTH,
    examples: ['https://shop.example/webhooks/try-on'],
  })

/** A URL for which `problemOf` returns null. @param expected its type, for the message */
export const url = (expected: string, problemOf: (text: string) => string | null) =>
  z.string({ error: required(expected) }).superRefine((text, context) => {
    const message = problemOf(text)
    if (message) context.addIssue({ code: 'custom', message })
  })

const required = (expected: string) => (issue: { input?: unknown }) =>
  issue.input === undefined ? `is required: ${expected}` : `must be ${expected}`
