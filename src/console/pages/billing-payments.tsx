// The sections of Billing for the payment method and the list of payments.
import { hasCurrentPrice } from '../../billing/buyer.ts'
import { formatMoney } from '../../billing/money.ts'
import { itemOf } from '../../billing/receipt.ts'
import type { PaymentRow } from '../../platform/db/billing-schema.ts'
import { PaymentBadge } from '../components/badges.tsx'
import { Button, FormError, PostForm } from '../components/form.tsx'
import { EmptyState, Table } from '../components/table.tsx'
import { Timestamp } from '../components/time.tsx'
import type { BillingView } from './billing-view.ts'
import { Link } from '../components/link.tsx'

/** The stored payment method, with a link to the provider's portal. */
export const PaymentMethod = ({ view }: { view: BillingView }) => (
  <section id="payment-method" class="card" aria-labelledby="payment-method-heading">
    <h2 id="payment-method-heading">Payment method and billing details</h2>
    <FormError state={view.stateOf('portal')} />
    {view.account?.customerId ? (
      <>
        <p>
          {view.account.paymentMethod ?? 'No payment method is stored.'}{' '}
          <span class="muted">
            The payment provider stores the payment method, billing address and tax ID.
          </span>
        </p>
        <PostForm to="/billing/portal">
          <Button kind="secondary">Manage billing details</Button>
        </PostForm>
      </>
    ) : (
      <p>
        You enter the payment method, billing address and tax ID with the first payment. After that,
        you can change them here.
      </p>
    )}
  </section>
)

/** One page of the payments, newest first. */
export const Payments = ({ view }: { view: BillingView }) => {
  const { c, payments, hasMore } = view
  const isPaged = c.req.query('before') !== undefined
  const last = payments.at(-1)
  return (
    <section aria-labelledby="payments-heading">
      <h2 id="payments-heading">Payments</h2>
      {payments.length === 0 ? (
        <EmptyState title={isPaged ? 'No more payments' : 'No payments yet'} />
      ) : (
        <Table
          label="Payments"
          columns={['Date', 'Item', 'Amount', 'Status', 'Details']}
          numeric={['Amount']}
          rows={payments.map((payment) => [
            <Timestamp at={payment.createdAt} as="day" />,
            <>
              {itemOf(payment)}
              {payment.failure && <span class="subline">{payment.failure}</span>}
            </>,
            <Amount payment={payment} />,
            <PaymentBadge payment={payment} />,
            <PaymentLinks view={view} payment={payment} />,
          ])}
        />
      )}
      <nav aria-label="Pages" class="pages">
        {isPaged && <Link to="/billing#payments">Newest</Link>}
        {hasMore && last && <Link to={`/billing?before=${last.id}#payments`}>Older</Link>}
      </nav>
    </section>
  )
}

/** The amount of a payment, and what was refunded. */
export const Amount = ({
  payment: { status, amount, amountRefunded, currency },
}: {
  payment: PaymentRow
}) => (
  <>
    {/* The provider computes the price of an upgrade. */}
    {status === 'open' && amount === 0 ? '–' : formatMoney(amount, currency)}
    {amountRefunded > 0 && (
      <span class="subline">{formatMoney(amountRefunded, currency)} refunded</span>
    )}
  </>
)

/** Whether the page where the customer pays is offered: the price and the organisation may have changed. */
export const isContinuable = (payment: PaymentRow, { c, account, problem }: BillingView): boolean =>
  payment.status === 'open' &&
  problem === null &&
  hasCurrentPrice(payment, c.var.membership.organisation, account?.enterpriseTerms)

const PaymentLinks = ({ view, payment }: { view: BillingView; payment: PaymentRow }) => {
  const on = <span class="visually-hidden">of {itemOf(payment)}</span>
  return (
    <div class="actions">
      {payment.actionUrl && isContinuable(payment, view) && (
        <a href={payment.actionUrl}>Continue payment {on}</a>
      )}
      {payment.invoiceUrl && (
        <a href={payment.invoiceUrl} target="_blank" rel="noreferrer">
          Invoice {on}
        </a>
      )}
      <Link to={`/billing/payments/${payment.id}`}>View {on}</Link>
    </div>
  )
}
