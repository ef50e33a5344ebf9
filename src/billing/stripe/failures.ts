// Texts for customers whose payment failed. Stripe's own messages are in English too, but some contain
// terms of its API.

const TEXTS: Record<string, string> = {
  authentication_required:
    'The bank asks the cardholder to confirm the payment. Pay on the Billing page.',
  expired_card: 'The card has expired.',
  incorrect_cvc: 'The security code of the card is not correct.',
  insufficient_funds: 'The card has insufficient funds.',
  processing_error: 'The card could not be processed. Try again later.',
}
const DECLINED = 'The card was declined.'

/** Says why a payment failed, such as "The card was declined." */
export function failureOf(
  error: { code?: string | undefined; decline_code?: string | undefined } | null | undefined,
): string {
  return TEXTS[error?.decline_code ?? ''] ?? TEXTS[error?.code ?? ''] ?? DECLINED
}
