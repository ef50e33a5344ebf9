// The objects of the sandbox: what a real provider stores on its own servers. Instants are ms since 1970.
import { z } from 'zod'
import { DAY_MS } from '../../domain/limits.ts'
import { DISPUTE_STATUSES } from '../../domain/billing.ts'
import { CURRENCIES } from '../../domain/organisation.ts'
import { suffixOf } from '../../ids.ts'
import { SELF_SERVICE_PLANS } from '../plans.ts'
import { BEHAVIOURS } from './cards.ts'

/** The retention of payments that were never paid, and of events and portal pages. */
export const UNPAID_RETENTION_MS = 30 * DAY_MS

const instant = z.int()
const plan = z.enum(SELF_SERVICE_PLANS)
const Card = z.object({ lastFour: z.string(), behaviour: z.enum(BEHAVIOURS) })

/** Who is invoiced. Empty texts: not given. */
const Buyer = z.object({ name: z.string(), address: z.string(), taxId: z.string() })
export type Buyer = z.infer<typeof Buyer>

export const CustomerData = z.object({
  type: z.literal('customer'),
  ...Buyer.shape,
  email: z.string().nullable(),
  /** The address of this deployment, for links. */
  origin: z.string(),
  card: Card.nullable(),
  /** The last payment that succeeded. An event of it announces a new card. */
  lastPaymentId: z.string().nullable(),
})
export type CustomerData = z.infer<typeof CustomerData>

/** A checkout, an automatic charge, an upgrade or a renewal. */
export const PaymentData = z.object({
  type: z.literal('payment'),
  /** Changes with each write, so that a concurrent write is detected. */
  version: z.string(),
  /** `pay_…`; null for a renewal. */
  paymentId: z.string().nullable(),
  customerId: z.string(),
  /** 128 random bits: the secret part of the addresses of its pages. */
  secret: z.string(),
  origin: z.string(),
  /** For the pages and the invoice. */
  item: z.string(),
  plan: plan.nullable(),
  /** Set once the subscription exists. */
  subscriptionId: z.string().nullable(),
  /** Only of a checkout. */
  checkout: z
    .object({ returnUrl: z.string(), cancelUrl: z.string(), expiresAt: instant })
    .nullable(),
  amount: z.int().min(0),
  currency: z.enum(CURRENCIES),
  /** `processing`: the card was accepted, and the payment succeeds at `settlesAt`. */
  status: z.enum(['open', 'confirming', 'processing', 'paid', 'failed', 'expired']),
  settlesAt: instant.nullable(),
  failure: z.string().nullable(),
  /** The card that paid, or that waits for the confirmation of its holder. */
  card: Card.nullable(),
  buyer: Buyer,
  paidAt: instant.nullable(),
  /** Amounts by refund id. */
  refunds: z.record(z.string(), z.int()),
  dispute: z.enum(DISPUTE_STATUSES).nullable(),
  /** When retention deletes a payment that was never paid. */
  deleteAt: instant.nullable(),
})
export type PaymentData = z.infer<typeof PaymentData>

export const SubscriptionData = z.object({
  type: z.literal('subscription'),
  version: z.string(),
  customerId: z.string(),
  plan,
  /** The monthly fee. */
  amount: z.int().min(0),
  currency: z.enum(CURRENCIES),
  startedAt: instant,
  /** The number of started periods. Each one lasts a month. */
  periods: z.int().min(1),
  /** The plan from the next period on; `starter` ends the subscription. Null: the same plan. */
  nextPlan: plan.nullable(),
  status: z.enum(['active', 'past_due', 'ended']),
  /** The renewal that failed and is attempted again. */
  unpaidId: z.string().nullable(),
  retryAt: instant.nullable(),
})
export type SubscriptionData = z.infer<typeof SubscriptionData>

/** The page where a customer changes the billing details. Its id is the secret of its address. */
export const PortalData = z.object({
  type: z.literal('portal'),
  customerId: z.string(),
  returnUrl: z.string(),
  expiresAt: instant,
})
export type PortalData = z.infer<typeof PortalData>

export const EventData = z.object({
  type: z.literal('event'),
  paymentId: z.string().nullable(),
  subscriptionId: z.string().nullable(),
  /** The renewal that changed. */
  reference: z.string().nullable().default(null),
})
export type EventData = z.infer<typeof EventData>

export type ObjectData = CustomerData | PaymentData | SubscriptionData | PortalData | EventData

/** A stored object. */
export interface SandboxObject<Data extends ObjectData> {
  id: string
  organisationId: string
  createdAt: Date
  data: Data
}

export type Payment = SandboxObject<PaymentData>
export type Subscription = SandboxObject<SubscriptionData>

// Ids are derived from the ids of this service, so that a repeated request finds the same object.
export const customerIdOf = (organisationId: string) => `cus_${suffixOf(organisationId)}`
export const chargeIdOf = (paymentId: string) => `ch_${suffixOf(paymentId)}`
export const subscriptionIdOf = (chargeId: string) => `sub_${suffixOf(chargeId)}`
export const renewalIdOf = (subscriptionId: string, period: number) =>
  `in_${suffixOf(subscriptionId)}_${period}`

/** 128 random bits in hexadecimal digits. */
export const newSecret = (): string =>
  Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString('hex')
