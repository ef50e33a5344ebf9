// The invoice of a payment in the sandbox, also for printing.
import { Hono } from 'hono'
import { formatMoney } from '../../billing/money.ts'
import { describeCard } from '../../billing/sandbox/cards.ts'
import { findInvoice } from '../../billing/sandbox/invoices.ts'
import type { Invoice } from '../../billing/sandbox/invoices.ts'
import { guestPage } from '../components/layout.tsx'
import { SandboxBanner } from '../components/sandbox-banner.tsx'
import type { ConsoleApp, ConsoleContext } from '../context.ts'
import { STYLESHEET, unknownPage } from './sandbox-card.tsx'

const DATE = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' })

export const sandboxInvoice = new Hono<ConsoleApp>().get('/:id', async (c) => {
  const invoice = await findInvoice(c.env, c.req.param('id'), c.req.query('key') ?? '')
  return invoice ? invoicePage(c, invoice) : unknownPage(c)
})

function invoicePage(c: ConsoleContext, invoice: Invoice) {
  const { number, paidAt, buyer, item, amount, amountRefunded, currency, card } = invoice
  const money = (value: number) => formatMoney(value, currency)
  return guestPage(
    c,
    { title: `Invoice ${number}`, stylesheet: STYLESHEET },
    <div class="invoice">
      <SandboxBanner />
      <article>
        <div class="head">
          <h1>Invoice</h1>
          <p class="seller">
            <strong>Try-On</strong>
          </p>
        </div>
        <dl>
          <dt>Invoice number</dt>
          <dd>{number}</dd>
          <dt>Date</dt>
          <dd>{DATE.format(paidAt)}</dd>
          <dt>Status</dt>
          <dd>{statusOf(invoice)}</dd>
        </dl>
        <h2>Billed to</h2>
        <p class="buyer">
          <strong>{buyer.name}</strong>
          {buyer.address && `\n${buyer.address}`}
          {buyer.taxId && `\nTax ID: ${buyer.taxId}`}
        </p>
        <table aria-label="Items">
          <thead>
            <tr>
              <th scope="col">Description</th>
              <th scope="col">Amount</th>
            </tr>
          </thead>
          <tbody>
            <tr>
              <td>{item}</td>
              <td>{money(amount)}</td>
            </tr>
          </tbody>
          <tfoot>
            <tr>
              <th scope="row">Tax</th>
              <td>{money(0)}</td>
            </tr>
            <tr class="total">
              <th scope="row">Total</th>
              <td>{money(amount)}</td>
            </tr>
            <tr>
              <th scope="row">Paid with {describeCard(card)}</th>
              <td>{money(amount)}</td>
            </tr>
            {amountRefunded > 0 && (
              <tr>
                <th scope="row">Refunded</th>
                <td>−{money(amountRefunded)}</td>
              </tr>
            )}
          </tfoot>
        </table>
        <p class="muted">
          Created by the payment sandbox. Not a tax document: no money was charged.
        </p>
      </article>
    </div>,
  )
}

function statusOf({ amount, amountRefunded }: Invoice): string {
  if (amountRefunded === 0) return 'Paid'
  return amountRefunded < amount ? 'Paid, partly refunded' : 'Paid, refunded'
}
