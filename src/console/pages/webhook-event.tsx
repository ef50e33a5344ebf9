// A webhook event: its delivery attempts with their requests and responses, and sending it again.
import { Hono } from 'hono'
import { AppError } from '../../domain/errors.ts'
import { permits } from '../../domain/role.ts'
import { isDeliveryFinal } from '../../domain/webhook.ts'
import { isEventId } from '../../ids.ts'
import { readDelivery, readEvent } from '../../webhooks/read.ts'
import { resendEvent } from '../../webhooks/resend.ts'
import type { ConsoleApp, ConsoleContext } from '../context.ts'
import { DeliveryBadge } from '../components/badges.tsx'
import { CopyableId } from '../components/copyable-text.tsx'
import { DeliveryAttempt } from '../components/delivery-attempt.tsx'
import { ActionForm } from '../components/form.tsx'
import { memberPage } from '../components/layout.tsx'
import { Link, OrganisationPath } from '../components/link.tsx'
import { Notice } from '../components/notice.tsx'
import { EmptyState } from '../components/table.tsx'
import { Timestamp } from '../components/time.tsx'
import { liveSecondsOf } from '../delivery-polling.ts'
import { permitted, scopeOf } from '../middleware/session.ts'
import { pathOf, redirectTo } from '../organisation-path.ts'

const REFRESH_SECONDS = 2

export const webhookEvent = new Hono<ConsoleApp>()
  .get('/:eventId', async (c) => {
    const delivery = await readOwnDelivery(c)
    const { event } = delivery.source
    return memberPage(
      c,
      {
        title: 'Webhook event',
        stylesheet: '/static/webhooks.css',
        ...(!isDeliveryFinal(event.status) && { refreshSeconds: REFRESH_SECONDS }),
      },
      <>
        <p class="breadcrumb">
          <Link to="/settings/webhooks">Webhooks</Link>
          <Link to="/settings/webhooks/deliveries">Deliveries</Link>
        </p>
        <h1>{event.type}</h1>
        {c.req.query('busy') && (
          <Notice kind="info">
            A delivery attempt is already in progress. Try again in a minute.
          </Notice>
        )}
        <EventSection c={c} delivery={delivery} />
      </>,
    )
  })
  // console.js polls this fragment until the event is delivered or has failed.
  .get('/:eventId/live', async (c) => {
    const delivery = await readOwnDelivery(c)
    return c.html(
      <OrganisationPath.Provider value={pathOf(c, '')}>
        <EventSection c={c} delivery={delivery} />
      </OrganisationPath.Provider>,
    )
  })
  .post('/:eventId/resend', permitted('develop'), async (c) => {
    const event = await readEvent({ ...scopeOf(c), eventId: eventIdIn(c) })
    const started = await resendEvent({ ...scopeOf(c), eventId: event.id })
    const note = started ? `sent=${event.attempts}` : 'busy=1'
    return redirectTo(c, `/settings/webhooks/${event.id}?${note}`)
  })

/** @throws AppError not_found */
function eventIdIn(c: ConsoleContext): string {
  const eventId = c.req.param('eventId') ?? ''
  if (!isEventId(eventId)) throw new AppError('not_found')
  return eventId
}

/** @throws AppError not_found, also for an event of another organisation */
const readOwnDelivery = (c: ConsoleContext) =>
  readDelivery({ ...scopeOf(c), eventId: eventIdIn(c) })

const EventSection = ({
  c,
  delivery: {
    source: { event, addedEndpoint },
    attempts,
  },
}: {
  c: ConsoleContext
  delivery: Awaited<ReturnType<typeof readDelivery>>
}) => {
  const sent = c.req.query('sent')
  const isOpen = !isDeliveryFinal(event.status)
  const isDeleted = event.addedEndpointId !== null && !addedEndpoint
  const live = `/settings/webhooks/${event.id}/live${sent ? `?sent=${encodeURIComponent(sent)}` : ''}`
  return (
    <section
      aria-label="Event"
      data-status={`Delivery ${event.status}`}
      data-live={isOpen ? pathOf(c, live) : undefined}
      data-live-seconds={isOpen ? liveSecondsOf([event]) : undefined}
    >
      {/* After a resend, `sent` is the number of attempts before it. */}
      {isOpen && sent === String(event.attempts) && <Notice kind="info">Sending again …</Notice>}
      <dl>
        <dt>Status</dt>
        <dd>
          <DeliveryBadge status={event.status} />{' '}
          {isOpen && (
            <span class="muted" aria-busy="true">
              This page updates automatically.
            </span>
          )}
        </dd>
        <dt>Event</dt>
        <dd>
          <CopyableId id={event.id} label="event ID" />
        </dd>
        <dt>Job</dt>
        <dd>
          <Link class="id" to={`/jobs/${event.jobId}`}>
            {event.jobId}
          </Link>
        </dd>
        {event.addedEndpointId !== null && (
          <>
            <dt>Endpoint</dt>
            <dd>
              {addedEndpoint ? (
                <Link to={`/settings/webhooks/endpoints/${addedEndpoint.id}`}>
                  {addedEndpoint.name}
                </Link>
              ) : (
                <span class="muted">Deleted endpoint</span>
              )}
            </dd>
          </>
        )}
        <dt>URL</dt>
        <dd class="address">{event.url}</dd>
        {event.status === 'retrying' && event.dueAt.getTime() > Date.now() && (
          <>
            <dt>Next attempt</dt>
            <dd>
              <Timestamp at={event.dueAt} />
            </dd>
          </>
        )}
      </dl>
      {permits(c.var.membership.role, 'develop') && !isDeleted && (
        <p class="buttons">
          <ActionForm to={`/settings/webhooks/${event.id}/resend`} label="Send again" />
        </p>
      )}
      <h2>Attempts</h2>
      {attempts.length === 0 && <EmptyState title="No attempts yet" />}
      {attempts.map((details, index) => (
        <DeliveryAttempt details={details} isLatest={index === 0} />
      ))}
    </section>
  )
}
