// The settings of auto-reload that are in force. D1 is the source of truth. Defaults apply to an
// organisation that was enabled without settings, which operators can do.
import type { OrganisationRow } from '../platform/db/schema.ts'
import type { EnterpriseTerms } from '../domain/billing.ts'
import { currencyOf } from '../domain/organisation.ts'
import type { Currency } from '../domain/organisation.ts'
import { isPack, packPriceFor } from './plans.ts'
import type { Pack } from './plans.ts'

/** `monthlyPacks`: the monthly maximum as a multiple of the pack's price. */
export const AUTO_RELOAD_DEFAULTS = { threshold: 50, pack: 500, monthlyPacks: 4 } as const

/** The highest monthly maximum without the consent of an operator, minor units. */
const DEFAULT_CEILING: Record<Currency, number> = { INR: 40_000_000, USD: 500_000, EUR: 500_000 }

/** The highest monthly maximum of an organisation, minor units. Only operators lift it. */
export const autoReloadCeiling = ({
  autoReloadCeiling: lifted,
  regionCode,
}: Pick<OrganisationRow, 'autoReloadCeiling' | 'regionCode'>): number =>
  lifted ?? DEFAULT_CEILING[currencyOf(regionCode)]

/** The balance below which auto-reload starts a payment, credits. */
export const thresholdOf = ({
  autoReloadThreshold,
}: Pick<OrganisationRow, 'autoReloadThreshold'>): number =>
  autoReloadThreshold ?? AUTO_RELOAD_DEFAULTS.threshold

/** Whether auto-reload is on and the balance is below its threshold. */
export const isReloadDue = (balance: number, organisation: OrganisationRow): boolean =>
  organisation.autoReloadEnabled && balance < thresholdOf(organisation)

/** The settings with the current price. Amounts are minor units of the organisation's currency. */
export function autoReloadSettings(
  organisation: OrganisationRow,
  terms: EnterpriseTerms | null | undefined,
): { threshold: number; pack: Pack; amount: number; monthlyMax: number } {
  const { autoReloadPack: stored } = organisation
  const pack = isPack(stored) ? stored : AUTO_RELOAD_DEFAULTS.pack
  const amount = packPriceFor(organisation, terms, pack)
  return {
    threshold: thresholdOf(organisation),
    pack,
    amount,
    monthlyMax: Math.min(
      organisation.autoReloadMonthlyMax ?? amount * AUTO_RELOAD_DEFAULTS.monthlyPacks,
      // It may be lower than when the maximum was stored.
      autoReloadCeiling(organisation),
    ),
  }
}
