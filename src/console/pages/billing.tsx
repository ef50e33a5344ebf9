// The routes of Billing, which need the permission `billing`: credits, plan, auto-reload and payments.
import { z } from 'zod'
import { buyPack } from '../../billing/buy-pack.ts'
import { changePlan } from '../../billing/change-plan.ts'
import { openPortal, refreshPaymentMethod } from '../../billing/billing-account.ts'
import { PaymentError } from '../../billing/payment-provider.ts'
import { InvalidMonthlyMax, updateAutoReload } from '../../billing/auto-reload-settings.ts'
import type { PaymentRow } from '../../platform/db/billing-schema.ts'
import { MINOR_UNITS } from '../../billing/money.ts'
import { baseUrlOf } from '../../http/base-url.ts'
import { log, logError } from '../../platform/log.ts'
import { requireRecentSignIn, requireRecentSignInIf } from '../middleware/recent-sign-in.tsx'
import {
  createApp,
  scopeOf,
  pathOf,
  type ConsoleContext,
  type FormState,
} from '../console-context.ts'
import { formStateOf, pageWith, readForm, rejection, textsOf } from '../forms.ts'
import { billingPage } from './billing-page.tsx'
import { upgradePage } from './billing-plan.tsx'
import type { BillingForm } from './billing-view.ts'
import { redirectTo } from '../form-notices.ts'

const UNREACHABLE = 'The payment provider cannot be reached.'
const UNREACHABLE_MESSAGES: Record<BillingForm, string> = {
  packs: `${UNREACHABLE} Try again in a few minutes. You were not charged.`,
  // An upgrade charges the stored payment method, and the response to a charge may be lost.
  plan: `${UNREACHABLE} Check your payments below in a few minutes before you try again.`,
  'auto-reload': `${UNREACHABLE} Try again in a few minutes. No changes were saved.`,
  portal: `${UNREACHABLE} Try again in a few minutes.`,
}

/** The amount and currency that the page showed. The use cases compare them with the current price. */
const shownPrice = { amount: z.coerce.number().int(), currency: z.string().max(10) }
const BuyPack = z.object({ pack: z.coerce.number().int(), ...shownPrice })
const ChangePlan = z.object({
  plan: z.string().max(50),
  ...shownPrice,
  /** The confirmed quote of an upgrade: minor units, and ms since 1970. */
  charge: z.coerce.number().int().optional(),
  at: z.coerce.date().optional(),
})

const wholeNumber = (message: string) =>
  z
    .string(message)
    .trim()
    .regex(/^\d{1,9}$/, message)
    .transform(Number)
const AutoReload = z
  .object({
    enabled: z.string().optional(),
    threshold: wholeNumber('Enter a whole number of credits.'),
    pack: z.coerce.number<string>('Choose a pack.').int(),
    monthly_max: wholeNumber('Enter a whole amount, such as 200.'),
  })
  .transform(({ enabled, monthly_max: monthlyMax, ...settings }) => ({
    ...settings,
    enabled: enabled !== undefined,
    monthlyMax: monthlyMax * MINOR_UNITS,
  }))

/** The stored card is charged without its owner. Turning auto-reload off only lowers the risk. */
const recentSignInToEnable = requireRecentSignInIf(({ enabled }) => enabled !== undefined)

const buyerOf = (c: ConsoleContext) => ({ ...scopeOf(c), baseUrl: baseUrlOf(c) })

export const billing = createApp()
  .get('/', (c) => billingPage(c))
  .post('/packs', async (c) => {
    const order = await readForm(c, BuyPack, outdatedForm)
    const payment = await orFailedForm(c, 'packs', buyPack({ ...buyerOf(c), ...order }))
    return redirectToPayment(c, payment)
  })
  .post('/plan', requireRecentSignIn, async (c) => {
    const { charge, at, ...order } = await readForm(c, ChangePlan, outdatedForm)
    const confirmed = charge !== undefined && at ? { amount: charge, at } : undefined
    const changing = changePlan({ ...buyerOf(c), ...order, confirmed })
    const change = await orFailedForm(c, 'plan', changing)
    if (change.kind === 'quote') return upgradePage(c, change.quote)
    if (change.kind === 'payment') return redirectToPayment(c, change.payment)
    return redirectTo(c, '/billing', `plan_${change.kind}`)
  })
  .post('/auto-reload', recentSignInToEnable, async (c) => {
    const settings = await readForm(c, AutoReload, billingPage)
    await orFailedForm(c, 'auto-reload', updateAutoReload({ ...scopeOf(c), settings }))
    return redirectTo(c, '/billing', 'auto_reload_saved')
  })
  .post('/portal', requireRecentSignIn, async (c) =>
    c.redirect(await orFailedForm(c, 'portal', openPortal(buyerOf(c))), 303),
  )
  // The provider's portal returns here. If it cannot be reached, Billing shows the former payment method.
  .get('/portal/return', async (c) => {
    const scope = scopeOf(c)
    await refreshPaymentMethod(scope).catch(
      logError('payment method not read', { organisationId: scope.organisationId }),
    )
    return redirectTo(c, '/billing')
  })

/** Goes to the provider's page, or to the page of the payment if there is nothing to do. */
const redirectToPayment = (c: ConsoleContext, { id, actionUrl }: PaymentRow) =>
  c.redirect(actionUrl ?? pathOf(c, `/billing/payments/${id}`), 303)

/** For a form without visible fields, whose values come from the page. */
const outdatedForm = (c: ConsoleContext) => {
  const message = 'The form is not valid. Check the prices and try again.'
  return pageWith(c, billingPage, { errors: { '': message } })
}

/** The result of a use case. @throws HTTPException whose response is Billing with the error of the use case */
async function orFailedForm<Result>(c: ConsoleContext, form: BillingForm, result: Promise<Result>) {
  try {
    return await result
  } catch (error) {
    const values = textsOf(await c.req.parseBody())
    const isUnreachable = error instanceof PaymentError && error.code !== 'rejected'
    const state = { values, ...failureOf(c, form, error) }
    throw await rejection(c, () => billingPage(c, isUnreachable ? 503 : 422), state)
  }
}

/** What the form says. @throws every error that is not for the user */
function failureOf(c: ConsoleContext, form: BillingForm, error: unknown): FormState {
  if (error instanceof InvalidMonthlyMax) return { errors: { monthly_max: error.message } }
  if (!(error instanceof PaymentError)) return { errors: formStateOf(error).errors }
  const { organisationId } = scopeOf(c)
  log.error('payment provider failed', error, { organisationId, form, code: error.code })
  const rejected = 'The payment provider rejected the request. Try again, or contact support.'
  return { errors: { '': error.code === 'rejected' ? rejected : UNREACHABLE_MESSAGES[form] } }
}
