// The files of a job's page: the thumbnail and the download of its result.
import { SemaphoreTimeout } from '../../platform/concurrency/semaphore.ts'
import { AppError } from '../../domain/errors.ts'
import { EXTENSION } from '../../domain/image.ts'
import { createThumbnail } from '../../engines/compositor.ts'
import { preconditions } from '../../http/preconditions.ts'
import type { JobWithEvent } from '../../jobs/job-store.ts'
import { storeThumbnail } from '../../jobs/pictures.ts'
import { outputKey, thumbnailKey } from '../../platform/signing/signed-url.ts'
import type { ConsoleContext } from '../console-context.ts'

/** The longer side of a thumbnail, pixels: about 4 kB. */
const THUMBNAIL_SIDE = 160
/** As long as the link to an output is valid. */
const MAX_AGE_SECONDS = 3_600

/**
 * A small JPEG of the result. It is created at the first request, stored, and deleted with the result. The
 * browser caches it and checks it by its ETag.
 * @throws AppError not_found without a result, and for one that is too large to decode
 */
export async function thumbnailResponse(c: ConsoleContext, job: JobWithEvent): Promise<Response> {
  const { format, key } = outputOf(job)
  const stored = await storedThumbnail(c, job.id)
  if (stored) return stored
  const read = async () => {
    // Another request has created it while this one waited.
    if (await c.env.IMAGES.head(thumbnailKey(job.id))) return null
    const bytes = await (await c.env.IMAGES.get(key))?.arrayBuffer()
    return bytes ? { bytes: new Uint8Array(bytes), format } : null
  }
  const store = (thumbnail: Uint8Array<ArrayBuffer>) =>
    storeThumbnail({ env: c.env, jobId: job.id, outputFormat: format, thumbnail })
  try {
    await createThumbnail(job.organisationId, { read, store, maxSide: THUMBNAIL_SIDE })
  } catch (error) {
    if (!(error instanceof SemaphoreTimeout)) throw error
    return c.body(null, 503, { 'Retry-After': '10' })
  }
  const created = await storedThumbnail(c, job.id)
  if (!created) throw new AppError('not_found')
  return created
}

async function storedThumbnail(c: ConsoleContext, jobId: string): Promise<Response | null> {
  const object = await c.env.IMAGES.get(thumbnailKey(jobId), {
    onlyIf: preconditions(c.req.header('If-None-Match')),
  })
  if (!object) return null
  const headers = {
    ETag: object.httpEtag,
    'Cache-Control': `private, max-age=${MAX_AGE_SECONDS}`,
  }
  if (!('body' in object)) return c.body(null, 304, headers)
  return c.body(object.body, 200, { ...headers, 'Content-Type': 'image/jpeg' })
}

/** The result as a file with a name. @throws AppError not_found without a result */
export async function downloadResponse(c: ConsoleContext, job: JobWithEvent): Promise<Response> {
  const { format, key } = outputOf(job)
  const object = await c.env.IMAGES.get(key)
  if (!object) throw new AppError('not_found')
  return c.body(object.body, 200, {
    'Content-Type': object.httpMetadata?.contentType ?? 'application/octet-stream',
    'Content-Length': String(object.size),
    'Content-Disposition': `attachment; filename="try-on-${job.id}.${EXTENSION[format]}"`,
  })
}

/** @throws AppError not_found */
function outputOf({ id, status, outputFormat }: JobWithEvent) {
  if (status !== 'completed' || !outputFormat) throw new AppError('not_found')
  return { format: outputFormat, key: outputKey(id, outputFormat) }
}
