// The page where a customer of the sandbox changes the stored card.
import { Hono } from 'hono'
import { describeCard } from '../../billing/sandbox/cards.ts'
import { findCardPage } from '../../billing/sandbox/sandbox-customers.ts'
import type { SandboxCustomer } from '../../billing/sandbox/sandbox-customers.ts'
import { changeCard } from '../../billing/sandbox/sandbox-subscriptions.ts'
import { consolePath } from '../../domain/console-path.ts'
import { Button } from '../components/form.tsx'
import { guestPage } from '../components/layout.tsx'
import { Notice } from '../components/notice.tsx'
import { SandboxBanner } from '../components/sandbox-banner.tsx'
import type { ConsoleApp, ConsoleContext } from '../console-context.ts'
import { readForm } from '../read-form.ts'
import type { FormState } from '../read-form.ts'
import { CardChoice, CardFields, unknownPage } from './sandbox-parts.tsx'

export const sandboxCard = new Hono<ConsoleApp>()
  .get('/', async (c) => {
    const customer = await customerOf(c)
    return customer ? cardPage(c, customer) : unknownPage(c)
  })
  .post('/', async (c) => {
    const customer = await customerOf(c)
    if (!customer) return unknownPage(c)
    const form = await readForm(c, CardChoice)
    if (!form.ok) return cardPage(c, customer, form, 422)
    await changeCard(c.env, customer, form.data.number)
    return c.redirect(`${pathOf(c)}&saved=1`, 303)
  })

const customerOf = (c: ConsoleContext) => findCardPage(c.env, c.req.query('key') ?? '')

/** The key is in the query, which is never logged. */
const pathOf = (c: ConsoleContext) =>
  `/sandbox/card?${new URLSearchParams({ key: c.req.query('key') ?? '' })}`

const cardPage = (
  c: ConsoleContext,
  { card, organisationId }: SandboxCustomer,
  state: FormState = {},
  status: 200 | 422 = 200,
) =>
  guestPage(
    c,
    { title: 'Payment method', status },
    <>
      <SandboxBanner />
      <p class="breadcrumb">
        <a href={consolePath(organisationId, '/billing/portal/return')}>← Back to Try-On</a>
      </p>
      <article>
        <h1>Payment method</h1>
        {c.req.query('saved') && <Notice kind="good">The card was changed.</Notice>}
        <p>{card === null ? 'No card is stored.' : `Current card: ${describeCard(card)}`}</p>
        <form method="post" action={pathOf(c)}>
          <CardFields state={state} />
          <Button>Change card</Button>
        </form>
      </article>
    </>,
  )
