// Signed events, as Stripe delivers them.
import type { StripeObject } from './stripe-contract.ts'

export const STRIPE_WEBHOOK_SECRET = 'whsec_secret_of_the_tests'

/** The headers and body with which Stripe sends an event. */
export async function signedEvent(
  event: StripeObject,
  { secret = STRIPE_WEBHOOK_SECRET, at = Date.now() }: { secret?: string; at?: number } = {},
): Promise<{ headers: Headers; body: string }> {
  const body = JSON.stringify(event)
  const timestamp = Math.floor(at / 1_000)
  const bytes = (text: string) => new TextEncoder().encode(text)
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', bytes(secret), algorithm, false, ['sign'])
  const signature = await crypto.subtle.sign('HMAC', key, bytes(`${timestamp}.${body}`))
  const hex = [...new Uint8Array(signature)].map((byte) => byte.toString(16).padStart(2, '0'))
  return { body, headers: new Headers({ 'Stripe-Signature': `t=${timestamp},v1=${hex.join('')}` }) }
}
