// What the checkout and the billing portal of the sandbox share: fields of the card and of the buyer,
// the list of test cards, and small pages.
import type { Child } from 'hono/jsx'
import { z } from 'zod'
import { cardOf, digitsOf, isCardNumber, TEST_CARDS } from '../../billing/sandbox/cards.ts'
import type { Card } from '../../billing/sandbox/cards.ts'
import { WITHOUT_CONTROL_CHARACTERS } from '../../domain/text.ts'
import { baseUrlOf } from '../../http/base-url.ts'
import { Field } from '../components/form.tsx'
import { guestPage } from '../components/layout.tsx'
import { SandboxBanner } from '../components/sandbox-banner.tsx'
import type { ConsoleContext } from '../context.ts'
import type { FormState } from '../read-form.ts'

/** The stylesheet of all pages of the sandbox. */
export const STYLESHEET = '/static/sandbox.css'
const MAX_ADDRESS_LENGTH = 300

const text = (name: string, maxLength: number) =>
  z
    .string()
    .trim()
    .max(maxLength, `The ${name} must have at most ${maxLength} characters.`)
    .regex(WITHOUT_CONTROL_CHARACTERS, `The ${name} must not contain control characters.`)

/** The button that fills the form with a test card. */
export const Fill = z.object({ fill: z.string() })

/** Never stored or logged as a whole: only its result is. */
export const CardFields = z.object({
  number: z
    .string('Enter the card number.')
    .transform(digitsOf)
    .superRefine((digits, context) => {
      const problem = numberProblem(digits)
      if (problem) context.addIssue({ code: 'custom', message: problem })
    }),
  expiry: z
    .string('Enter the expiry date.')
    .trim()
    .superRefine((value, context) => {
      const problem = expiryProblem(value, new Date())
      if (problem) context.addIssue({ code: 'custom', message: problem })
    }),
  cvc: z
    .string('Enter the CVC.')
    .trim()
    .regex(/^\d{3}$/, 'Enter the 3 digits of the CVC.'),
})

/** The billing details, as the invoice shows them. */
export const BuyerFields = z.object({
  name: text('name', 100).min(1, 'Enter a name.'),
  address: z
    .string()
    .transform((value) => value.replaceAll('\r\n', '\n').trim())
    .pipe(
      z
        .string()
        .max(MAX_ADDRESS_LENGTH, `The address must have at most ${MAX_ADDRESS_LENGTH} characters.`)
        .refine(
          (value) => WITHOUT_CONTROL_CHARACTERS.test(value.replaceAll('\n', '')),
          'The address must not contain control characters.',
        ),
    ),
  taxId: text('tax ID', 30),
})

/** The test card of a number that `CardFields` has validated. */
export function validCard(number: string): Card {
  const card = cardOf(number)
  if (!card) throw new Error('A validated number is a test card')
  return card
}

function numberProblem(digits: string): string | null {
  if (digits === '') return 'Enter the card number.'
  if (!isCardNumber(digits)) return 'The card number is invalid.'
  if (cardOf(digits)) return null
  return 'Only test cards are accepted. Never enter a real card number here.'
}

/** A card is valid until the end of its month. */
function expiryProblem(value: string, now: Date): string | null {
  const [, month = '', year = ''] = /^(\d{1,2})\s*\/\s*(\d{2}|\d{4})$/.exec(value) ?? []
  if (month === '') return 'Enter the expiry date as MM / YY.'
  if (Number(month) < 1 || Number(month) > 12) return 'The month must be 01 to 12.'
  const fullYear = Number(year) < 100 ? 2000 + Number(year) : Number(year)
  return Date.UTC(fullYear, Number(month)) <= now.getTime() ? 'The card has expired.' : null
}

/** The form filled with a test card, without changing its other fields. */
export function withTestCard(values: Record<string, string>, number: string): FormState {
  const year = String((new Date().getUTCFullYear() + 4) % 100).padStart(2, '0')
  return { values: { ...values, number: grouped(number), expiry: `12 / ${year}`, cvc: '123' } }
}

/** The values of a form with errors, without a card number that is not a test card. */
export function withoutRealCard(values: Record<string, string>): Record<string, string> {
  const isTestCard = cardOf(digitsOf(values['number'] ?? '')) !== null
  return isTestCard ? values : { ...values, number: '', cvc: '' }
}

const grouped = (number: string) => number.replace(/(.{4})(?=.)/g, '$1 ')

/** The fields of a card. */
export const CardInputs = ({ state }: { state: FormState }) => (
  <>
    <Field
      name="number"
      label="Card number"
      autocomplete="cc-number"
      inputmode="numeric"
      placeholder="1234 1234 1234 1234"
      maxlength={30}
      state={state}
      hint={
        <>
          Use one of the <a href="#test-cards">test cards</a>.
        </>
      }
    />
    <div class="pair">
      <Field
        name="expiry"
        label="Expiry date"
        autocomplete="cc-exp"
        placeholder="MM / YY"
        maxlength={9}
        state={state}
      />
      <Field
        name="cvc"
        label="CVC"
        autocomplete="cc-csc"
        inputmode="numeric"
        placeholder="123"
        maxlength={4}
        state={state}
      />
    </div>
  </>
)

/** The fields of the billing details. */
export const BuyerInputs = ({
  state,
  buyer,
}: {
  state: FormState
  buyer: z.infer<typeof BuyerFields>
}) => {
  const error = state.errors?.['address']
  return (
    <>
      <Field
        name="name"
        label="Name or company"
        autocomplete="organization"
        maxlength={100}
        state={state}
        value={buyer.name}
      />
      <div class="field">
        <label for="address">
          Billing address<span class="muted"> (optional)</span>
        </label>
        <textarea
          id="address"
          name="address"
          rows={3}
          maxlength={MAX_ADDRESS_LENGTH}
          autocomplete="street-address"
          aria-invalid={error ? 'true' : undefined}
          aria-describedby={error ? 'address-error' : undefined}
        >
          {state.values?.['address'] ?? buyer.address}
        </textarea>
        {error && (
          <small id="address-error" class="error">
            {error}
          </small>
        )}
      </div>
      <Field
        name="taxId"
        label="Tax ID"
        required={false}
        maxlength={30}
        state={state}
        value={buyer.taxId}
        hint="Such as a VAT number or GSTIN. Shown on the invoice."
      />
    </>
  )
}

/**
 * The test cards, each with a button that fills the form `form`. Must follow that form on the page:
 * the Enter key submits a form with its first button.
 */
export const TestCards = ({ form }: { form: string }) => (
  <section class="test-cards" aria-labelledby="test-cards">
    <h2 id="test-cards">Test cards</h2>
    <ul>
      {TEST_CARDS.map(({ number, effect }) => (
        <li>
          <div>
            <code>{grouped(number)}</code>
            <span>{effect}</span>
          </div>
          <button
            type="submit"
            class="secondary"
            form={form}
            formnovalidate
            name="fill"
            value={number}
            aria-label={`Use ${grouped(number)}`}
          >
            Use
          </button>
        </li>
      ))}
    </ul>
  </section>
)

/** A page with a message and one link. */
export const messagePage = (
  c: ConsoleContext,
  options: { title: string; status?: 200 | 404 | 409 },
  message: Child,
  link: { href: string; text: string },
) =>
  guestPage(
    c,
    { stylesheet: STYLESHEET, ...options },
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

/** The page of an address that is wrong. */
export const unknownPage = (c: ConsoleContext) =>
  messagePage(
    c,
    { title: 'Payment page not found', status: 404 },
    'The address of this payment page is wrong. Start again from the billing page.',
    { href: '/console/billing', text: 'Go to billing' },
  )

/** A return address on this origin: prevents redirects to other origins. */
export function ownUrl(c: ConsoleContext, url: string): string {
  const { pathname, search } = new URL(url)
  const target = new URL(baseUrlOf(c))
  target.pathname = pathname
  target.search = search
  return target.href
}
