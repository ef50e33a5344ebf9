// The checkout of the sandbox, and the page where the holder of a card confirms a payment.
import { Hono } from 'hono'
import { z } from 'zod'
import { describeCard } from '../../billing/sandbox/cards.ts'
import {
  confirmCheckout,
  findCheckout,
  isOpen,
  payCheckout,
} from '../../billing/sandbox/checkout.ts'
import { formatMoney } from '../../billing/money.ts'
import { Button, FormError } from '../components/form.tsx'
import { guestPage } from '../components/layout.tsx'
import { Notice } from '../components/notice.tsx'
import { SandboxBanner } from '../components/sandbox-banner.tsx'
import type { ConsoleApp, ConsoleContext } from '../context.ts'
import { readForm } from '../read-form.ts'
import type { FormState } from '../read-form.ts'
import {
  BuyerFields,
  BuyerInputs,
  CardFields,
  CardInputs,
  Fill,
  messagePage,
  ownUrl,
  STYLESHEET,
  TestCards,
  unknownPage,
  validCard,
  withoutRealCard,
  withTestCard,
} from './sandbox-card.tsx'

type Checkout = NonNullable<Awaited<ReturnType<typeof findCheckout>>>

const Pay = z.object({ ...CardFields.shape, ...BuyerFields.shape })
const Decision = z.object({ decision: z.enum(['approve', 'decline']) })

export const sandboxCheckout = new Hono<ConsoleApp>()
  .get('/:id', async (c) => {
    const checkout = await checkoutOf(c)
    if (!checkout) return unknownPage(c)
    return closedPage(c, checkout) ?? checkoutPage(c, checkout)
  })
  .post('/:id', async (c) => {
    const checkout = await checkoutOf(c)
    if (!checkout) return unknownPage(c)
    if (!isOpen(checkout.data)) return c.redirect(nextPage(c, checkout), 303)
    const values = textsOf(await c.req.parseBody())
    const fill = Fill.safeParse(values)
    if (fill.success) return checkoutPage(c, checkout, withTestCard(values, fill.data.fill))
    const form = await readForm(c, Pay)
    if (!form.ok) {
      const state = { errors: form.errors, values: withoutRealCard(form.values) }
      return checkoutPage(c, checkout, state, 422)
    }
    const { number, name, address, taxId } = form.data
    const result = await payCheckout(c.env, checkout, validCard(number), { name, address, taxId })
    if (result.kind === 'declined') {
      const errors = { '': `${result.reason} You were not charged. Try another card.` }
      return checkoutPage(c, checkout, { errors, values }, 422)
    }
    if (result.kind === 'confirm') return c.redirect(pathOf(checkout, '/confirm'), 303)
    return c.redirect(nextPage(c, { ...checkout, data: result.data }), 303)
  })
  .get('/:id/confirm', async (c) => {
    const checkout = await checkoutOf(c)
    if (!checkout) return unknownPage(c)
    if (checkout.data.status === 'confirming') return confirmPage(c, checkout)
    return c.redirect(pathOf(checkout), 303)
  })
  .post('/:id/confirm', async (c) => {
    const checkout = await checkoutOf(c)
    if (!checkout) return unknownPage(c)
    const form = await readForm(c, Decision)
    if (!form.ok) return c.redirect(pathOf(checkout, '/confirm'), 303)
    const { data } = await confirmCheckout(c.env, checkout, form.data.decision === 'approve')
    if (data.status === 'open') return c.redirect(`${pathOf(checkout)}&declined=1`, 303)
    return c.redirect(nextPage(c, { ...checkout, data }), 303)
  })

const checkoutOf = (c: ConsoleContext) =>
  findCheckout(c.env, c.req.param('id') ?? '', c.req.query('key') ?? '')

/** Where the customer goes once the checkout is closed. A repeated form goes there, too. */
const nextPage = (c: ConsoleContext, checkout: Checkout) =>
  checkout.data.status === 'expired' ? pathOf(checkout) : ownUrl(c, checkout.checkout.returnUrl)

/** The key is in the query, which is never logged. */
const pathOf = ({ id, data }: Checkout, page: '' | '/confirm' = '') =>
  `/sandbox/checkout/${id}${page}?key=${data.secret}`

const textsOf = (body: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(body).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )

/** The page of a checkout that cannot be paid any more; null while it is open. */
function closedPage(c: ConsoleContext, checkout: Checkout) {
  if (isOpen(checkout.data)) return null
  const { returnUrl, cancelUrl } = checkout.checkout
  const { status, item } = checkout.data
  if (status === 'expired') {
    return messagePage(
      c,
      { title: 'This payment page has expired', status: 409 },
      'A payment page is valid for 2 hours. You were not charged. Start again from the billing page.',
      { href: ownUrl(c, cancelUrl), text: 'Go to billing' },
    )
  }
  const title = status === 'processing' ? 'The payment is being processed' : 'Already paid'
  const message =
    status === 'processing'
      ? `The payment of ${item} takes a few seconds.`
      : `The payment of ${item} is complete. You are not charged again.`
  return messagePage(c, { title }, message, { href: ownUrl(c, returnUrl), text: 'Continue' })
}

function checkoutPage(
  c: ConsoleContext,
  checkout: Checkout,
  state: FormState = {},
  status: 200 | 422 = 200,
) {
  const { item, plan, amount, currency, buyer } = checkout.data
  const price = formatMoney(amount, currency)
  return guestPage(
    c,
    { title: 'Checkout', status, stylesheet: STYLESHEET },
    <div class="checkout">
      <SandboxBanner />
      <section class="summary">
        <p class="breadcrumb">
          <a href={ownUrl(c, checkout.checkout.cancelUrl)}>← Cancel and go back</a>
        </p>
        <h1>
          Pay Try-On
          <strong>
            {price}
            {plan && <small> per month</small>}
          </strong>
        </h1>
        <p class="line">
          <span>{item}</span>
          <span>{price}</span>
        </p>
      </section>
      <article>
        <form method="post" action={pathOf(checkout)} id="pay" novalidate>
          <FormError state={state} />
          {c.req.query('declined') && !state.errors && (
            <Notice kind="bad">
              The confirmation was declined. You were not charged. Try again or use another card.
            </Notice>
          )}
          <h2>Card</h2>
          <CardInputs state={state} />
          <h2>Billing details</h2>
          <BuyerInputs state={state} buyer={buyer} />
          <Button>Pay {price}</Button>
        </form>
      </article>
      <TestCards form="pay" />
    </div>,
  )
}

function confirmPage(c: ConsoleContext, checkout: Checkout) {
  const { item, amount, currency, card } = checkout.data
  return guestPage(
    c,
    { title: 'Confirm the payment', stylesheet: STYLESHEET },
    <>
      <SandboxBanner />
      <article>
        <h1>Confirm the payment</h1>
        <p>This page simulates the confirmation by the bank of the cardholder.</p>
        <dl>
          <dt>Amount</dt>
          <dd>{formatMoney(amount, currency)}</dd>
          <dt>Paid to</dt>
          <dd>Try-On</dd>
          <dt>For</dt>
          <dd>{item}</dd>
          <dt>Card</dt>
          <dd>{card && describeCard(card)}</dd>
        </dl>
        <form method="post" action={pathOf(checkout, '/confirm')} class="action">
          <div class="buttons">
            <Button kind="primary" name="decision" value="approve">
              Approve
            </Button>
            <Button kind="secondary" name="decision" value="decline">
              Decline
            </Button>
          </div>
        </form>
      </article>
    </>,
  )
}
