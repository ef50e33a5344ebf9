// The page of a job, its actions, and the files of its result.
import { listKeyNames } from '../../organisations/api-keys.ts'
import { listWorkspaces } from '../../organisations/workspaces.ts'
import { mayAccess } from '../../organisations/workspace-rights.ts'
import { AppError } from '../../domain/errors.ts'
import { EXTENSION } from '../../domain/image.ts'
import { isFinal } from '../../domain/job.ts'
import { MAX_ADDED_ENDPOINTS } from '../../domain/webhook.ts'
import { createThumbnail } from '../../engines/compositor.ts'
import { baseUrlOf } from '../../http/base-url.ts'
import { preconditions } from '../../http/preconditions.ts'
import { SemaphoreTimeout } from '../../platform/concurrency/semaphore.ts'
import { eventIdOf } from '../../platform/ids.ts'
import { outputKey, thumbnailKey } from '../../platform/signing/signed-url.ts'
import { cancelJob } from '../../jobs/cancel.ts'
import { readNeighbours } from '../../jobs/reports/search.ts'
import { findJobNearby } from '../../jobs/read-job.ts'
import type { JobWithEvent } from '../../jobs/job-store.ts'
import { storeThumbnail } from '../../jobs/pictures.ts'
import { deleteOutput } from '../../privacy/delete-output.ts'
import { listDeliveries } from '../../webhooks/delivery/read-deliveries.ts'
import { listAttempts } from '../../webhooks/event-reads.ts'
import { CodeSnippets, CopyableId } from '../components/copyable-text.tsx'
import { ActionForm, FormError } from '../components/form.tsx'
import { memberFragment, memberPage, Breadcrumb } from '../components/layout.tsx'
import { pageLinks } from '../components/section.tsx'
import { filterOf, JobListQuery } from '../job-filter.ts'
import { permitted } from '../middleware/session.ts'
import { may, createApp, scopeOf, type ConsoleContext } from '../console-context.ts'
import { redirectTo } from '../form-notices.ts'
import { KEY_FROM_ENVIRONMENT, tryOnSnippets } from '../snippets.ts'
import { Nonce, submitFromConsole } from '../submit-job.ts'
import { canRunAgain, JobSection, refreshSecondsOf } from './job-section.tsx'
import { idIn, pageWith, withQuery } from '../forms.ts'

/** A browser without JavaScript reloads the page at most this often. */
const MIN_RELOAD_SECONDS = 2
/** The longer side of a thumbnail, pixels: about 4 kB. */
const THUMBNAIL_SIDE = 160
/** As long as the link to an output is valid. */
const MAX_AGE_SECONDS = 3_600

export const job = createApp()
  .get('/:jobId', (c) => jobPage(c))
  // console.js polls this fragment until the job and its webhook have ended.
  .get('/:jobId/live', async (c) => {
    const details = await readDetails(c, jobIdIn(c))
    return memberFragment(c, <JobSection c={c} {...details} />)
  })
  .get('/:jobId/thumbnail', async (c) => thumbnailResponse(c, await readOwnJob(c)))
  .get('/:jobId/download', async (c) => downloadResponse(c, await readOwnJob(c)))
  .get('/:jobId/run-again', (c) => redirectTo(c, `/jobs/${jobIdIn(c)}`))
  .post('/:jobId/run-again', permitted('develop'), async (c) => {
    const row = await readOwnJob(c)
    const nonce = Nonce.safeParse((await c.req.parseBody())['nonce'])
    if (!nonce.success || !canRunAgain(c, row)) {
      const message = 'The images of this job are deleted. Submit a new job with other images.'
      return pageWith(c, jobPage, { errors: { '': message } })
    }
    const jobId = await submitFromConsole(c, jobPage, {
      mode: row.mode,
      modelImageUrl: row.modelImageUrl ?? '',
      garmentImageUrl: row.garmentImageUrl ?? '',
      workspaceId: row.workspaceId,
      nonce: nonce.data,
    })
    return redirectTo(c, `/jobs/${jobId}`)
  })
  .post('/:jobId/cancel', permitted('develop'), async (c) => {
    const { id } = await readOwnJob(c)
    try {
      await cancelJob({ ...scopeOf(c), jobId: id })
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      return redirectTo(c, `/jobs/${id}`, 'cancelled_late')
    }
    return redirectTo(c, `/jobs/${id}`)
  })
  .post('/:jobId/delete-pictures', permitted('develop'), async (c) => {
    const { id } = await readOwnJob(c)
    try {
      await deleteOutput({ ...scopeOf(c), jobId: id })
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'job_not_finished')) throw error
    }
    return redirectTo(c, `/jobs/${id}`)
  })

const jobIdIn = (c: ConsoleContext) => idIn(c, 'jobId', 'job')

/** A job of the organisation, in a workspace of the member. */
export async function findOwnJob(c: ConsoleContext, jobId: string) {
  const found = await findJobNearby(c.env, jobId)
  const { organisation, workspaceIds } = c.var.membership
  const isOwn = found?.organisationId === organisation.id
  return isOwn && mayAccess(workspaceIds, found.workspaceId) ? found : undefined
}

/** @throws AppError not_found, also for a job of another organisation or workspace */
async function readOwnJob(c: ConsoleContext): Promise<JobWithEvent> {
  const found = await findOwnJob(c, jobIdIn(c))
  if (!found) throw new AppError('not_found')
  return found
}

/** The job, and what the page shows of its id alone, which is read at the same time. */
async function readDetails(c: ConsoleContext, jobId: string) {
  const eventId = eventIdOf(jobId)
  const [row, attempts, workspaces, keys] = await Promise.all([
    readOwnJob(c),
    listAttempts({ ...scopeOf(c), eventId }),
    listWorkspaces(scopeOf(c)),
    listKeyNames(scopeOf(c)),
  ])
  const filter = { mode: row.mode, jobId }
  const ended = isFinal(row.status)
    ? await listDeliveries({ ...scopeOf(c), filter, start: {}, limit: MAX_ADDED_ENDPOINTS + 1 })
    : { deliveries: [] }
  const addedEvents = ended.deliveries.filter(({ id }) => id !== eventId)
  return { row, attempts, workspaces, keys, addedEvents }
}

async function jobPage(c: ConsoleContext) {
  const query = JobListQuery.parse(c.req.query())
  const jobId = jobIdIn(c)
  const [details, { newerId, olderId }] = await Promise.all([
    readDetails(c, jobId),
    readNeighbours({ ...scopeOf(c), filter: filterOf(query, c.var.mode) }, jobId),
  ])
  const { row, addedEvents } = details
  const refreshSeconds = refreshSecondsOf(row, addedEvents)
  return memberPage(
    {
      c,
      title: 'Job',
      heading: null,
      refreshSeconds: refreshSeconds && Math.max(refreshSeconds, MIN_RELOAD_SECONDS),
    },
    <>
      <div class="bar">
        <Breadcrumb to={{ [withQuery('/jobs', query)]: 'Jobs' }} />
        {/* In the mode of this job. */}
        {pageLinks(
          {
            'Newer job': newerId && withQuery(`/jobs/${newerId}`, query),
            'Older job': olderId && withQuery(`/jobs/${olderId}`, query),
          },
          'Jobs of the list',
        )}
      </div>
      <h1>
        Job <CopyableId id={row.id} label="job ID" />
      </h1>
      {/* The rejection of "Run again". */}
      <FormError state={c.var.form} />
      <JobSection c={c} {...details} />
      <RunAgain c={c} row={row} />
    </>,
  )
}

/** Outside of the section that console.js replaces, since the form contains a random value. */
const RunAgain = ({ c, row }: { c: ConsoleContext; row: JobWithEvent }) => {
  if (!canRunAgain(c, row)) return null
  const label = row.mode === 'live' ? 'Run again (1 credit)' : 'Run again'
  return (
    <section>
      <h2>Run again</h2>
      {may(c, 'develop') && (
        <p>
          <ActionForm
            to={`/jobs/${row.id}/run-again`}
            label={label}
            fields={{ nonce: crypto.randomUUID() }}
          />
        </p>
      )}
      <p class="muted">
        A new job with the same images, mode and workspace. The same as code, with{' '}
        <code>TRY_ON_API_KEY</code> set to a {row.mode} API key:
      </p>
      <CodeSnippets
        id="code"
        snippets={tryOnSnippets({
          baseUrl: baseUrlOf(c),
          apiKey: KEY_FROM_ENVIRONMENT,
          fields: {
            model_image_url: row.modelImageUrl ?? '',
            garment_image_url: row.garmentImageUrl ?? '',
            workspace_id: row.workspaceId,
          },
        })}
      />
    </section>
  )
}

/**
 * A small JPEG of the result. It is created at the first request, stored, and deleted with the result. The
 * browser caches it and checks it by its ETag.
 * @throws AppError not_found without a result, and for one that is too large to decode
 */
async function thumbnailResponse(c: ConsoleContext, job: JobWithEvent): Promise<Response> {
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
async function downloadResponse(c: ConsoleContext, job: JobWithEvent): Promise<Response> {
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
