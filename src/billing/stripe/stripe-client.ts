// Creates the client of Stripe's SDK and maps its errors. The SDK is loaded at the first use, so that
// requests without payments do not evaluate it. The metadata on every object that this service creates at Stripe
// connects it to payments and organisations; objects without it belong to other systems of the same account.
import type Stripe from 'stripe'
import { z } from 'zod'
import { isId } from '../../platform/ids.ts'
import { settingsOf } from '../../platform/settings.ts'
import { PaymentError } from '../payment-provider.ts'

const TIMEOUT_MS = 10_000
const MAX_RETRIES = 2

const clients = new WeakMap<Env, Stripe>()

/** @throws Error when STRIPE_SECRET_KEY is not set */
async function clientOf(env: Env): Promise<Stripe> {
  const existing = clients.get(env)
  if (existing) return existing
  const { secretKey } = settingsOf(env).stripe
  if (!secretKey) throw new Error('STRIPE_SECRET_KEY is not set')
  const { default: Sdk } = await import('stripe')
  const client = new Sdk(secretKey, {
    // The version that the SDK's types describe. The account's default version does not matter.
    apiVersion: Sdk.API_VERSION,
    // A wrapper, since the SDK would store the `fetch` of this moment.
    httpClient: Sdk.createFetchHttpClient((input: RequestInfo | URL, init?: RequestInit) =>
      fetch(input, init),
    ),
    maxNetworkRetries: MAX_RETRIES,
    timeout: TIMEOUT_MS,
    telemetry: false,
  })
  clients.set(env, client)
  return client
}

/** Runs requests to Stripe. @throws PaymentError instead of the SDK's errors */
export async function withClient<T>(env: Env, work: (client: Stripe) => Promise<T>): Promise<T> {
  const client = await clientOf(env)
  const { default: Sdk } = await import('stripe')
  try {
    return await work(client)
  } catch (error) {
    if (!(error instanceof Sdk.errors.StripeError)) throw error
    const code = isFinal(error) ? 'rejected' : 'unavailable'
    throw new PaymentError(code, error.message, { cause: error })
  }
}

/**
 * Whether Stripe processed the request and repeating it cannot succeed. A wrong API key and a
 * reused idempotency key are not final: an earlier request may have had an effect.
 */
function isFinal({ statusCode, rawType }: Stripe.errors.StripeError): boolean {
  if (rawType === 'idempotency_error') return false
  return statusCode === 400 || statusCode === 402 || statusCode === 404
}

const nullFor =
  (...statuses: number[]) =>
  <T>(request: Promise<T>): Promise<T | null> =>
    request.catch((error: unknown) => {
      const status = error instanceof Error && 'statusCode' in error ? error.statusCode : undefined
      if (statuses.includes(status as number)) return null
      throw error
    })

/** What a request returns; null if its object does not exist. */
export const unlessMissing = nullFor(404)

/** What a request returns; null if the state of its object does not allow it, or the object does not exist. */
export const unlessRejected = nullFor(400, 404)

/** The id of an object that Stripe returns as an id or as the object. */
export const idOf = (value: string | { id: string } | null | undefined): string | null =>
  typeof value === 'string' ? value : (value?.id ?? null)

/** Seconds since 1970, Stripe's unit of time. */
export const secondsOf = (at: Date): number => Math.floor(at.getTime() / 1_000)

/** What an object at Stripe belongs to, by its metadata. */
const Subject = z
  .object({
    organisation_id: z.string().refine((id) => isId('org', id)),
    payment_id: z
      .string()
      .refine((id) => isId('pay', id))
      .optional(),
  })
  .transform((data) => ({
    organisationId: data.organisation_id,
    paymentId: data.payment_id ?? null,
  }))
export type Subject = z.infer<typeof Subject>

/** The organisation and payment of an object; null for one of another system. */
export const subjectOf = (metadata: unknown): Subject | null =>
  Subject.safeParse(metadata).data ?? null

/** The metadata of an object that belongs to a payment. */
export const metadataOf = (subject: { organisationId: string; paymentId: string }) => ({
  organisation_id: subject.organisationId,
  payment_id: subject.paymentId,
})
