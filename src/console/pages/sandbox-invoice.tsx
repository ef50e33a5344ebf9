// The invoice of a payment in the sandbox.
import { Hono } from 'hono'
import { formatMoney } from '../../billing/money.ts'
import { describeCard } from '../../billing/sandbox/cards.ts'
import { buyerOf, reversalsOf, statusOf } from '../../billing/sandbox/sandbox-payment-state.ts'
import { findByAddress } from '../../billing/sandbox/sandbox-payments.ts'
import type { SandboxPayment } from '../../billing/sandbox/sandbox-payment-state.ts'
import { suffixOf } from '../../platform/ids.ts'
import { guestPage } from '../components/layout.tsx'
import { SandboxBanner } from '../components/sandbox-banner.tsx'
import type { ConsoleApp, ConsoleContext } from '../console-context.ts'
import { unknownPage } from './sandbox-parts.tsx'

const DATE = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' })

export const sandboxInvoice = new Hono<ConsoleApp>().get('/:id', async (c) => {
  const payment = await findByAddress(c.env, c.req.param('id'), c.req.query('key') ?? '')
  if (!payment || statusOf(payment) !== 'paid') return unknownPage(c)
  return invoicePage(c, payment, await buyerOf(c.env, payment))
})

function invoicePage(c: ConsoleContext, payment: SandboxPayment, buyer: string) {
  const { paidAt, item, amount, currency, card } = payment
  const { amountRefunded } = reversalsOf(payment)
  const number = numberOf(payment)
  const rows = {
    Seller: 'Try-On',
    'Billed to': buyer,
    Date: DATE.format(paidAt ?? undefined),
    Status: outcomeOf(amount, amountRefunded),
    [item]: formatMoney(amount, currency),
    Tax: formatMoney(0, currency),
    [`Paid with ${card && describeCard(card)}`]: formatMoney(amount, currency),
    ...(amountRefunded > 0 && { Refunded: `−${formatMoney(amountRefunded, currency)}` }),
  }
  return guestPage(
    c,
    { title: `Invoice ${number}` },
    <>
      <SandboxBanner />
      <article>
        <h1>Invoice {number}</h1>
        <dl>
          {Object.entries(rows).map(([term, value]) => (
            <>
              <dt>{term}</dt>
              <dd>{value}</dd>
            </>
          ))}
        </dl>
        <p class="muted">
          Created by the payment sandbox. Not a tax document: no money was charged.
        </p>
      </article>
    </>,
  )
}

/** Such as `SB-Q4K3M5N6PX`, or `SB-Q4K3M5N6PX-3` for the third period of a subscription. */
function numberOf({ id }: SandboxPayment): string {
  const [suffix = '', period] = suffixOf(id).split('_')
  return ['SB', suffix.slice(-10).toUpperCase(), period].filter(Boolean).join('-')
}

function outcomeOf(amount: number, amountRefunded: number): string {
  if (amountRefunded === 0) return 'Paid'
  return amountRefunded < amount ? 'Paid, partly refunded' : 'Paid, refunded'
}
