// A webhook event: its delivery attempts with their requests and responses, and sending it again.
import { AppError } from '../../domain/errors.ts'
import { isDeliveryFinal } from '../../domain/webhook.ts'
import { isEventId } from '../../platform/ids.ts'
import { readDelivery, readEvent, type AttemptDetails } from '../../webhooks/event-reads.ts'
import type { Fidelity } from '../../webhooks/delivery/request.ts'
import { resendEvent } from '../../webhooks/delivery/resend.ts'
import { StatusBadge, Link, Notice, Timestamp, formatDuration } from '../components/text.tsx'
import { memberFragment, memberPage } from '../components/layout.tsx'
import { CopyableId, CopyableText } from '../components/copyable-text.tsx'
import { ActionForm } from '../components/form.tsx'
import { detailList, EmptyState } from '../components/section.tsx'
import { liveSecondsOf } from '../components/deliveries-table.tsx'
import { may, createApp, scopeOf, pathOf, type ConsoleContext } from '../console-context.ts'
import { withQuery } from '../forms.ts'
import { redirectTo } from '../form-notices.ts'

const WEBHOOKS = '/settings/webhooks'
const REFRESH_SECONDS = 2
const MINUTE_MS = 60_000

export const webhookEvent = createApp()
  .get('/:eventId', async (c) => {
    const delivery = await readOwnDelivery(c)
    const { event } = delivery.source
    return memberPage(
      {
        c,
        title: 'Webhook event',
        above: { [WEBHOOKS]: 'Webhooks', [`${WEBHOOKS}/deliveries`]: 'Deliveries' },
        heading: event.type,
        refreshSeconds: isDeliveryFinal(event.status) ? undefined : REFRESH_SECONDS,
      },
      eventSection(c, delivery),
    )
  })
  // console.js polls this fragment until the event is delivered or has failed.
  .get('/:eventId/live', async (c) => memberFragment(c, eventSection(c, await readOwnDelivery(c))))
  .post('/:eventId/resend', async (c) => {
    const event = await readEvent({ ...scopeOf(c), eventId: eventIdIn(c) })
    const started = await resendEvent({ ...scopeOf(c), eventId: event.id })
    const path = `${WEBHOOKS}/${event.id}`
    if (!started) return redirectTo(c, path, 'event_busy')
    return redirectTo(c, `${path}?sent=${event.attempts}`)
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

type Delivery = Awaited<ReturnType<typeof readDelivery>>

function eventSection(c: ConsoleContext, { source, attempts }: Delivery) {
  const { event, endpoint } = source
  const sent = c.req.query('sent')
  const isOpen = !isDeliveryFinal(event.status)
  // A retry that starts soon cannot be sent before: see `reopenEvent`.
  const isSoon = isOpen && event.dueAt.getTime() < Date.now() + MINUTE_MS
  const live = withQuery(`${WEBHOOKS}/${event.id}/live`, { sent })
  return (
    <section
      aria-label="Event"
      data-status={`Delivery ${event.status}`}
      data-live={isOpen ? pathOf(c, live) : undefined}
      data-live-seconds={isOpen ? liveSecondsOf([event]) : undefined}
    >
      {/* After a resend, `sent` is the number of attempts before it. */}
      {isOpen && sent === String(event.attempts) && <Notice kind="info">Sending again …</Notice>}
      {detailList({
        Status: (
          <>
            <StatusBadge status={event.status} />{' '}
            {isOpen && (
              <span class="muted" aria-busy="true">
                This page updates automatically.
              </span>
            )}
          </>
        ),
        Event: <CopyableId id={event.id} label="event ID" />,
        Job: (
          <Link class="id" to={`/jobs/${event.jobId}`}>
            {event.jobId}
          </Link>
        ),
        Endpoint:
          event.endpointId !== null &&
          (endpoint ? (
            <Link to={`${WEBHOOKS}/endpoints/${endpoint.id}`}>{endpoint.name}</Link>
          ) : (
            <span class="muted">Deleted endpoint</span>
          )),
        URL: event.url,
        'Next attempt': event.status === 'retrying' && event.dueAt.getTime() > Date.now() && (
          <Timestamp at={event.dueAt} />
        ),
      })}
      {may(c, 'develop') && endpoint && !isSoon && (
        <p class="buttons">
          <ActionForm to={`${WEBHOOKS}/${event.id}/resend`} label="Send again" />
        </p>
      )}
      <h2>Attempts</h2>
      {attempts.length === 0 && <EmptyState title="No attempts yet" />}
      {attempts.map((details, index) => attemptOf(details, index === 0))}
    </section>
  )
}

const NOTES: Record<Fidelity, string> = {
  exact: 'This is the exact body that was sent. It matches the signature.',
  pictures_deleted:
    'The pictures of the job have been deleted since, so output_url is null here. The body that was sent had a link.',
  not_verified:
    'This body is recreated from the job, but it does not match the signature: the signing secret or the configuration of the service has changed since the attempt.',
}

/** What was sent and what was received. @param isLatest shows them without a click */
function attemptOf({ attempt, request }: AttemptDetails, isLatest: boolean) {
  const { number, at, responseStatus, durationMs, responseBody, responseHeaders, error } = attempt
  const isSuccess = responseStatus !== null && responseStatus >= 200 && responseStatus < 300
  return (
    <article class="attempt" aria-label={`Attempt ${number}`}>
      <p>
        <strong>Attempt {number}</strong>{' '}
        <span class={`badge ${isSuccess ? 'good' : 'bad'}`}>{responseStatus ?? 'no response'}</span>{' '}
        <span class="muted">
          <Timestamp as="second" at={at} />, {formatDuration(durationMs)}
        </span>
      </p>
      {error && <p class="error-text">{error}</p>}
      {request && (
        <details id={`request-${number}`} open={isLatest}>
          <summary>Request</summary>
          <h3>Headers</h3>
          <Headers of={`request of attempt ${number}`} headers={request.headers} />
          <h3>Body</h3>
          <p class={request.fidelity === 'exact' ? 'muted' : 'notice info'}>
            {NOTES[request.fidelity]}
          </p>
          <CopyableText label={`Request body of attempt ${number}`} text={request.body} />
          <details>
            <summary>Formatted body</summary>
            <pre tabindex={0} role="group" aria-label={`Formatted body of attempt ${number}`}>
              <code>{JSON.stringify(JSON.parse(request.body), null, 2)}</code>
            </pre>
          </details>
        </details>
      )}
      {responseStatus !== null && (
        <details id={`response-${number}`} open={isLatest || !request}>
          <summary>Response</summary>
          {responseHeaders && responseHeaders.length > 0 && (
            <>
              <h3>Headers</h3>
              <Headers of={`response to attempt ${number}`} headers={responseHeaders} />
            </>
          )}
          {responseHeaders && <h3>Body</h3>}
          {responseBody ? (
            <pre tabindex={0} role="group" aria-label={`Response to attempt ${number}`}>
              <code>{responseBody}</code>
            </pre>
          ) : (
            <p class="muted">The response body was empty.</p>
          )}
        </details>
      )}
    </article>
  )
}

const Headers = ({ of, headers }: { of: string; headers: [name: string, value: string][] }) => (
  <dl class="headers" aria-label={`Headers of the ${of}`}>
    {headers.map(([name, value]) => (
      <>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </>
    ))}
  </dl>
)
