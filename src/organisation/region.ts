// A billing region decides the currency, for good.
import type { OrganisationRow } from '../db/schema.ts'

export const CURRENCIES = ['INR', 'USD', 'EUR'] as const

const CURRENCY_OF = { IN: 'INR', US: 'USD', EU: 'EUR', GLOBAL: 'USD' } as const satisfies Record<
  OrganisationRow['regionCode'],
  (typeof CURRENCIES)[number]
>

export const currencyOf = (region: OrganisationRow['regionCode']) => CURRENCY_OF[region]
