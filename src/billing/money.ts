// Amounts and names for display.
import type { Currency, Plan } from '../domain/organisation.ts'

const LOCALES: Record<Currency, string> = { INR: 'en-IN', USD: 'en-US', EUR: 'en-IE' }
/** All currencies of this service have 100 minor units. */
export const MINOR_UNITS = 100

/** An amount in minor units as text, such as "₹1,25,000" or "$49.90". Whole amounts have no decimals. */
export const formatMoney = (amount: number, currency: Currency): string =>
  new Intl.NumberFormat(LOCALES[currency], {
    style: 'currency',
    currency,
    trailingZeroDisplay: 'stripIfInteger',
  }).format(amount / MINOR_UNITS)

/** The name of a pack on invoices and pages, such as "2,000 credits". */
export const nameOfPack = (credits: number, currency: Currency): string =>
  `${formatCredits(credits, currency)} credits`

/** The name of a plan for display, such as "Growth". */
export const nameOfPlan = (plan: Plan): string => plan.charAt(0).toUpperCase() + plan.slice(1)

/** A number of credits as text, grouped as in the organisation's region. */
export const formatCredits = (credits: number, currency: Currency): string =>
  new Intl.NumberFormat(LOCALES[currency]).format(credits)
