// A webhook event: its delivery attempts with their requests and responses, and sending it again.
import { Hono } from 'hono'
import { AppError } from '../../domain/errors.ts'
import { permits } from '../../domain/role.ts'
import { isDeliveryFinal } from '../../domain/webhook.ts'
import { isEventId } from '../../platform/ids.ts'
import { readDelivery, readEvent } from '../../webhooks/delivery/read-deliveries.ts'
import { resendEvent } from '../../webhooks/delivery/resend.ts'
import type { ConsoleApp, ConsoleContext } from '../console-context.ts'
import { DeliveryBadge } from '../components/badges.tsx'
import { CopyableId } from '../components/copyable-text.tsx'
import { DeliveryAttempt } from '../components/delivery-attempt.tsx'
import { ActionForm } from '../components/form.tsx'
import { memberFragment, memberPage } from '../components/layout.tsx'
import { Link } from '../components/link.tsx'
import { Notice } from '../components/notice.tsx'
import { EmptyState } from '../components/table.tsx'
import { Timestamp } from '../components/time.tsx'
import { liveSecondsOf } from '../delivery-polling.ts'
import { permitted, scopeOf } from '../middleware/session.ts'
import { pathOf, redirectTo } from '../organisation-path.ts'

const REFRESH_SECONDS = 2
const MINUTE_MS = 60_000

export const webhookEvent = new Hono<ConsoleApp>()
  .get('/:eventId', async (c) => {
    const delivery = await readOwnDelivery(c)
    const { event } = delivery.source
    return memberPage(
      c,
      {
        title: 'Webhook event',
        ...(!isDeliveryFinal(event.status) && { refreshSeconds: REFRESH_SECONDS }),
      },
      <>
        <p class="breadcrumb">
          <Link to="/settings/webhooks">Webhooks</Link>
          <Link to="/settings/webhooks/deliveries">Deliveries</Link>
        </p>
        <h1>{event.type}</h1>
        <EventSection c={c} delivery={delivery} />
      </>,
    )
  })
  // console.js polls this fragment until the event is delivered or has failed.
  .get('/:eventId/live', async (c) => {
    const delivery = await readOwnDelivery(c)
    return memberFragment(c, <EventSection c={c} delivery={delivery} />)
  })
  .post('/:eventId/resend', permitted('develop'), async (c) => {
    const event = await readEvent({ ...scopeOf(c), eventId: eventIdIn(c) })
    const started = await resendEvent({ ...scopeOf(c), eventId: event.id })
    const path = `/settings/webhooks/${event.id}`
    return started
      ? redirectTo(c, `${path}?sent=${event.attempts}`)
      : redirectTo(c, path, 'event_busy')
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
    source: { event, endpoint },
    attempts,
  },
}: {
  c: ConsoleContext
  delivery: Awaited<ReturnType<typeof readDelivery>>
}) => {
  const sent = c.req.query('sent')
  const isOpen = !isDeliveryFinal(event.status)
  const isDeleted = !endpoint
  // A retry that starts soon cannot be sent before: see `reopenEvent`.
  const isSoon = isOpen && event.dueAt.getTime() < Date.now() + MINUTE_MS
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
        {event.endpointId !== null && (
          <>
            <dt>Endpoint</dt>
            <dd>
              {endpoint ? (
                <Link to={`/settings/webhooks/endpoints/${endpoint.id}`}>{endpoint.name}</Link>
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
      {permits(c.var.membership.role, 'develop') && !isDeleted && !isSoon && (
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
