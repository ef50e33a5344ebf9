// Coloured labels for statuses and modes.
import type { PaymentRow } from '../../platform/db/billing-schema.ts'
import type { WebhookEventRow } from '../../platform/db/webhook-schema.ts'
import type { JobStatus } from '../../domain/job.ts'

type Colour = 'good' | 'bad' | 'waiting' | 'off'

const STATUS_COLOURS: Record<JobStatus | 'active' | 'revoked' | 'archived', Colour> = {
  pending: 'waiting',
  processing: 'waiting',
  completed: 'good',
  failed: 'bad',
  cancelled: 'off',
  refunded: 'off',
  active: 'good',
  revoked: 'off',
  archived: 'off',
}

/** The status of a job, API key or workspace. */
export const StatusBadge = ({ status }: { status: keyof typeof STATUS_COLOURS }) => (
  <span class={`badge ${STATUS_COLOURS[status]}`}>{status}</span>
)

const DELIVERY_COLOURS: Record<WebhookEventRow['status'], Colour> = {
  pending: 'waiting',
  retrying: 'waiting',
  delivered: 'good',
  failed: 'bad',
}

export const DeliveryBadge = ({ status }: { status: WebhookEventRow['status'] }) => (
  <span class={`badge ${DELIVERY_COLOURS[status]}`}>{status}</span>
)

const PAYMENT_COLOURS: Record<PaymentRow['status'], Colour> = {
  open: 'waiting',
  paid: 'good',
  failed: 'bad',
  expired: 'off',
}

/** The status of a payment, and whether it was refunded or is disputed. */
export const PaymentBadge = ({
  payment: { status, amount, amountRefunded, dispute },
}: {
  payment: PaymentRow
}) => (
  <>
    {amountRefunded === 0 && <span class={`badge ${PAYMENT_COLOURS[status]}`}>{status}</span>}
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
