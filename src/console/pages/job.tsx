// A job: its images, timeline and details.
import { Hono } from 'hono'
import { listWorkspaces } from '../../accounts/workspaces.ts'
import type { WebhookAttemptRow } from '../../db/webhook-schema.ts'
import { AppError } from '../../domain/errors.ts'
import { mayAccess } from '../../access/workspace-rights.ts'
import { eventIdOf, isId } from '../../ids.ts'
import { cancelJob } from '../../jobs/cancel.ts'
import { errorDocsPath } from '../../domain/docs.ts'
import { reasonForMembers } from '../../jobs/failure-record.ts'
import { creditCost } from '../../jobs/present.ts'
import { isScenario } from '../../domain/scenario.ts'
import { permits } from '../../domain/role.ts'
import { isFinal } from '../../domain/job.ts'
import { findJob } from '../../jobs/store.ts'
import type { JobWithEvent } from '../../jobs/store.ts'
import { outputKey, signedUrl, uploadKeyOf } from '../../signing/signed-url.ts'
import { deleteOutput } from '../../retention/delete-output.ts'
import { listAttempts } from '../../webhooks/read.ts'
import { baseUrlOf } from '../../http/base-url.ts'
import type { ConsoleApp, ConsoleContext } from '../context.ts'
import { ActionForm } from '../components/form.tsx'
import { Notice } from '../components/notice.tsx'
import { memberPage } from '../components/layout.tsx'
import { actorOf, scopeOf } from '../middleware/session.ts'
import { formatDuration, Timestamp } from '../components/time.tsx'
import { ModeBadge, StatusBadge } from '../components/badges.tsx'
import { jobErrorMessage } from '../error-messages.ts'
import { Link, OrganisationPath } from '../components/link.tsx'
import { pathOf, redirectTo } from '../organisation-path.ts'

const REFRESH_SECONDS = 2

export const job = new Hono<ConsoleApp>()
  .get('/:jobId', async (c) => {
    const row = await findOwnJob(c)
    return memberPage(
      c,
      {
        title: 'Job',
        ...(!isSettled(row) && { refreshSeconds: REFRESH_SECONDS }),
      },
      <>
        <p class="breadcrumb">
          <Link to="/jobs">Jobs</Link>
        </p>
        <h1>
          Job <span class="id">{row.id}</span>
        </h1>
        {c.req.query('late') && (
          <Notice kind="bad">
            The job can no longer be cancelled because processing has started.
          </Notice>
        )}
        {await jobSection(c, row)}
      </>,
    )
  })
  // console.js polls this fragment until the job is settled.
  .get('/:jobId/live', async (c) => {
    const row = await findOwnJob(c)
    return c.html(
      <OrganisationPath.Provider value={pathOf(c, '')}>
        {await jobSection(c, row)}
      </OrganisationPath.Provider>,
    )
  })
  .post('/:jobId/cancel', async (c) => {
    const { id, organisationId } = await findOwnJob(c)
    try {
      await cancelJob({ env: c.env, organisationId, jobId: id })
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      return redirectTo(c, `/jobs/${id}?late=1`)
    }
    return redirectTo(c, `/jobs/${id}`)
  })
  .post('/:jobId/delete-pictures', async (c) => {
    const { id, organisationId } = await findOwnJob(c)
    try {
      await deleteOutput({ env: c.env, actor: actorOf(c), organisationId, jobId: id })
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'job_not_finished')) throw error
    }
    return redirectTo(c, `/jobs/${id}`)
  })

/** @throws AppError not_found, also for a job of another organisation or workspace */
async function findOwnJob(c: ConsoleContext): Promise<JobWithEvent> {
  const jobId = c.req.param('jobId') ?? ''
  const found = isId('job', jobId) ? await findJob(c.env, jobId) : undefined
  const { organisation, workspaceIds } = c.var.membership
  if (found?.organisationId !== organisation.id) throw new AppError('not_found')
  if (!mayAccess(workspaceIds, found.workspaceId)) throw new AppError('not_found')
  return found
}

async function jobSection(c: ConsoleContext, row: JobWithEvent) {
  const baseUrl = baseUrlOf(c)
  const { organisationId } = row
  const model = displayUrl(c.env, { baseUrl, organisationId }, row.modelImageUrl)
  const garment = displayUrl(c.env, { baseUrl, organisationId }, row.garmentImageUrl)
  const [attempts, workspaces] = await Promise.all([
    row.eventStatus === null ? [] : listAttempts({ ...scopeOf(c), eventId: eventIdOf(row.id) }),
    listWorkspaces(scopeOf(c)),
  ])
  const workspace = workspaces.find(({ id }) => id === row.workspaceId)
  const output =
    row.status === 'completed' && row.outputFormat
      ? signedUrl(c.env, baseUrl, outputKey(row.id, row.outputFormat))
      : null
  const hasEnded = isFinal(row.status)
  const mayDevelop = permits(c.var.membership.role, 'develop')
  const reason = reasonForMembers(row)
  return (
    <section
      class="job"
      data-status={`Job ${row.status}`}
      data-live={isSettled(row) ? undefined : pathOf(c, `/jobs/${row.id}/live`)}
      aria-label="Job"
    >
      <p class="job-status">
        <StatusBadge status={row.status} /> <ModeBadge mode={row.mode} />{' '}
        {!hasEnded && (
          <span class="muted" aria-busy="true">
            This page updates automatically.
          </span>
        )}
      </p>
      {row.status === 'failed' && (
        <Notice kind="bad">
          {jobErrorMessage(row.errorCode)} <ErrorCodeLink code={row.errorCode} />
          {row.mode === 'live' && ' No credit was charged.'}
          {reason !== null && (
            <>
              <br />
              <strong>Reason:</strong> {reason}
            </>
          )}
        </Notice>
      )}
      <div class="images">
        <JobImage title="Model" src={model} placeholder={row.modelImageUrl ? SCENARIO : DELETED} />
        <JobImage
          title="Garment"
          src={garment}
          placeholder={row.garmentImageUrl ? SCENARIO : DELETED}
        />
        <JobImage title="Result" src={output} placeholder={resultPlaceholder(row)} />
      </div>
      {mayDevelop && row.status === 'pending' && (
        <ActionForm to={`/jobs/${row.id}/cancel`} label="Cancel job" />
      )}
      {mayDevelop && hasEnded && !hasNoImages(row) && (
        <ActionForm
          to={`/jobs/${row.id}/delete-pictures`}
          label="Delete images"
          kind="danger"
          confirm="The result image, the stored copies of the input images and all URLs of this job are permanently deleted. The job itself is not deleted."
        />
      )}
      <h2>Timeline</h2>
      <Timeline row={row} attempts={attempts} />
      <h2>Details</h2>
      <dl>
        <dt>Workspace</dt>
        <dd class="address">
          {workspace?.name} <span class="id muted">{row.workspaceId}</span>
        </dd>
        <dt>Credits</dt>
        <dd>{row.status === 'completed' ? creditCost(row.mode) : '–'}</dd>
        <dt>Duration</dt>
        <dd>{formatDuration(row.durationMs)}</dd>
        {row.engine && (
          <>
            <dt>Engine</dt>
            <dd>{row.engine}</dd>
          </>
        )}
        <dt>Model image</dt>
        <dd class="address">{withoutQuery(row.modelImageUrl)}</dd>
        <dt>Garment image</dt>
        <dd class="address">{withoutQuery(row.garmentImageUrl)}</dd>
        <dt>Webhook</dt>
        <dd class="address">{row.webhookUrl ?? (hasNoImages(row) ? DELETED : 'None')}</dd>
      </dl>
    </section>
  )
}

const DELETED = 'Deleted'
const SCENARIO = 'Test scenario'

function resultPlaceholder({ status }: JobWithEvent): string {
  if (!isFinal(status)) return 'Not available yet'
  return status === 'completed' ? DELETED : 'No result'
}

const hasNoImages = ({ modelImageUrl, garmentImageUrl, outputFormat }: JobWithEvent): boolean =>
  modelImageUrl === null && garmentImageUrl === null && outputFormat === null

/** Whether the job has ended and its webhook was attempted: the page stops polling. */
const isSettled = (row: JobWithEvent): boolean =>
  isFinal(row.status) && row.eventStatus !== 'pending'

const ErrorCodeLink = ({ code }: { code: JobWithEvent['errorCode'] }) =>
  code && (
    <a href={errorDocsPath(code)}>
      <code>{code}</code>
    </a>
  )

const JobImage = ({
  title,
  src,
  placeholder,
}: {
  title: string
  src: string | null
  placeholder: string
}) => (
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
)

const Timeline = ({ row, attempts }: { row: JobWithEvent; attempts: WebhookAttemptRow[] }) => {
  const endedAt =
    row.completedAt ??
    (row.startedAt && row.durationMs !== null
      ? new Date(row.startedAt.getTime() + row.durationMs)
      : null)
  return (
    <ol class="timeline">
      <li>
        <strong>Submitted</strong> <Timestamp precise at={row.createdAt} />
      </li>
      {row.startedAt && (
        <li>
          <strong>Started</strong> <Timestamp precise at={row.startedAt} />
          {row.attempts > 1 && <span class="muted"> {row.attempts} attempts</span>}
        </li>
      )}
      {isFinal(row.status) && (
        <li>
          <strong>{row.status.charAt(0).toUpperCase() + row.status.slice(1)}</strong>{' '}
          {endedAt && <Timestamp precise at={endedAt} />}
        </li>
      )}
      {attempts.map((attempt) => (
        <li>
          <strong>Webhook, attempt {attempt.number}</strong> <Timestamp precise at={attempt.at} />{' '}
          <span class="muted">
            {attempt.responseStatus ? `HTTP ${attempt.responseStatus}` : attempt.error} in{' '}
            {formatDuration(attempt.durationMs)}
          </span>
        </li>
      ))}
      {row.eventStatus && (
        <li>
          <Link to={`/settings/webhooks/${eventIdOf(row.id)}`}>Webhook {row.eventStatus}</Link>
        </li>
      )}
    </ol>
  )
}

/** The URL of an input image; null for a scenario. Signs a new URL for an upload, since URLs expire. */
function displayUrl(
  env: Env,
  owner: { baseUrl: string; organisationId: string },
  url: string | null,
): string | null {
  if (url === null || isScenario(url)) return null
  const key = uploadKeyOf(env, owner, url)
  return key ? signedUrl(env, owner.baseUrl, key) : url
}

const withoutQuery = (url: string | null) => url?.replace(/\?.*$/, '') ?? DELETED
