// What the sections of the page Billing show.
import { paymentProblem } from '../../billing/buyer.ts'
import { readBilling } from '../../billing/read-billing.ts'
import { isId } from '../../platform/ids.ts'
import type { BillingAccountRow, PaymentRow } from '../../platform/db/billing-schema.ts'
import type { ConsoleContext } from '../console-context.ts'
import { scopeOf } from '../middleware/session.ts'
import type { FormState } from '../read-form.ts'

export type BillingForm = 'packs' | 'plan' | 'auto-reload' | 'portal'

/** A form that was rejected, and its errors. */
export interface RejectedForm {
  form: BillingForm
  state: FormState
}

export interface BillingView {
  c: ConsoleContext
  account: BillingAccountRow | undefined
  payments: PaymentRow[]
  hasMore: boolean
  /** Of automatic payments in this month, minor units. */
  autoReloadSpent: number
  stateOf: (form: BillingForm) => FormState
  /** The form that was rejected. */
  rejected: BillingForm | undefined
  /** Why the organisation cannot pay; null when it can. */
  problem: string | null
}

export async function readView(
  c: ConsoleContext,
  rejected: RejectedForm | undefined,
): Promise<BillingView> {
  const before = c.req.query('before')
  const beforeId = before !== undefined && isId('pay', before) ? before : undefined
  const billing = await readBilling({ ...scopeOf(c), beforeId })
  return {
    c,
    ...billing,
    rejected: rejected?.form,
    problem: paymentProblem(c.var.membership.organisation)?.message ?? null,
    stateOf: (form) => (rejected?.form === form ? rejected.state : {}),
  }
}
