// The names of the actors of the audit log, and its details as people read them.
import { snakeCase } from '../domain/text.ts'
import { formatMoney, nameOfPlan } from '../billing/money.ts'
import { CURRENCIES, PLANS, type Currency } from '../domain/organisation.ts'
import type { AuditRow } from '../platform/db/schema.ts'
import { capitalised } from './components/text.tsx'

export const ACTOR_LABELS = {
  user: 'A user',
  api_key: 'An API key',
  operator: 'Support staff',
  system: 'System',
} as const

type Details = NonNullable<AuditRow['details']>

/** Fields whose name says too little. Others are shown with their own name. */
const FIELDS: Record<string, string> = {
  auto_reload_enabled: 'Auto-reload',
  auto_reload_threshold: 'Below',
  auto_reload_pack: 'Pack',
  auto_reload_monthly_max: 'Monthly maximum',
  auto_reload_ceiling: 'Highest monthly maximum',
  ends_at: 'Ends',
  at: 'Takes effect',
  delete_after: 'Deletion',
  known_browser: 'Browser',
  last_four: 'Ends in',
  method: 'With',
  output_retention_days: 'Retention of images, days',
}
const MONEY = /^(auto_reload_(monthly_max|ceiling)|monthly_fee|credit_price)$/
const DATE = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' })

/**
 * The details of an entry. The old and the new value of a field are merged: `plan_old` and `plan_new` become
 * `Plan: Starter → Growth`.
 * @param currency that of the organisation, for amounts without one
 */
export function detailsOf(details: Details, currency: Currency): [name: string, value: string][] {
  const own = CURRENCIES.find((known) => known === details['currency'])
  // Amounts without a currency are credits, except those of refunds and limits.
  const text = (field: string, value: Details[string] | undefined): string => {
    if (value === null || value === undefined || value === '') return 'none'
    if (field === 'known_browser') return value ? 'used before' : 'new'
    if (typeof value === 'boolean') return value ? 'on' : 'off'
    if (typeof value === 'number') {
      if (field === 'amount' && own) return formatMoney(value, own)
      return MONEY.test(field) ? formatMoney(value, currency) : value.toLocaleString('en')
    }
    const plan = field.endsWith('plan') && PLANS.find((known) => known === value)
    if (plan) return nameOfPlan(plan)
    return /^\d{4}-\d\d-\d\dT/.test(value) ? DATE.format(new Date(value)) : value
  }
  return Object.entries(details).flatMap(([key, value]): [string, string][] => {
    const stem = key.replace(/_(old|new)$/, '')
    const field = snakeCase(stem)
    if (key === 'currency' && own) return []
    if (key === `${stem}_new` && `${stem}_old` in details) return []
    const name = FIELDS[field] ?? capitalised(field.replaceAll('_', ' '))
    const after = key === `${stem}_old` ? details[`${stem}_new`] : undefined
    return [[name, text(field, value) + (after === undefined ? '' : ` → ${text(field, after)}`)]]
  })
}
