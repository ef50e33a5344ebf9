// The timeline of a job: its own states and the attempts of its webhook.
import type { Child } from 'hono/jsx'
import type { JobRow } from '../../platform/db/schema.ts'
import type { WebhookAttemptRow } from '../../platform/db/webhook-schema.ts'
import { isFinal } from '../../domain/job.ts'
import { EVENT_STATUSES } from '../../domain/webhook.ts'
import { eventIdOf } from '../../platform/ids.ts'
import type { JobWithEvent } from '../../jobs/job-store.ts'
import type { Delivery } from '../../webhooks/delivery/read-deliveries.ts'
import { capitalised, Link, formatDuration, Timestamp } from '../components/text.tsx'

export const jobTimeline = (
  row: JobWithEvent,
  attempts: WebhookAttemptRow[],
  addedEvents: Delivery[],
) => (
  <ol class="timeline">
    <Step title="Submitted" at={row.createdAt} />
    {row.startedAt && (
      <Step
        title="Started"
        at={row.startedAt}
        note={row.attempts > 1 && `${row.attempts} attempts`}
      />
    )}
    {isFinal(row.status) && <Step title={capitalised(row.status)} at={endOf(row)} />}
    {attempts.map(({ number, at, responseStatus, error, durationMs }) => (
      <Step
        title={`Webhook, attempt ${number}`}
        at={at}
        note={`${responseStatus ? `HTTP ${responseStatus}` : error} in ${formatDuration(durationMs)}`}
      />
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

const Step = ({ title, at, note }: { title: string; at: Date | null; note?: Child }) => (
  <li>
    <strong>{title}</strong> {at && <Timestamp as="second" at={at} />}
    {note && <span class="muted"> {note}</span>}
  </li>
)

/** For example `2 delivered, 1 retrying`. */
function countsByStatus(events: Delivery[]): string {
  const byStatus = Object.groupBy(events, ({ status }) => status)
  return EVENT_STATUSES.flatMap((status) => {
    const count = byStatus[status]?.length
    return count ? `${count} ${status}` : []
  }).join(', ')
}

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
