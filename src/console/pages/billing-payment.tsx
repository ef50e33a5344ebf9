// A payment, and the list of payments. The payment provider returns customers to the page of the payment, which
// waits for the confirmation.
import { hasCurrentPrice } from '../../billing/buy-pack.ts'
import { isSandbox } from '../../billing/choose-provider.ts'
import { formatCredits, formatMoney } from '../../billing/money.ts'
import { readPayment, discardPayment, isDiscardable } from '../../billing/refresh-payment.ts'
import { PaymentError } from '../../billing/payment-provider.ts'
import { itemOf } from '../../billing/settle-payment.ts'
import type { PaymentRow } from '../../platform/db/billing-schema.ts'
import { baseUrlOf } from '../../http/base-url.ts'
import { log } from '../../platform/log.ts'
import { PaymentBadge, Link, Notice, Timestamp, ButtonLink } from '../components/text.tsx'
import { SandboxBanner, memberFragment, memberPage } from '../components/layout.tsx'
import { CopyableId } from '../components/copyable-text.tsx'
import { ActionForm } from '../components/form.tsx'
import { pageLinks, detailList, Section, EmptyState, Table } from '../components/section.tsx'
import { selectOrganisation } from '../middleware/session.ts'
import { createApp, scopeOf, pathOf, type ConsoleContext } from '../console-context.ts'
import { idIn } from '../forms.ts'
import { redirectTo } from '../form-notices.ts'
import { readView, type BillingView } from './billing-view.ts'

const REFRESH_SECONDS = 5

export const billingPayment = createApp()
  .get('/:paymentId', async (c) => {
    const payment = await findOwnPayment(c)
    // Another tab may have switched to another organisation during the checkout.
    selectOrganisation(c, payment.organisationId)
    return memberPage(
      {
        c,
        title: 'Payment',
        above: { '/billing': 'Billing' },
        heading: itemOf(payment),
        // The balance may change while the page waits.
        credits: null,
        refreshSeconds: payment.status === 'open' ? REFRESH_SECONDS : undefined,
      },
      <>
        {isSandbox(c.env, baseUrlOf(c)) && <SandboxBanner />}
        {await paymentSection(c, payment)}
      </>,
    )
  })
  .post('/:paymentId/discard', async (c) => {
    const { id } = await findOwnPayment(c)
    try {
      await discardPayment({ ...scopeOf(c), paymentId: id })
    } catch (error) {
      if (!(error instanceof PaymentError)) throw error
      log.error('payment not discarded', error, { paymentId: id })
      return redirectTo(c, `/billing/payments/${id}`, 'payment_not_discarded')
    }
    return redirectTo(c, `/billing/payments/${id}`)
  })
  // console.js polls this fragment while the payment is open.
  .get('/:paymentId/live', async (c) =>
    memberFragment(c, await paymentSection(c, await findOwnPayment(c))),
  )

/** @throws AppError not_found, also for a payment of another organisation */
const findOwnPayment = (c: ConsoleContext): Promise<PaymentRow> =>
  readPayment({ ...scopeOf(c), paymentId: idIn(c, 'paymentId', 'pay') })

async function paymentSection(c: ConsoleContext, payment: PaymentRow) {
  const { id, status, amount, credits, creditsReversed, currency, tax, paidAt, invoiceUrl } =
    payment
  const view = await readView(c)
  const { organisation, creditStatus } = view
  const canContinue = isContinuable(payment, view)
  const reversed = formatCredits(creditsReversed, currency)
  return (
    <section
      class="payment"
      aria-label="Payment"
      data-live={status === 'open' ? pathOf(c, `/billing/payments/${id}/live`) : undefined}
      data-status={`Payment ${status}`}
    >
      <Outcome payment={payment} canContinue={canContinue} />
      <div class="card">
        {detailList({
          Status: <PaymentBadge payment={payment} />,
          [tax === null ? 'Amount' : 'Amount without tax']: <Amount payment={payment} />,
          Tax: tax !== null && formatMoney(tax, currency),
          Total: tax !== null && <strong>{formatMoney(amount + tax, currency)}</strong>,
          'Paid with': payment.paymentMethod,
          Credits: credits > 0 && (
            <>
              {formatCredits(credits, currency)}
              {creditsReversed > 0 && <span class="muted"> ({reversed} taken back)</span>}
            </>
          ),
          'Credit balance': (
            <span data-balance>{formatCredits(creditStatus.balance, currency)}</span>
          ),
          Organisation: <span class="address">{organisation.name}</span>,
          Started: <Timestamp at={payment.createdAt} />,
          Paid: paidAt && <Timestamp at={paidAt} />,
          'Payment ID': <CopyableId id={id} label="payment ID" />,
        })}
      </div>
      <div class="buttons">
        {canContinue && payment.actionUrl && (
          <ButtonLink href={payment.actionUrl} kind="primary" label="Continue payment" />
        )}
        {isDiscardable(payment) ? (
          <ActionForm to={`/billing/payments/${id}/discard`} label="Discard payment" />
        ) : (
          <ButtonLink
            to="/billing"
            label={status === 'failed' || status === 'expired' ? 'Try again' : 'Back to Billing'}
          />
        )}
        {invoiceUrl && (
          <ButtonLink href={invoiceUrl} target="_blank" rel="noreferrer" label="View invoice" />
        )}
      </div>
    </section>
  )
}

const Outcome = ({ payment, canContinue }: { payment: PaymentRow; canContinue: boolean }) => {
  const { status, failure, credits, currency, dispute, amountRefunded, creditsReversed } = payment
  if (isDiscardable(payment)) {
    return (
      <Notice kind="info">
        <strong>The payment is not complete.</strong>{' '}
        {canContinue
          ? 'Continue on the payment page, or discard it. If you have just paid, this page shows it in a moment.'
          : 'The price or the organisation has changed since it was started. Discard it and start again.'}
      </Notice>
    )
  }
  if (status === 'open') {
    return (
      <p class="notice" role="status">
        <span aria-busy="true">We are waiting for the confirmation of the payment.</span> This page
        updates automatically.
      </p>
    )
  }
  if (status === 'failed') {
    return (
      <Notice kind="bad">
        <strong>The payment failed.</strong> {failure} No credits were added.
      </Notice>
    )
  }
  if (status === 'expired') {
    return <Notice kind="info">The payment was not completed. You were not charged.</Notice>
  }
  if (amountRefunded > 0) {
    return (
      <Notice kind="info">
        {formatMoney(amountRefunded, currency)} of this payment was{' '}
        {dispute === 'lost' ? 'returned after a dispute' : 'refunded'}.
        {creditsReversed > 0 &&
          ` ${formatCredits(creditsReversed, currency)} ${creditsReversed === 1 ? 'credit was' : 'credits were'} taken back.`}
      </Notice>
    )
  }
  return (
    <Notice kind="good">
      <strong>Payment received.</strong>{' '}
      {credits > 0 &&
        `${formatCredits(credits, currency)} ${credits === 1 ? 'credit was' : 'credits were'} added. `}
      A receipt is sent to the owners by email.
    </Notice>
  )
}

/** One page of the payments, newest first. */
export const Payments = ({ view }: { view: BillingView }) => {
  const { payments, isPaged, hasMore } = view
  return (
    <Section id="payments-heading" title="Payments">
      <Table
        label="Payments"
        empty={<EmptyState title={isPaged ? 'No more payments' : 'No payments yet'} />}
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
      {pageLinks({
        Newest: isPaged && '/billing#payments',
        Older: hasMore && `/billing?before=${payments.at(-1)?.id}#payments`,
      })}
    </Section>
  )
}

const PaymentLinks = ({ view, payment }: { view: BillingView; payment: PaymentRow }) => {
  const on = <span class="visually-hidden">of {itemOf(payment)}</span>
  return (
    <div class="buttons">
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

const Amount = ({ payment }: { payment: PaymentRow }) => {
  const { status, amount, amountRefunded, currency } = payment
  const refunded = `${formatMoney(amountRefunded, currency)} refunded`
  return (
    <>
      {/* The provider computes the price of an upgrade. */}
      {status === 'open' && amount === 0 ? '–' : formatMoney(amount, currency)}
      {amountRefunded > 0 && <span class="subline">{refunded}</span>}
    </>
  )
}

/** Whether the page where the customer pays is offered: the price and the organisation may have changed. */
const isContinuable = (payment: PaymentRow, { organisation, account, problem }: BillingView) =>
  payment.status === 'open' &&
  problem === null &&
  hasCurrentPrice(payment, organisation, account?.enterpriseTerms)
