// Coloured labels for statuses and modes.
import type { PaymentRow } from '../../platform/db/billing-schema.ts'
import type { WebhookEventRow } from '../../platform/db/webhook-schema.ts'
import type { JobStatus } from '../../domain/job.ts'

type Status =
  JobStatus | WebhookEventRow['status'] | PaymentRow['status'] | 'active' | 'revoked' | 'archived'

const COLOURS: Record<Status, 'good' | 'bad' | 'waiting' | 'off'> = {
  pending: 'waiting',
  processing: 'waiting',
  retrying: 'waiting',
  open: 'waiting',
  completed: 'good',
  delivered: 'good',
  paid: 'good',
  active: 'good',
  failed: 'bad',
  cancelled: 'off',
  refunded: 'off',
  revoked: 'off',
  archived: 'off',
  expired: 'off',
}

/** The status of a job, delivery, payment, API key or workspace. */
export const StatusBadge = ({ status }: { status: Status }) => (
  <span class={`badge ${COLOURS[status]}`}>{status}</span>
)

/** The status of a payment, and whether it was refunded or is disputed. */
export const PaymentBadge = ({
  payment: { status, amount, amountRefunded, dispute },
}: {
  payment: PaymentRow
}) => (
  <>
    {amountRefunded === 0 && <StatusBadge status={status} />}
    {amountRefunded > 0 && (
      <span class="badge off">{amountRefunded < amount ? 'partially refunded' : 'refunded'}</span>
    )}{' '}
    {dispute === 'open' && <span class="badge bad">disputed</span>}
    {dispute === 'lost' && <span class="badge bad">dispute lost</span>}
  </>
)

export const ModeBadge = ({ mode }: { mode: 'live' | 'test' }) => (
  <span class={`badge ${mode}`}>{mode}</span>
)
