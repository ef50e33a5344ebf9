// The timeline of a job: its own states and the attempts of its webhook.
import type { JobRow } from '../../platform/db/schema.ts'
import type { WebhookAttemptRow } from '../../platform/db/webhook-schema.ts'
import { isFinal } from '../../domain/job.ts'
import { EVENT_STATUSES } from '../../domain/webhook.ts'
import { eventIdOf } from '../../platform/ids.ts'
import type { JobWithEvent } from '../../jobs/job-store.ts'
import type { Delivery } from '../../webhooks/delivery/deliveries-store.ts'
import { Link } from '../components/link.tsx'
import { formatDuration, Timestamp } from '../components/time.tsx'

export const JobTimeline = ({
  row,
  attempts,
  addedEvents,
}: {
  row: JobWithEvent
  attempts: WebhookAttemptRow[]
  addedEvents: Pick<Delivery, 'status'>[]
}) => {
  const endedAt = endOf(row)
  return (
    <ol class="timeline">
      <li>
        <strong>Submitted</strong> <Timestamp as="second" at={row.createdAt} />
      </li>
      {row.startedAt && (
        <li>
          <strong>Started</strong> <Timestamp as="second" at={row.startedAt} />
          {row.attempts > 1 && <span class="muted"> {row.attempts} attempts</span>}
        </li>
      )}
      {isFinal(row.status) && (
        <li>
          <strong>{row.status.charAt(0).toUpperCase() + row.status.slice(1)}</strong>{' '}
          {endedAt && <Timestamp as="second" at={endedAt} />}
        </li>
      )}
      {attempts.map((attempt) => (
        <li>
          <strong>Webhook, attempt {attempt.number}</strong>{' '}
          <Timestamp as="second" at={attempt.at} />{' '}
          <span class="muted">
            {attempt.responseStatus ? `HTTP ${attempt.responseStatus}` : attempt.error} in{' '}
            {formatDuration(attempt.durationMs)}
          </span>
        </li>
      ))}
      {row.eventStatus && (
        <li>
          <Link to={`/settings/webhooks/${eventIdOf(row.id)}`}>Webhook {row.eventStatus}</Link>
          {row.eventStatus === 'retrying' && row.eventDueAt && (
            <span class="muted">
              {' '}
              Next attempt <Timestamp as="second" at={row.eventDueAt} />
            </span>
          )}
        </li>
      )}
      {addedEvents.length > 0 && (
        <li>
          <Link to={`/settings/webhooks/deliveries?q=${row.id}`}>Added endpoints</Link>{' '}
          <span class="muted">{countsByStatus(addedEvents)}</span>
        </li>
      )}
    </ol>
  )
}

/** For example `2 delivered, 1 retrying`. */
const countsByStatus = (events: Pick<Delivery, 'status'>[]): string =>
  EVENT_STATUSES.map((status) => ({
    status,
    count: events.filter((event) => event.status === status).length,
  }))
    .filter(({ count }) => count > 0)
    .map(({ status, count }) => `${count} ${status}`)
    .join(', ')

type Times = Pick<JobRow, 'createdAt' | 'startedAt' | 'completedAt' | 'cancelledAt' | 'durationMs'>

const endOf = ({ completedAt, cancelledAt, startedAt, durationMs }: Times): Date | null =>
  completedAt ??
  cancelledAt ??
  (startedAt && durationMs !== null ? new Date(startedAt.getTime() + durationMs) : null)

/**
 * How long a job has waited for its start, and how long it has taken from its submission to its end. Null
 * where it has not got there.
 */
export function timesOf(row: Times): { waitingMs: number | null; totalMs: number | null } {
  const endedAt = endOf(row)
  const totalMs = endedAt && Math.max(0, endedAt.getTime() - row.createdAt.getTime())
  // Attempts that were repeated count as waiting.
  const waitingMs =
    totalMs === null || row.durationMs === null ? null : Math.max(0, totalMs - row.durationMs)
  return { waitingMs, totalMs }
}
