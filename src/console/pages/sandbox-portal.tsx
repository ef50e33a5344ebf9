// The billing portal of the sandbox: card and billing details of a customer.
import { Hono } from 'hono'
import { describeCard } from '../../billing/sandbox/cards.ts'
import { changeBuyer, changeCard, findPortal } from '../../billing/sandbox/portal.ts'
import type { Portal } from '../../billing/sandbox/portal.ts'
import { Button } from '../components/form.tsx'
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

export const sandboxPortal = new Hono<ConsoleApp>()
  .get('/', async (c) => {
    const portal = await portalOf(c)
    if (!portal) return unknownPage(c)
    return portal.isExpired ? expiredPage(c, portal) : portalPage(c, portal)
  })
  .post('/card', async (c) => {
    const portal = await portalOf(c)
    if (!portal) return unknownPage(c)
    if (portal.isExpired) return expiredPage(c, portal)
    const fill = await readForm(c, Fill)
    if (fill.ok) return portalPage(c, portal, { card: withTestCard({}, fill.data.fill) })
    const form = await readForm(c, CardFields)
    if (!form.ok) {
      const card = { errors: form.errors, values: withoutRealCard(form.values) }
      return portalPage(c, portal, { card }, 422)
    }
    await changeCard(c.env, portal, validCard(form.data.number))
    return c.redirect(pathOf(c, '', 'card'), 303)
  })
  .post('/details', async (c) => {
    const portal = await portalOf(c)
    if (!portal) return unknownPage(c)
    if (portal.isExpired) return expiredPage(c, portal)
    const form = await readForm(c, BuyerFields)
    if (!form.ok) return portalPage(c, portal, { details: form }, 422)
    await changeBuyer(c.env, portal, form.data)
    return c.redirect(pathOf(c, '', 'details'), 303)
  })
  .get('/:form{card|details}', (c) => c.redirect(pathOf(c), 303))

const portalOf = (c: ConsoleContext) => findPortal(c.env, c.req.query('key') ?? '')

const pathOf = (c: ConsoleContext, form: '' | '/card' | '/details' = '', saved = '') =>
  `/sandbox/portal${form}?${new URLSearchParams({
    key: c.req.query('key') ?? '',
    ...(saved && { saved }),
  })}`

const expiredPage = (c: ConsoleContext, { returnUrl }: Portal) =>
  messagePage(
    c,
    { title: 'This page has expired', status: 409 },
    'The page is valid for 1 hour. Open it again from the billing page.',
    { href: ownUrl(c, returnUrl), text: 'Go to billing' },
  )

function portalPage(
  c: ConsoleContext,
  { customer, returnUrl }: Portal,
  states: { card?: FormState; details?: FormState } = {},
  status: 200 | 422 = 200,
) {
  const { card } = customer.data
  const saved = c.req.query('saved')
  return guestPage(
    c,
    { title: 'Billing details', status, stylesheet: STYLESHEET },
    <div class="portal">
      <SandboxBanner />
      <p class="breadcrumb">
        <a href={ownUrl(c, returnUrl)}>← Back to Try-On</a>
      </p>
      <h1>Billing details</h1>
      {saved && (
        <Notice kind="good">
          {saved === 'card' ? 'The card was changed.' : 'The billing details were changed.'}
        </Notice>
      )}
      <article>
        <h2>Payment method</h2>
        <p>{card ? `Current card: ${describeCard(card)}` : 'No card is stored.'}</p>
        <form method="post" action={pathOf(c, '/card')} id="card" novalidate>
          <CardInputs state={states.card ?? {}} />
          <Button>Change card</Button>
        </form>
      </article>
      <article>
        <h2>Name, address and tax ID</h2>
        <p class="muted">Shown on the next invoices. Existing invoices do not change.</p>
        <form method="post" action={pathOf(c, '/details')} novalidate>
          <BuyerInputs state={states.details ?? {}} buyer={customer.data} />
          <Button>Save billing details</Button>
        </form>
      </article>
      <TestCards form="card" />
    </div>,
  )
}
