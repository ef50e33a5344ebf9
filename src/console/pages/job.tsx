// One job: its pictures side by side, what happened to it and when.
import { Hono } from 'hono'
import { listWorkspaces } from '../../accounts/workspaces.ts'
import type { WebhookAttemptRow } from '../../db/schema.ts'
import { AppError } from '../../domain/errors.ts'
import { eventIdOf, isId } from '../../ids.ts'
import { cancelJob } from '../../jobs/cancel.ts'
import { creditCost } from '../../jobs/present.ts'
import { isScenario } from '../../domain/scenario.ts'
import { isFinal } from '../../domain/job.ts'
import { findJob } from '../../jobs/store.ts'
import type { JobWithEvent } from '../../jobs/store.ts'
import { outputKey, signedUrl, uploadKeyOf } from '../../signing/signed-url.ts'
import { deleteOutput } from '../../retention/delete-output.ts'
import { listAttempts } from '../../webhooks/read.ts'
import { baseUrlOf } from '../../http/base-url.ts'
import type { ConsoleApp, ConsoleContext } from '../context.ts'
import { ActionForm, FormOrganisation, Notice } from '../components/form.tsx'
import { memberPage } from '../components/layout.tsx'
import { actorOf, requestOf } from '../middleware/session.ts'
import { duration, Mode, Status, When } from '../components/parts.tsx'
import { errorText } from '../error-messages.ts'

const REFRESH_SECONDS = 2

export const job = new Hono<ConsoleApp>()
  .get('/:jobId', async (c) => {
    const found = await ownJob(c)
    return memberPage(
      c,
      {
        title: 'Job',
        ...(!isSettled(found) && { refreshSeconds: REFRESH_SECONDS }),
      },
      <>
        <p class="crumb">
          <a href="/console/jobs">Jobs</a>
        </p>
        <h1>
          Job <span class="id">{found.id}</span>
        </h1>
        {c.req.query('late') && (
          <Notice kind="bad">It was too late to cancel: work on the job has begun.</Notice>
        )}
        {await liveJob(c, found)}
      </>,
    )
  })
  /** What the script puts in place of what is there until the job is over. */
  .get('/:jobId/live', async (c) => {
    const row = await ownJob(c)
    return c.html(
      <FormOrganisation.Provider value={row.organisationId}>
        {await liveJob(c, row)}
      </FormOrganisation.Provider>,
    )
  })
  .post('/:jobId/cancel', async (c) => {
    const { id, organisationId } = await ownJob(c)
    try {
      await cancelJob({ env: c.env, organisationId, jobId: id })
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      return c.redirect(`/console/jobs/${id}?late=1`, 303)
    }
    return c.redirect(`/console/jobs/${id}`, 303)
  })
  .post('/:jobId/delete-pictures', async (c) => {
    const { id, organisationId } = await ownJob(c)
    try {
      await deleteOutput({ env: c.env, actor: actorOf(c), organisationId, jobId: id })
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'job_not_finished')) throw error
    }
    return c.redirect(`/console/jobs/${id}`, 303)
  })

/** @throws AppError not_found, also for another organisation's job */
async function ownJob(c: ConsoleContext): Promise<JobWithEvent> {
  const jobId = c.req.param('jobId') ?? ''
  const found = isId('job', jobId) ? await findJob(c.env, jobId) : undefined
  if (found?.organisationId !== c.var.membership.organisation.id) throw new AppError('not_found')
  return found
}

async function liveJob(c: ConsoleContext, row: JobWithEvent) {
  const baseUrl = baseUrlOf(c)
  const { organisationId } = row
  const model = viewable(c.env, { baseUrl, organisationId }, row.modelImageUrl)
  const garment = viewable(c.env, { baseUrl, organisationId }, row.garmentImageUrl)
  const [attempts, workspaces] = await Promise.all([
    row.eventStatus === null ? [] : listAttempts({ ...requestOf(c), eventId: eventIdOf(row.id) }),
    listWorkspaces(requestOf(c)),
  ])
  const workspace = workspaces.find(({ id }) => id === row.workspaceId)
  const output =
    row.status === 'completed' && row.outputFormat
      ? signedUrl(c.env, baseUrl, outputKey(row.id, row.outputFormat))
      : null
  const final = isFinal(row.status)
  return (
    <section
      class="job"
      data-live={isSettled(row) ? undefined : `/console/jobs/${row.id}/live`}
      aria-label="The job"
    >
      <p class="facts">
        <Status status={row.status} /> <Mode mode={row.mode} />{' '}
        {!final && (
          <span class="quiet" aria-busy="true">
            This page follows the job.
          </span>
        )}
      </p>
      {row.status === 'failed' && (
        <Notice kind="bad">
          {errorText(row.errorCode)} <code>{row.errorCode}</code>
          {row.mode === 'live' && ' No credit was charged.'}
        </Notice>
      )}
      <div class="pictures">
        <Picture title="Model" src={model} instead={row.modelImageUrl ? SCENARIO : DELETED} />
        <Picture title="Garment" src={garment} instead={row.garmentImageUrl ? SCENARIO : DELETED} />
        <Picture title="Result" src={output} instead={withoutResult(row)} />
      </div>
      {row.status === 'pending' && (
        <ActionForm action={`/console/jobs/${row.id}/cancel`} label="Cancel this job" />
      )}
      {final && !hasNoPictures(row) && (
        <ActionForm
          action={`/console/jobs/${row.id}/delete-pictures`}
          label="Delete pictures"
          kind="danger"
          confirm="The result, the copies of both photos and the URLs of this job are deleted for good. The job itself stays."
        />
      )}
      <h2>Timeline</h2>
      <Timeline row={row} attempts={attempts} />
      <h2>Details</h2>
      <dl>
        <dt>Workspace</dt>
        <dd class="address">
          {workspace?.name} <span class="id quiet">{row.workspaceId}</span>
        </dd>
        <dt>Credits</dt>
        <dd>{row.status === 'completed' ? creditCost(row.mode) : '–'}</dd>
        <dt>Processing took</dt>
        <dd>{duration(row.durationMs)}</dd>
        {row.engine && (
          <>
            <dt>Engine</dt>
            <dd>{row.engine}</dd>
          </>
        )}
        <dt>Model photo</dt>
        <dd class="address">{withoutQuery(row.modelImageUrl)}</dd>
        <dt>Garment photo</dt>
        <dd class="address">{withoutQuery(row.garmentImageUrl)}</dd>
        <dt>Webhook</dt>
        <dd class="address">{row.webhookUrl ?? (hasNoPictures(row) ? DELETED : 'none')}</dd>
      </dl>
    </section>
  )
}

const DELETED = 'deleted'
const SCENARIO = 'a test scenario'

/** What stands in place of a result that cannot be shown. */
function withoutResult({ status }: JobWithEvent): string {
  if (!isFinal(status)) return 'not yet'
  return status === 'completed' ? DELETED : 'no picture'
}

const hasNoPictures = ({ modelImageUrl, garmentImageUrl, outputFormat }: JobWithEvent): boolean =>
  modelImageUrl === null && garmentImageUrl === null && outputFormat === null

/** Whether there is nothing more to wait for: it is over, and its webhook was tried. */
const isSettled = (row: JobWithEvent): boolean =>
  isFinal(row.status) && row.eventStatus !== 'pending'

const Picture = ({
  title,
  src,
  instead,
}: {
  title: string
  src: string | null
  instead: string
}) => (
  <figure>
    {src ? (
      <a class="frame" href={src} target="_blank" rel="noreferrer">
        <img src={src} alt={`${title} picture`} referrerpolicy="no-referrer" />
      </a>
    ) : (
      <div class="frame">{instead}</div>
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
        <strong>Submitted</strong> <When precise at={row.createdAt} />
      </li>
      {row.startedAt && (
        <li>
          <strong>Started</strong> <When precise at={row.startedAt} />
          {row.attempts > 1 && <span class="quiet"> {row.attempts} attempts</span>}
        </li>
      )}
      {isFinal(row.status) && (
        <li>
          <strong>{row.status.charAt(0).toUpperCase() + row.status.slice(1)}</strong>{' '}
          {endedAt && <When precise at={endedAt} />}
        </li>
      )}
      {attempts.map((attempt) => (
        <li>
          <strong>Webhook, attempt {attempt.number}</strong> <When precise at={attempt.at} />{' '}
          <span class="quiet">
            {attempt.responseStatus ?? attempt.error} in {duration(attempt.durationMs)}
          </span>
        </li>
      ))}
      {row.eventStatus && (
        <li>
          <a href={`/console/settings/webhooks/${eventIdOf(row.id)}`}>Webhook {row.eventStatus}</a>
        </li>
      )}
    </ol>
  )
}

/** What can be looked at. A scenario has no picture. An upload's own link has run out after an hour; it gets a fresh one. */
function viewable(
  env: Env,
  owner: { baseUrl: string; organisationId: string },
  address: string | null,
): string | null {
  if (address === null || isScenario(address)) return null
  const key = uploadKeyOf(env, owner, address)
  return key ? signedUrl(env, owner.baseUrl, key) : address
}

const withoutQuery = (address: string | null) => address?.replace(/\?.*$/, '') ?? DELETED
