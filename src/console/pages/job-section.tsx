// The state of a job on its page: its images, actions and details.
import type { NamedKey } from '../../organisations/api-keys.ts'
import type { WorkspaceRow } from '../../platform/db/schema.ts'
import type { WebhookAttemptRow } from '../../platform/db/webhook-schema.ts'
import { errorDocsPath } from '../../domain/docs.ts'
import { isFinal, SUBMITTED_IN_CONSOLE } from '../../domain/job.ts'
import { isDeliveryFinal } from '../../domain/webhook.ts'
import { isScenario } from '../../domain/scenario.ts'
import { baseUrlOf } from '../../http/base-url.ts'
import { reasonForMembers } from '../../jobs/processing/failure-record.ts'
import { creditCost } from '../../jobs/present-job.ts'
import type { JobWithEvent } from '../../jobs/job-store.ts'
import type { Delivery } from '../../webhooks/delivery/read-deliveries.ts'
import {
  outputKey,
  signedUrlForPage,
  uploadKeyOf,
  uploadProblem,
} from '../../platform/signing/signed-url.ts'
import {
  ModeBadge,
  StatusBadge,
  Link,
  Notice,
  formatDuration,
  ButtonLink,
} from '../components/text.tsx'
import { ActionForm } from '../components/form.tsx'
import { withQuery } from '../forms.ts'
import { ownerOf } from '../playground-pictures.ts'
import { jobErrorMessage } from '../error-messages.ts'
import { may, mayInAllWorkspaces, pathOf, type ConsoleContext } from '../console-context.ts'
import { jobTimeline, timesOf } from './job-timeline.tsx'
import { detailList } from '../components/section.tsx'

interface SectionProps {
  c: ConsoleContext
  row: JobWithEvent
  attempts: WebhookAttemptRow[]
  /** The events for added endpoints. */
  addedEvents: Delivery[]
  workspaces: WorkspaceRow[]
  keys: NamedKey[]
}

/** console.js replaces the section while it has `data-live`. */
export const JobSection = ({ c, row, attempts, addedEvents, workspaces, keys }: SectionProps) => {
  const refreshSeconds = refreshSecondsOf(row, addedEvents)
  const hasEnded = isFinal(row.status)
  const times = timesOf(row)
  return (
    <section
      class="job"
      data-status={`Job ${row.status}`}
      data-live={refreshSeconds && pathOf(c, `/jobs/${row.id}/live`)}
      data-live-seconds={refreshSeconds}
      aria-label={`Job ${row.id}`}
    >
      <p class="job-status">
        <StatusBadge status={row.status} /> <ModeBadge mode={row.mode} />{' '}
        {refreshSeconds && (
          <span class="muted" aria-busy={hasEnded ? undefined : 'true'}>
            This page updates automatically.
          </span>
        )}
      </p>
      <Outcome row={row} />
      <Images c={c} row={row} />
      <Actions c={c} row={row} />
      <h2>Timeline</h2>
      {jobTimeline(row, attempts, addedEvents)}
      <h2>Details</h2>
      {detailList({
        Workspace: (
          <>
            {workspaces.find(({ id }) => id === row.workspaceId)?.name}{' '}
            <span class="id muted">{row.workspaceId}</span>
          </>
        ),
        'API key': keyName(row.apiKeyId, keys) ?? 'Unknown',
        Credits: hasEnded ? (row.status === 'completed' ? creditCost(row.mode) : 0) : '–',
        Waiting: formatDuration(times.waitingMs),
        Processing: formatDuration(row.durationMs),
        'Total time': formatDuration(times.totalMs),
        Engine: row.engine,
        'Model image': withoutQuery(row.modelImageUrl),
        'Garment image': withoutQuery(row.garmentImageUrl),
        Webhook: row.webhookUrl ?? (hasNoImages(row) ? DELETED : 'None'),
        'Request ID':
          row.requestId !== null &&
          // The request log contains only requests to the API.
          (row.apiKeyId !== SUBMITTED_IN_CONSOLE && mayInAllWorkspaces(c, 'jobs') ? (
            <Link to={withQuery('/requests', { q: row.requestId })}>{row.requestId}</Link>
          ) : (
            row.requestId
          )),
        'API requests': mayInAllWorkspaces(c, 'jobs') && (
          <Link to={`/requests?q=${row.id}`}>View in the request log</Link>
        ),
      })}
    </section>
  )
}

const MINUTE_MS = 60_000

/**
 * The interval at which the page follows the job, seconds; undefined once the job and its events have ended.
 * It grows with the age of the job, since retries of a webhook take hours.
 */
export function refreshSecondsOf(
  { status, eventStatus, eventDueAt, createdAt }: JobWithEvent,
  addedEvents: Pick<Delivery, 'status' | 'dueAt'>[],
): number | undefined {
  const open = [{ status: eventStatus, dueAt: eventDueAt }, ...addedEvents].filter(
    (event) => event.status !== null && !isDeliveryFinal(event.status),
  )
  const now = Date.now()
  if (isFinal(status)) {
    if (open.length === 0) return undefined
    if (open.every(({ dueAt }) => dueAt && dueAt.getTime() > now + MINUTE_MS)) return 30
  }
  const age = now - createdAt.getTime()
  return age < MINUTE_MS ? 1 : age < 10 * MINUTE_MS ? 5 : 30
}

const WITHDRAWN = {
  refunded: 'The job was cancelled at your request before processing started.',
  cancelled:
    'The service withdrew the job before processing started, for example because the organisation was suspended.',
}

const Outcome = ({ row }: { row: JobWithEvent }) => {
  const isLive = row.mode === 'live'
  if (row.status === 'refunded' || row.status === 'cancelled') {
    return (
      <Notice kind="info">
        {WITHDRAWN[row.status]}
        {isLive && ' The credit that was set aside was returned.'}
      </Notice>
    )
  }
  if (row.status !== 'failed') return null
  const reason = reasonForMembers(row)
  return (
    <Notice kind="bad">
      {jobErrorMessage(row.errorCode)}{' '}
      {row.errorCode && (
        <a href={errorDocsPath(row.errorCode)}>
          <code>{row.errorCode}</code>
        </a>
      )}
      {isLive && ' No credit was charged.'}
      {reason !== null && (
        <>
          <br />
          <strong>Reason:</strong> {reason}
        </>
      )}
    </Notice>
  )
}

const Images = ({ c, row }: { c: ConsoleContext; row: JobWithEvent }) => {
  const { id, status, outputFormat, modelImageUrl, garmentImageUrl } = row
  const result =
    status === 'completed' && outputFormat
      ? signedUrlForPage(c.env, baseUrlOf(c), outputKey(id, outputFormat))
      : null
  const noResult = status === 'completed' ? DELETED : 'No result'
  // Each with what is shown instead of an image that there is not.
  const images = [
    ['Model', displayUrl(c, modelImageUrl), modelImageUrl ? SCENARIO : DELETED],
    ['Garment', displayUrl(c, garmentImageUrl), garmentImageUrl ? SCENARIO : DELETED],
    ['Result', result, isFinal(status) ? noResult : 'Not available yet'],
  ] as const
  return (
    <div class="images">
      {images.map(([title, src, placeholder]) => (
        <figure>
          {src ? (
            <a class="frame" href={src} target="_blank" rel="noreferrer">
              <img src={src} alt={`${title} image`} referrerpolicy="no-referrer" />
            </a>
          ) : (
            <div class="frame">{placeholder}</div>
          )}
          <figcaption>{title}</figcaption>
        </figure>
      ))}
    </div>
  )
}

const Actions = ({ c, row }: { c: ConsoleContext; row: JobWithEvent }) => {
  const hasEnded = isFinal(row.status)
  const mayDevelop = may(c, 'develop')
  return (
    <div class="buttons">
      {row.status === 'completed' && row.outputFormat && (
        <ButtonLink to={`/jobs/${row.id}/download`} label="Download result" />
      )}
      {mayDevelop && row.status === 'pending' && (
        <ActionForm
          to={`/jobs/${row.id}/cancel`}
          label="Cancel job"
          confirm={`The job is not processed${row.mode === 'live' ? ', and its credit is returned' : ''}. This cannot be undone.`}
        />
      )}
      {mayDevelop && hasEnded && !hasNoImages(row) && (
        <ActionForm
          to={`/jobs/${row.id}/delete-pictures`}
          label="Delete images"
          kind="danger"
          confirm="The result image, the stored copies of the input images and all URLs of this job are permanently deleted. The job itself is not deleted."
        />
      )}
    </div>
  )
}

/** Whether both input images can be used in a new job: not deleted, and no expired upload. */
export const canRunAgain = (c: ConsoleContext, job: JobWithEvent): boolean =>
  [job.modelImageUrl, job.garmentImageUrl].every(
    (url) => url !== null && uploadProblem(c.env, ownerOf(c), url) === null,
  )

/** What submitted a job; undefined for jobs from before keys were stored. */
export function keyName(apiKeyId: string | null, keys: NamedKey[]) {
  if (apiKeyId === null) return undefined
  if (apiKeyId === SUBMITTED_IN_CONSOLE) return <span class="name">Console</span>
  return <span class="name">{keys.find(({ id }) => id === apiKeyId)?.name ?? 'Deleted key'}</span>
}

const DELETED = 'Deleted'
const SCENARIO = 'Test scenario'

const hasNoImages = ({ modelImageUrl, garmentImageUrl, outputFormat }: JobWithEvent): boolean =>
  modelImageUrl === null && garmentImageUrl === null && outputFormat === null

/** The URL of an input image; null for a scenario. Signs a new URL for an upload, since URLs expire. */
function displayUrl(c: ConsoleContext, url: string | null): string | null {
  if (url === null || isScenario(url)) return null
  const key = uploadKeyOf(c.env, ownerOf(c), url)
  return key ? signedUrlForPage(c.env, baseUrlOf(c), key) : url
}

const withoutQuery = (url: string | null) => url?.replace(/\?.*$/, '') ?? DELETED
