// What the pages of the sandbox share: the choice of a test card, and pages with a message.
import type { Child } from 'hono/jsx'
import { z } from 'zod'
import { TEST_CARDS, testCard } from '../../billing/sandbox/cards.ts'
import { guestPage } from '../components/layout.tsx'
import { SandboxBanner } from '../components/sandbox-banner.tsx'
import type { ConsoleContext } from '../console-context.ts'
import type { FormState } from '../read-form.ts'

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
export const CardFields = ({ state = {} }: { state?: FormState }) => {
  const chosen = testCard(state.values?.['number'] ?? '') ?? '4242'
  const error = state.errors?.['number']
  return (
    <fieldset class="choices" aria-describedby={error ? 'number-error' : undefined}>
      <legend>Test card</legend>
      {TEST_CARDS.map(({ number, effect }) => (
        <label>
          <input
            type="radio"
            name="number"
            value={number}
            checked={number.endsWith(chosen) || undefined}
          />
          <span>{number.replace(/(.{4})(?=.)/g, '$1 ')}</span> <small>{effect}</small>
        </label>
      ))}
      {error && (
        <small id="number-error" class="error">
          {error}
        </small>
      )}
    </fieldset>
  )
}

/** A page with a message and one link. */
export const messagePage = (
  c: ConsoleContext,
  options: { title: string; status?: 200 | 404 | 409 },
  message: Child,
  link: { href: string; text: string },
) =>
  guestPage(
    c,
    options,
    <>
      <SandboxBanner />
      <article>
        <h1>{options.title}</h1>
        <p>{message}</p>
        <a href={link.href} role="button">
          {link.text}
        </a>
      </article>
    </>,
  )

/** The page of an address that is wrong, or that is not valid any more. */
export const unknownPage = (c: ConsoleContext) =>
  messagePage(
    c,
    { title: 'Payment page not found', status: 404 },
    'The address of this page is wrong or has expired. Start again from the billing page.',
    { href: '/console/billing', text: 'Go to billing' },
  )
