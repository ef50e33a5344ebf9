// The pictures that the playground's form chooses: a URL or the reference of an upload. The URL is preferred.
// playground.js uploads a file as soon as it is chosen.
import { z } from 'zod'
import type { Role } from '../jobs/processing/fetch-image.ts'
import type { Mode } from '../domain/job.ts'
import { MAX_URL_LENGTH } from '../domain/limits.ts'
import { isSampleUrl, SAMPLE_PAIR, sampleUrl } from '../domain/samples.ts'
import { isScenario } from '../domain/scenario.ts'
import { baseUrlOf, urlPolicyOf } from '../http/base-url.ts'
import { tryOnBody } from '../http/try-on-body.ts'
import {
  isUploadUrl,
  signedUrl,
  uploadKeyOf,
  uploadProblem,
} from '../platform/signing/signed-url.ts'
import type { JobRow } from '../platform/db/schema.ts'
import type { ConsoleContext } from './console-context.ts'

export const ROLES = ['model', 'garment'] as const satisfies Role[]

const text = z.string().trim().max(MAX_URL_LENGTH).default('')
const fileName = z.string().trim().max(255).default('').catch('')

/** The fields of both pictures. An upload is referred to by its signed URL. */
export const PictureFields = z.object({
  model_image_url: text,
  model_upload: text,
  model_upload_name: fileName,
  garment_image_url: text,
  garment_upload: text,
  garment_upload_name: fileName,
})
export type PictureValues = z.infer<typeof PictureFields>

export const ownerOf = (c: ConsoleContext) => ({
  baseUrl: baseUrlOf(c),
  organisationId: c.var.membership.organisation.id,
})

/** The URL of the chosen picture; empty if there is none. */
export const chosenUrl = (values: Partial<PictureValues>, role: Role): string =>
  values[`${role}_image_url`] || (values[`${role}_upload`] ?? '')

/** The error of the chosen picture, or null. */
export function pictureProblem(
  c: ConsoleContext,
  { role, url, mode }: { role: Role; url: string; mode: Mode },
): string | null {
  if (!url) return 'Enter a URL or choose a file.'
  const result = tryOnBody(urlPolicyOf(c), mode).shape[`${role}_image_url`].safeParse(url)
  const problem = result.success
    ? (uploadProblem(c.env, ownerOf(c), url)?.message ?? null)
    : (result.error.issues[0]?.message ?? 'is not valid')
  return problem === null ? null : `The URL ${problem}.`
}

/** The values of a form with sample pictures, by default the first pair. */
export const sampleValues = (
  c: ConsoleContext,
  files: { [role in Role]?: string | undefined } = {},
) => ({
  model_image_url: sampleUrl(baseUrlOf(c), files.model ?? SAMPLE_PAIR.model),
  garment_image_url: sampleUrl(baseUrlOf(c), files.garment ?? SAMPLE_PAIR.garment),
})

/** The values of a form with the pictures of a job. A picture that is deleted has no value. */
export function valuesOfJob(c: ConsoleContext, row: JobRow): Partial<PictureValues> {
  const values: Partial<PictureValues> = {}
  for (const role of ROLES) {
    const url = row[`${role}ImageUrl`] ?? ''
    if (!isUploadUrl(baseUrlOf(c), url)) values[`${role}_image_url`] = url
    else if (uploadProblem(c.env, ownerOf(c), url) === null) {
      values[`${role}_upload`] = url
      values[`${role}_upload_name`] = 'Uploaded picture'
    }
  }
  return values
}

/** The address of a picture in the browser; null for a scenario and for no picture. */
export function previewUrl(c: ConsoleContext, url: string): string | null {
  if (!URL.canParse(url) || isScenario(url)) return null
  const { baseUrl } = ownerOf(c)
  if (isSampleUrl(baseUrl, url)) return url.slice(baseUrl.length)
  const key = uploadKeyOf(c.env, ownerOf(c), url)
  if (key) return signedUrl(c.env, baseUrl, key)
  return /^https?:\/\//i.test(url) ? url : null
}
