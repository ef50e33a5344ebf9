// A webhook event: its delivery attempts with their requests and responses, and sending it again.
import { Hono } from 'hono'
import { AppError } from '../../domain/errors.ts'
import { permits } from '../../domain/role.ts'
import { isDeliveryFinal } from '../../domain/webhook.ts'
import { isEventId } from '../../platform/ids.ts'
import { readDelivery, readEvent } from '../../webhooks/delivery/read-deliveries.ts'
import { resendEvent } from '../../webhooks/delivery/resend.ts'
import { StatusBadge, Link, Notice, Timestamp } from '../components/text.tsx'
import { Breadcrumb, memberFragment, memberPage } from '../components/layout.tsx'
import { CopyableId } from '../components/copyable-text.tsx'
import { DeliveryAttempt } from '../components/delivery-attempt.tsx'
import { ActionForm } from '../components/form.tsx'
import { Details, EmptyState } from '../components/section.tsx'
import { liveSecondsOf } from '../components/deliveries-table.tsx'
import { scopeOf, pathOf, type ConsoleApp, type ConsoleContext } from '../console-context.ts'
import { redirectTo } from '../form-notices.ts'

const WEBHOOKS = '/settings/webhooks'
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
        <Breadcrumb to={{ [WEBHOOKS]: 'Webhooks', [`${WEBHOOKS}/deliveries`]: 'Deliveries' }} />
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
  .post('/:eventId/resend', async (c) => {
    const event = await readEvent({ ...scopeOf(c), eventId: eventIdIn(c) })
    const started = await resendEvent({ ...scopeOf(c), eventId: event.id })
    const path = `${WEBHOOKS}/${event.id}`
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

interface EventProps {
  c: ConsoleContext
  delivery: Awaited<ReturnType<typeof readDelivery>>
}

const EventSection = ({ c, delivery: { source, attempts } }: EventProps) => {
  const { event, endpoint } = source
  const sent = c.req.query('sent')
  const isOpen = !isDeliveryFinal(event.status)
  // A retry that starts soon cannot be sent before: see `reopenEvent`.
  const isSoon = isOpen && event.dueAt.getTime() < Date.now() + MINUTE_MS
  const live = `${WEBHOOKS}/${event.id}/live${sent ? `?sent=${encodeURIComponent(sent)}` : ''}`
  return (
    <section
      aria-label="Event"
      data-status={`Delivery ${event.status}`}
      data-live={isOpen ? pathOf(c, live) : undefined}
      data-live-seconds={isOpen ? liveSecondsOf([event]) : undefined}
    >
      {/* After a resend, `sent` is the number of attempts before it. */}
      {isOpen && sent === String(event.attempts) && <Notice kind="info">Sending again …</Notice>}
      <Details
        rows={[
          [
            'Status',
            <>
              <StatusBadge status={event.status} />{' '}
              {isOpen && (
                <span class="muted" aria-busy="true">
                  This page updates automatically.
                </span>
              )}
            </>,
          ],
          ['Event', <CopyableId id={event.id} label="event ID" />],
          [
            'Job',
            <Link class="id" to={`/jobs/${event.jobId}`}>
              {event.jobId}
            </Link>,
          ],
          event.endpointId !== null && [
            'Endpoint',
            endpoint ? (
              <Link to={`${WEBHOOKS}/endpoints/${endpoint.id}`}>{endpoint.name}</Link>
            ) : (
              <span class="muted">Deleted endpoint</span>
            ),
          ],
          ['URL', event.url],
          event.status === 'retrying' &&
            event.dueAt.getTime() > Date.now() && ['Next attempt', <Timestamp at={event.dueAt} />],
        ]}
      />
      {permits(c.var.membership.role, 'develop') && endpoint && !isSoon && (
        <p class="buttons">
          <ActionForm to={`${WEBHOOKS}/${event.id}/resend`} label="Send again" />
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
