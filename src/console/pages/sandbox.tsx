// The pages of the embedded payment provider, which a real provider hosts itself: checkout, confirmation
// by the holder of a card, change of the card, invoices.
import { formatMoney } from '../../billing/money.ts'
import { describeCard, findCustomer, findCardPage } from '../../billing/sandbox/cards.ts'
import { isSandboxClosed } from '../../billing/sandbox/sandbox.ts'
import { reversalsOf, statusOf, type SandboxPayment } from '../../billing/sandbox/sandbox-state.ts'
import { findByAddress } from '../../billing/sandbox/sandbox-payments.ts'
import { changeCard } from '../../billing/sandbox/sandbox-subscriptions.ts'
import { consolePath } from '../../domain/console-path.ts'
import { AppError } from '../../domain/errors.ts'
import { suffixOf } from '../../platform/ids.ts'
import { Button, PostForm } from '../components/form.tsx'
import type { Anchor } from '../components/layout.tsx'
import { Notice } from '../components/text.tsx'
import { detailList } from '../components/section.tsx'
import { createMiddleware, createApp, type ConsoleContext } from '../console-context.ts'
import { readForm } from '../forms.ts'
import {
  CardChoice,
  CardFields,
  keyOf,
  sandboxCheckout,
  sandboxPage,
  unknownAddress,
} from './sandbox-checkout.tsx'

/** Invoices remain when another provider is set. */
const requireOpenSandbox = createMiddleware(async (c, next) => {
  if (isSandboxClosed(c.env)) throw new AppError('not_found')
  await next()
})

export const sandbox = createApp()
  .use('/checkout/*', requireOpenSandbox)
  .use('/card/*', requireOpenSandbox)
  .route('/checkout', sandboxCheckout)
  .get('/card', (c) => cardPage(c))
  .post('/card', async (c) => {
    const customer = await customerOf(c)
    const { number } = await readForm(c, CardChoice, cardPage)
    await changeCard(c.env, customer, number)
    return c.redirect(`${cardPath(c)}&saved=1`, 303)
  })

  .get('/invoices/:id', async (c) => {
    const payment = await findByAddress(c.env, c.req.param('id'), keyOf(c))
    if (!payment || statusOf(payment) !== 'paid') throw await unknownAddress(c)
    const buyer = await findCustomer(c.env, payment.organisationId)
    return invoicePage(c, payment, buyer.name)
  })

async function customerOf(c: ConsoleContext) {
  const customer = await findCardPage(c.env, keyOf(c))
  if (!customer) throw await unknownAddress(c)
  return customer
}

const cardPath = (c: ConsoleContext) => `/sandbox/card?${new URLSearchParams({ key: keyOf(c) })}`

async function cardPage(c: ConsoleContext) {
  const { card, organisationId } = await customerOf(c)
  const back: Anchor = [consolePath(organisationId, '/billing/portal/return'), 'Back to Try-On']
  return sandboxPage(
    { c, title: 'Payment method', back },
    <article>
      <h1>Payment method</h1>
      {c.req.query('saved') && <Notice kind="good">The card was changed.</Notice>}
      <p>{card === null ? 'No card is stored.' : `Current card: ${describeCard(card)}`}</p>
      <PostForm action={cardPath(c)}>
        <CardFields />
        <Button>Change card</Button>
      </PostForm>
    </article>,
  )
}

const DATE = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' })

function invoicePage(c: ConsoleContext, payment: SandboxPayment, buyer: string) {
  const { paidAt, item, amount, currency, card } = payment
  const { amountRefunded } = reversalsOf(payment)
  const title = `Invoice ${numberOf(payment)}`
  return sandboxPage(
    { c, title },
    <article>
      <h1>{title}</h1>
      {detailList({
        Seller: 'Try-On',
        'Billed to': buyer,
        Date: DATE.format(paidAt ?? undefined),
        Status: outcomeOf(amount, amountRefunded),
        [item]: formatMoney(amount, currency),
        Tax: formatMoney(0, currency),
        [`Paid with ${card && describeCard(card)}`]: formatMoney(amount, currency),
        Refunded: amountRefunded > 0 && `−${formatMoney(amountRefunded, currency)}`,
      })}
      <p class="muted">Created by the payment sandbox. Not a tax document: no money was charged.</p>
    </article>,
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
