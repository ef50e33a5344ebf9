// What the pages of the sandbox share. The key of a page is in its query, which is never logged.
import type { Child } from 'hono/jsx'
import { z } from 'zod'
import { TEST_CARDS, testCard } from '../../billing/sandbox/cards.ts'
import { RadioCards } from '../components/radio-cards.tsx'
import { guestPage, type Anchor, SandboxBanner } from '../components/layout.tsx'
import type { ConsoleContext } from '../console-context.ts'
import type { FormState } from '../forms.ts'

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
/** The test cards as radio buttons. */
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

interface SandboxPage {
  title: string
  status?: 404 | 409
  state?: FormState
  /** The link to the service. */
  back?: Anchor
}

/** A page of the sandbox. @param content with its heading */
export const sandboxPage = (c: ConsoleContext, { back, ...options }: SandboxPage, content: Child) =>
  guestPage(
    c,
    options,
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

export const messagePage = (
  c: ConsoleContext,
  options: SandboxPage,
  message: string,
  [href, text]: Anchor,
) =>
  sandboxPage(
    c,
    options,
    <article>
      <h1>{options.title}</h1>
      <p>{message}</p>
      <a href={href} role="button">
        {text}
      </a>
    </article>,
  )

/** The page of an address that is wrong, or that is not valid any more. */
export const unknownPage = (c: ConsoleContext) =>
  messagePage(
    c,
    { title: 'Payment page not found', status: 404 },
    'The address of this page is wrong or has expired. Start again from the billing page.',
    ['/console/billing', 'Go to billing'],
  )
