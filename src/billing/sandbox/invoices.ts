// The invoices of the sandbox: one for each paid payment.
import { suffixOf } from '../../ids.ts'
import type { Card } from './cards.ts'
import type { Buyer, PaymentData } from './objects.ts'
import { changePayment, refundedAmount } from './payments.ts'

export type Invoice = Pick<PaymentData, 'item' | 'amount' | 'currency'> & {
  number: string
  paidAt: Date
  /** As they were at the payment. */
  buyer: Buyer
  card: Card
  amountRefunded: number
}

/** @returns null when the payment does not exist or is not paid, or the secret is wrong */
export async function findInvoice(env: Env, id: string, secret: string): Promise<Invoice | null> {
  const payment = await changePayment(env, id)
  if (!payment || payment.data.secret !== secret) return null
  const { item, amount, currency, paidAt, buyer, card } = payment.data
  if (paidAt === null || card === null) return null
  const amountRefunded = refundedAmount(payment.data)
  const number = numberOf(id)
  return { number, item, amount, currency, paidAt: new Date(paidAt), buyer, card, amountRefunded }
}

/** Such as `SB-Q4K3M5N6PX`, or `SB-Q4K3M5N6PX-3` for the third period of a subscription. */
function numberOf(id: string): string {
  const [suffix = '', period] = suffixOf(id).split('_')
  return ['SB', suffix.slice(-10).toUpperCase(), period].filter(Boolean).join('-')
}
