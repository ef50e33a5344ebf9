// The test cards of the sandbox and what each one does. Only the brand, the last four digits and the
// behaviour of a card are stored.

/** `confirm_once` needs no confirmation for later charges; `confirm_always` fails without one. */
export const BEHAVIOURS = [
  'success',
  'declined',
  'insufficient_funds',
  'confirm_once',
  'confirm_always',
  'off_session_declined',
  'renewal_declined',
  'late',
  'refunded',
  'disputed',
] as const
type Behaviour = (typeof BEHAVIOURS)[number]

export interface Card {
  lastFour: string
  behaviour: Behaviour
}

/** The cards in the order of the payment page. Most numbers have the same effect at Stripe. */
export const TEST_CARDS = [
  { number: '4242424242424242', behaviour: 'success', effect: 'Succeeds' },
  { number: '4000000000000002', behaviour: 'declined', effect: 'Is declined' },
  {
    number: '4000000000009995',
    behaviour: 'insufficient_funds',
    effect: 'Is declined: insufficient funds',
  },
  {
    number: '4000002500003155',
    behaviour: 'confirm_once',
    effect: 'Asks for confirmation, succeeds later without one',
  },
  {
    number: '4000002760003184',
    behaviour: 'confirm_always',
    effect: 'Asks for confirmation, automatic payments fail',
  },
  {
    number: '4000000000000341',
    behaviour: 'off_session_declined',
    effect: 'Succeeds, automatic payments are declined',
  },
  {
    number: '4000000000006025',
    behaviour: 'renewal_declined',
    effect: 'Succeeds, renewals of a plan are declined',
  },
  { number: '4000000000003030', behaviour: 'late', effect: 'Succeeds after 20 seconds' },
  { number: '4000000000007726', behaviour: 'refunded', effect: 'Is refunded after 1 minute' },
  {
    number: '4000000000000259',
    behaviour: 'disputed',
    effect: 'Is disputed after 1 minute, lost after 2',
  },
] as const satisfies readonly { number: string; behaviour: Behaviour; effect: string }[]

/** How a card is paid with: on the payment page, automatically, or for the renewal of a plan. */
type Occasion = 'checkout' | 'automatic' | 'renewal'

/** @returns why the card is declined, for the customer; null when the charge succeeds */
export function declineReason({ behaviour }: Card, occasion: Occasion): string | null {
  if (behaviour === 'declined') return 'The card was declined.'
  if (behaviour === 'insufficient_funds') return 'The card has insufficient funds.'
  if (occasion === 'checkout') return null
  if (behaviour === 'confirm_always') return 'The card requires a confirmation by its holder.'
  const isDeclined =
    behaviour === 'off_session_declined' ||
    (behaviour === 'renewal_declined' && occasion === 'renewal')
  return isDeclined ? 'The card was declined.' : null
}

/** Whether the payment page asks the holder for a confirmation. */
export const needsConfirmation = ({ behaviour }: Card): boolean =>
  behaviour === 'confirm_once' || behaviour === 'confirm_always'

/** The digits of a card number, without spaces and hyphens. */
export const digitsOf = (text: string): string => text.replace(/[\s-]/g, '')

/** The Luhn check, which detects mistyped digits. */
export function isCardNumber(digits: string): boolean {
  if (!/^\d{12,19}$/.test(digits)) return false
  let sum = 0
  for (const [index, digit] of [...digits].reverse().entries()) {
    const value = Number(digit) * (index % 2 === 0 ? 1 : 2)
    sum += value > 9 ? value - 9 : value
  }
  return sum % 10 === 0
}

/** @returns null when the number is not one of the test cards */
export function cardOf(digits: string): Card | null {
  const known = TEST_CARDS.find(({ number }) => number === digits)
  return known ? { lastFour: digits.slice(-4), behaviour: known.behaviour } : null
}

/** A card for display, such as "Visa •••• 4242". All test cards are Visa cards. */
export const describeCard = ({ lastFour }: Card): string => `Visa •••• ${lastFour}`
