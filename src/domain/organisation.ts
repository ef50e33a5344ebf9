// Plans, regions, currencies and statuses of organisations and workspaces.

export const PLANS = ['starter', 'growth', 'scale', 'enterprise'] as const
export type Plan = (typeof PLANS)[number]

export const REGIONS = ['IN', 'US', 'EU', 'GLOBAL'] as const
export type Region = (typeof REGIONS)[number]

export const CURRENCIES = ['INR', 'USD', 'EUR'] as const
export type Currency = (typeof CURRENCIES)[number]

const CURRENCY_OF = { IN: 'INR', US: 'USD', EU: 'EUR', GLOBAL: 'USD' } as const satisfies Record<
  Region,
  Currency
>

/** The currency of a billing region. A region never changes, so neither does the currency. */
export const currencyOf = (region: Region): Currency => CURRENCY_OF[region]

export const ORGANISATION_STATUSES = ['active', 'suspended'] as const
export const WORKSPACE_STATUSES = ['active', 'archived'] as const
