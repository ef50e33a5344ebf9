// A webhook event: its delivery attempts, their responses, and sending it again.
import { Hono } from 'hono'
import type { WebhookAttemptRow } from '../../db/webhook-schema.ts'
import { AppError } from '../../domain/errors.ts'
import { permits } from '../../domain/role.ts'
import { isId } from '../../ids.ts'
import { listAttempts, readEvent } from '../../webhooks/read.ts'
import { resendEvent } from '../../webhooks/resend.ts'
import type { ConsoleApp, ConsoleContext } from '../context.ts'
import { ActionForm } from '../components/form.tsx'
import { Notice } from '../components/notice.tsx'
import { memberPage } from '../components/layout.tsx'
import { DeliveryBadge } from '../components/badges.tsx'
import { formatDuration, Timestamp } from '../components/time.tsx'
import { EmptyState } from '../components/table.tsx'
import { scopeOf } from '../middleware/session.ts'
import { Link } from '../components/link.tsx'
import { redirectTo } from '../organisation-path.ts'

const REFRESH_SECONDS = 2

export const webhookEvent = new Hono<ConsoleApp>()
  .get('/:eventId', async (c) => {
    const event = await findOwnEvent(c)
    const attempts = await listAttempts({ ...scopeOf(c), eventId: event.id })
    // After a resend, `sent` is the number of attempts before it.
    const isResending = c.req.query('sent') === String(event.attempts)
    return memberPage(
      c,
      {
        title: 'Webhook event',
        ...(isResending && { refreshSeconds: REFRESH_SECONDS }),
      },
      <>
        <p class="breadcrumb">
          <Link to="/settings/webhooks">Webhooks</Link>
        </p>
        <h1>
          {event.type} <span class="id">{event.id}</span>
        </h1>
        {isResending && (
          <Notice kind="info">
            <span data-reload>Sending again …</span>
          </Notice>
        )}
        {c.req.query('busy') && (
          <Notice kind="info">
            A delivery attempt is already in progress. Try again in a minute.
          </Notice>
        )}
        <dl>
          <dt>Status</dt>
          <dd>
            <DeliveryBadge status={event.status} />
          </dd>
          <dt>URL</dt>
          <dd class="address">{event.url}</dd>
          <dt>Job</dt>
          <dd>
            <Link class="id" to={`/jobs/${event.jobId}`}>
              {event.jobId}
            </Link>
          </dd>
          {event.status === 'retrying' && (
            <>
              <dt>Next attempt</dt>
              <dd>
                <Timestamp at={event.dueAt} />
              </dd>
            </>
          )}
        </dl>
        {permits(c.var.membership.role, 'develop') && (
          <p class="buttons">
            <ActionForm to={`/settings/webhooks/${event.id}/resend`} label="Send again" />
          </p>
        )}
        <section aria-labelledby="attempts-heading">
          <h2 id="attempts-heading">Attempts</h2>
          {attempts.length === 0 && <EmptyState title="No attempts yet" />}
          {attempts.toReversed().map((attempt) => (
            <Attempt attempt={attempt} />
          ))}
        </section>
      </>,
    )
  })
  .post('/:eventId/resend', async (c) => {
    const event = await findOwnEvent(c)
    const started = await resendEvent({ ...scopeOf(c), eventId: event.id })
    const note = started ? `sent=${event.attempts}` : 'busy=1'
    return redirectTo(c, `/settings/webhooks/${event.id}?${note}`)
  })

/** @throws AppError not_found, also for an event of another organisation */
async function findOwnEvent(c: ConsoleContext) {
  const eventId = c.req.param('eventId') ?? ''
  if (!isId('evt', eventId)) throw new AppError('not_found')
  return readEvent({ ...scopeOf(c), eventId })
}

const Attempt = ({ attempt }: { attempt: WebhookAttemptRow }) => {
  const { number, at, responseStatus, durationMs, responseBody, error } = attempt
  const isSuccess = responseStatus !== null && responseStatus >= 200 && responseStatus < 300
  return (
    <article class="attempt">
      <p>
        <strong>Attempt {number}</strong>{' '}
        <span class={`badge ${isSuccess ? 'good' : 'bad'}`}>{responseStatus ?? 'no response'}</span>{' '}
        <span class="muted">
          <Timestamp precise at={at} />, {formatDuration(durationMs)}
        </span>
      </p>
      {error && <p>{error}</p>}
      {responseBody ? (
        <pre tabindex={0} role="group" aria-label={`Response to attempt ${number}`}>
          <code>{responseBody}</code>
        </pre>
      ) : (
        !error && <p class="muted">The response body was empty.</p>
      )}
    </article>
  )
}
