// One event: its attempts, what was answered, and sending it again.
import { Hono } from 'hono'
import type { WebhookAttemptRow } from '../../db/schema.ts'
import { AppError } from '../../domain/errors.ts'
import { isId } from '../../ids.ts'
import { listAttempts, readEvent } from '../../webhooks/read.ts'
import { resendEvent } from '../../webhooks/resend.ts'
import type { ConsoleApp, ConsoleContext } from '../context.ts'
import { ActionForm, Notice } from '../components/form.tsx'
import { memberPage } from '../components/layout.tsx'
import { Delivery, duration, Empty, When } from '../components/parts.tsx'
import { requestOf } from '../middleware/session.ts'

const REFRESH_SECONDS = 2

export const webhookEvent = new Hono<ConsoleApp>()
  .get('/:eventId', async (c) => {
    const event = await ownEvent(c)
    const attempts = await listAttempts({ ...requestOf(c), eventId: event.id })
    // As many attempts as there were when one more was asked for: that one is still to come.
    const waiting = c.req.query('sent') === String(event.attempts)
    return memberPage(
      c,
      {
        title: 'Delivery',
        ...(waiting && { refreshSeconds: REFRESH_SECONDS }),
      },
      <>
        <p class="crumb">
          <a href="/console/settings/webhooks">Webhooks</a>
        </p>
        <h1>
          {event.type} <span class="id">{event.id}</span>
        </h1>
        {waiting && (
          <Notice kind="info">
            <span data-reload>Being sent again …</span>
          </Notice>
        )}
        {c.req.query('busy') && (
          <Notice kind="info">An attempt is being made right now; look again in a minute.</Notice>
        )}
        <dl>
          <dt>State</dt>
          <dd>
            <Delivery status={event.status} />
          </dd>
          <dt>URL</dt>
          <dd class="address">{event.url}</dd>
          <dt>Job</dt>
          <dd>
            <a class="id" href={`/console/jobs/${event.jobId}`}>
              {event.jobId}
            </a>
          </dd>
          {event.status === 'retrying' && (
            <>
              <dt>Next attempt</dt>
              <dd>
                <When at={event.dueAt} />
              </dd>
            </>
          )}
        </dl>
        <p class="buttons">
          <ActionForm action={`/console/settings/webhooks/${event.id}/resend`} label="Send again" />
        </p>
        <section aria-labelledby="attempts-heading">
          <h2 id="attempts-heading">Attempts</h2>
          {attempts.length === 0 && <Empty title="None yet" />}
          {attempts.toReversed().map((attempt) => (
            <Attempt attempt={attempt} />
          ))}
        </section>
      </>,
    )
  })
  .post('/:eventId/resend', async (c) => {
    const event = await ownEvent(c)
    const begun = await resendEvent({ ...requestOf(c), eventId: event.id })
    const note = begun ? `sent=${event.attempts}` : 'busy=1'
    return c.redirect(`/console/settings/webhooks/${event.id}?${note}`, 303)
  })

/** @throws AppError not_found, also for another organisation's event */
async function ownEvent(c: ConsoleContext) {
  const eventId = c.req.param('eventId') ?? ''
  if (!isId('evt', eventId)) throw new AppError('not_found')
  return readEvent({ ...requestOf(c), eventId })
}

const Attempt = ({ attempt }: { attempt: WebhookAttemptRow }) => {
  const { number, at, responseStatus, durationMs, responseBody, error } = attempt
  const good = responseStatus !== null && responseStatus >= 200 && responseStatus < 300
  return (
    <article class="attempt">
      <p>
        <strong>Attempt {number}</strong>{' '}
        <span class={`badge ${good ? 'good' : 'bad'}`}>{responseStatus ?? 'no answer'}</span>{' '}
        <span class="quiet">
          <When precise at={at} />, {duration(durationMs)}
        </span>
      </p>
      {error && <p>{error}</p>}
      {responseBody ? (
        <pre tabindex={0} role="group" aria-label={`Answer to attempt ${number}`}>
          <code>{responseBody}</code>
        </pre>
      ) : (
        !error && <p class="quiet">The answer was empty.</p>
      )}
    </article>
  )
}
