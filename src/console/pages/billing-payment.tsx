// A payment. The payment provider returns customers to this page, which waits for the confirmation.
import { Hono } from 'hono'
import { isSandbox } from '../../billing/choose-provider.ts'
import { formatCredits, formatMoney } from '../../billing/money.ts'
import { readPayment } from '../../billing/read-payment.ts'
import { discardPayment, isDiscardable } from '../../billing/discard-payment.ts'
import { PaymentError } from '../../billing/payment-provider.ts'
import { itemOf } from '../../billing/receipt.ts'
import type { PaymentRow } from '../../platform/db/billing-schema.ts'
import { AppError } from '../../domain/errors.ts'
import { baseUrlOf } from '../../http/base-url.ts'
import { isId } from '../../platform/ids.ts'
import { organisationStub } from '../../credits/organisation-stub.ts'
import { CopyableId } from '../components/copyable-text.tsx'
import { PaymentBadge } from '../components/badges.tsx'
import { memberPage } from '../components/layout.tsx'
import { Notice } from '../components/notice.tsx'
import { Details } from '../components/section.tsx'
import { SandboxBanner } from '../components/notice.tsx'
import { Timestamp } from '../components/time.tsx'
import type { ConsoleApp, ConsoleContext } from '../console-context.ts'
import { scopeOf, selectOrganisation } from '../middleware/session.ts'
import { ActionForm } from '../components/form.tsx'
import { log } from '../../platform/log.ts'
import { Amount, isContinuable } from './billing-payments.tsx'
import { readView } from './billing-view.ts'
import { Link } from '../components/link.tsx'
import { pathOf, redirectTo } from '../organisation-path.ts'

const REFRESH_SECONDS = 5

export const billingPayment = new Hono<ConsoleApp>()
  .get('/:paymentId', async (c) => {
    const payment = await findOwnPayment(c)
    // Another tab may have switched to another organisation during the checkout.
    selectOrganisation(c, payment.organisationId)
    return memberPage(
      c,
      {
        title: 'Payment',
        // The balance may change while the page waits.
        credits: null,
        ...(payment.status === 'open' && { refreshSeconds: REFRESH_SECONDS }),
      },
      <>
        <p class="breadcrumb">
          <Link to="/billing">Billing</Link>
        </p>
        <h1>{itemOf(payment)}</h1>
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
  .get('/:paymentId/live', async (c) => c.html(await paymentSection(c, await findOwnPayment(c))))

/** @throws AppError not_found, also for a payment of another organisation */
async function findOwnPayment(c: ConsoleContext): Promise<PaymentRow> {
  const paymentId = c.req.param('paymentId') ?? ''
  if (!isId('pay', paymentId)) throw new AppError('not_found')
  return readPayment({ ...scopeOf(c), paymentId })
}

async function paymentSection(c: ConsoleContext, payment: PaymentRow) {
  const { organisation } = c.var.membership
  const { id, status, credits, currency, createdAt, paidAt, invoiceUrl, tax, paymentMethod } =
    payment
  const [{ balance }, view] = await Promise.all([
    organisationStub(c.env, organisation.id).creditStatus(),
    readView(c, undefined),
  ])
  const canContinue = isContinuable(payment, view)
  return (
    <section
      class="payment"
      aria-label="Payment"
      data-live={status === 'open' ? pathOf(c, `/billing/payments/${id}/live`) : undefined}
      data-status={`Payment ${status}`}
    >
      <Outcome payment={payment} canContinue={canContinue} />
      <div class="card">
        <Details
          rows={[
            ['Status', <PaymentBadge payment={payment} />],
            [tax === null ? 'Amount' : 'Amount without tax', <Amount payment={payment} />],
            tax !== null && ['Tax', formatMoney(tax, currency)],
            tax !== null && [
              'Total',
              <strong>{formatMoney(payment.amount + tax, currency)}</strong>,
            ],
            paymentMethod && ['Paid with', paymentMethod],
            credits > 0 && ['Credits', <Credits payment={payment} />],
            ['Credit balance', <span data-balance>{formatCredits(balance, currency)}</span>],
            ['Organisation', <span class="address">{organisation.name}</span>],
            ['Started', <Timestamp at={createdAt} />],
            paidAt && ['Paid', <Timestamp at={paidAt} />],
            ['Payment ID', <CopyableId id={id} label="payment ID" />],
          ]}
        />
      </div>
      <div class="buttons">
        {canContinue && payment.actionUrl && (
          <a href={payment.actionUrl} role="button">
            Continue payment
          </a>
        )}
        {isDiscardable(payment) ? (
          <ActionForm to={`/billing/payments/${id}/discard`} label="Discard payment" />
        ) : (
          <Link to="/billing" role="button" class="secondary">
            {status === 'failed' || status === 'expired' ? 'Try again' : 'Back to Billing'}
          </Link>
        )}
        {invoiceUrl && (
          <a href={invoiceUrl} role="button" class="secondary" target="_blank" rel="noreferrer">
            View invoice
          </a>
        )}
      </div>
    </section>
  )
}

const Credits = ({ payment: { credits, creditsReversed, currency } }: { payment: PaymentRow }) => (
  <>
    {formatCredits(credits, currency)}
    {creditsReversed > 0 && (
      <span class="muted"> ({formatCredits(creditsReversed, currency)} taken back)</span>
    )}
  </>
)

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
