// The checkout of the sandbox, the page where the holder of a card confirms a payment, and what the pages of the
// sandbox share. The key of a page is in its query, which is never logged.
import { HTTPException } from 'hono/http-exception'
import type { Child } from 'hono/jsx'
import { z } from 'zod'
import { formatMoney } from '../../billing/money.ts'
import { describeCard, TEST_CARDS, testCard } from '../../billing/sandbox/cards.ts'
import { isOpen, statusOf, type SandboxPayment } from '../../billing/sandbox/sandbox-state.ts'
import {
  confirmCheckout,
  findByAddress,
  payCheckout,
} from '../../billing/sandbox/sandbox-payments.ts'
import { baseUrlOf } from '../../http/base-url.ts'
import { Button, PostForm } from '../components/form.tsx'
import { Notice, ButtonLink } from '../components/text.tsx'
import { RadioCards } from '../components/radio-cards.tsx'
import { guestPage, SandboxBanner, type Anchor, type PageOptions } from '../components/layout.tsx'
import { detailList } from '../components/section.tsx'
import { createApp, type ConsoleContext } from '../console-context.ts'
import { pageWith, readForm } from '../forms.ts'

type Checkout = SandboxPayment & { returnUrl: string; cancelUrl: string }

const Decision = z.object({ decision: z.enum(['approve', 'decline']) })

export const sandboxCheckout = createApp()
  .get('/:id', async (c) => {
    const checkout = await checkoutOf(c)
    return isOpen(checkout) ? checkoutPage(c, checkout) : closedPage(c, checkout)
  })
  .post('/:id', async (c) => {
    const checkout = await checkoutOf(c)
    if (!isOpen(checkout)) return c.redirect(nextPath(c, checkout), 303)
    const page = () => checkoutPage(c, checkout)
    const form = await readForm(c, CardChoice, page)
    const paid = await payCheckout(c.env, checkout, form.number)
    if ('declined' in paid) {
      const errors = { '': `${paid.declined} You were not charged. Try another card.` }
      return pageWith(c, page, { errors })
    }
    return c.redirect(nextPath(c, checkout, paid), 303)
  })
  .get('/:id/confirm', async (c) => {
    const checkout = await checkoutOf(c)
    if (statusOf(checkout) === 'confirming') return confirmPage(c, checkout)
    return c.redirect(pathOf(checkout), 303)
  })
  .post('/:id/confirm', async (c) => {
    const checkout = await checkoutOf(c)
    const { decision } = await readForm(c, Decision, () =>
      c.redirect(pathOf(checkout, '/confirm'), 303),
    )
    const payment = await confirmCheckout(c.env, checkout, decision === 'approve')
    if (payment.status === 'open') return c.redirect(`${pathOf(checkout)}&declined=1`, 303)
    return c.redirect(nextPath(c, checkout, payment), 303)
  })

async function checkoutOf(c: ConsoleContext): Promise<Checkout> {
  const payment = await findByAddress(c.env, c.req.param('id') ?? '', keyOf(c))
  if (!payment?.returnUrl || !payment.cancelUrl) throw await unknownAddress(c)
  const { returnUrl, cancelUrl } = payment
  return { ...payment, returnUrl, cancelUrl }
}

/** Where the customer goes after a form. A repeated form goes there, too. */
function nextPath(c: ConsoleContext, checkout: Checkout, payment: SandboxPayment = checkout) {
  const status = statusOf(payment)
  if (status === 'confirming') return pathOf(checkout, '/confirm')
  return status === 'expired' ? pathOf(checkout) : ownUrl(c, checkout.returnUrl)
}

const pathOf = ({ id, secret }: SandboxPayment, page: '' | '/confirm' = '') =>
  `/sandbox/checkout/${id}${page}?key=${secret}`

/** A return address on this origin: prevents redirects to other origins. */
function ownUrl(c: ConsoleContext, url: string): string {
  const { pathname, search } = new URL(url)
  const target = new URL(baseUrlOf(c))
  target.pathname = pathname
  target.search = search
  return target.href
}

/** The page of a checkout that cannot be paid any more. */
function closedPage(c: ConsoleContext, checkout: Checkout) {
  const { item, returnUrl, cancelUrl } = checkout
  const status = statusOf(checkout)
  if (status === 'expired') {
    return messagePage(
      { c, title: 'This payment page has expired', status: 409 },
      'A payment page is valid for 2 hours. You were not charged. Start again from the billing page.',
      [ownUrl(c, cancelUrl), 'Go to billing'],
    )
  }
  const [title, message] =
    status === 'processing'
      ? ['The payment is being processed', `The payment of ${item} takes a few seconds.`]
      : ['Already paid', `The payment of ${item} is complete. You are not charged again.`]
  return messagePage({ c, title }, message, [ownUrl(c, returnUrl), 'Continue'])
}

function checkoutPage(c: ConsoleContext, checkout: Checkout) {
  const { item, plan, amount, currency } = checkout
  const price = formatMoney(amount, currency)
  return sandboxPage(
    { c, title: 'Checkout', back: [ownUrl(c, checkout.cancelUrl), 'Cancel and go back'] },
    <article class="checkout">
      <h1>
        {item}
        <strong>
          {price}
          {plan && <small> per month</small>}
        </strong>
      </h1>
      <PostForm action={pathOf(checkout)}>
        {c.req.query('declined') && !c.var.form && (
          <Notice kind="bad">
            The confirmation was declined. You were not charged. Try again or use another card.
          </Notice>
        )}
        <CardFields />
        <Button>Pay {price}</Button>
      </PostForm>
    </article>,
  )
}

const confirmPage = (c: ConsoleContext, checkout: Checkout) =>
  sandboxPage(
    { c, title: 'Confirm the payment' },
    <article>
      <h1>Confirm the payment</h1>
      <p>This page simulates the confirmation by the bank of the cardholder.</p>
      {detailList({
        Amount: formatMoney(checkout.amount, checkout.currency),
        'Paid to': 'Try-On',
        For: checkout.item,
        Card: checkout.card && describeCard(checkout.card),
      })}
      <PostForm action={pathOf(checkout, '/confirm')} class="action">
        <div class="buttons">
          <Button kind="primary" name="decision" value="approve">
            Approve
          </Button>
          <Button kind="secondary" name="decision" value="decline">
            Decline
          </Button>
        </div>
      </PostForm>
    </article>,
  )

export const keyOf = (c: ConsoleContext) => c.req.query('key') ?? ''

/** A chosen card as its last four digits. The number is neither stored nor shown again. */
export const CardChoice = z.object({
  number: z.string('Select a card.').transform((number, context) => {
    const card = testCard(number)
    if (card !== null) return card
    const message = 'Only test cards are accepted. Never enter a real card number here.'
    context.addIssue({ code: 'custom', message })
    return z.NEVER
  }),
})

export const CardFields = () => (
  <RadioCards
    name="number"
    legend="Test card"
    value={TEST_CARDS[0]?.number}
    options={TEST_CARDS.map(({ number, effect }) => ({
      value: number,
      label: number.replace(/(.{4})(?=.)/g, '$1 '),
      note: <small>{effect}</small>,
    }))}
  />
)

/** @param back the link to the service */
type SandboxPage = PageOptions & { back?: Anchor }

/** A page of the sandbox. @param content with its heading */
export const sandboxPage = ({ back, ...page }: SandboxPage, content: Child) =>
  guestPage(
    page,
    <>
      <SandboxBanner />
      {back && (
        <p class="breadcrumb">
          <a href={back[0]}>← {back[1]}</a>
        </p>
      )}
      {content}
    </>,
  )

const messagePage = (page: SandboxPage, message: string, [href, text]: Anchor) =>
  sandboxPage(
    page,
    <article>
      <h1>{page.title}</h1>
      <p>{message}</p>
      <ButtonLink href={href} kind="primary" label={text} />
    </article>,
  )

/** What a handler throws for an address that is wrong, or that is not valid any more. */
export async function unknownAddress(c: ConsoleContext) {
  const res = await messagePage(
    { c, title: 'Payment page not found', status: 404 },
    'The address of this page is wrong or has expired. Start again from the billing page.',
    ['/console/billing', 'Go to billing'],
  )
  return new HTTPException(404, { res })
}
