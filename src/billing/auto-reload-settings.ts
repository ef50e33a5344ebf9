// The settings of auto-reload: those in force, and how they change. D1 is the source of truth. Defaults apply to an
// organisation that was enabled without settings, which operators can do.
import { eq } from 'drizzle-orm'
import { organisationStub } from '../credits/organisation-stub.ts'
import type { EnterpriseTerms } from '../domain/billing.ts'
import { AppError, invalid } from '../domain/errors.ts'
import { currencyOf, type Currency } from '../domain/organisation.ts'
import { audited, changedDetails } from '../organisations/audit-log.ts'
import { requirePermission, type OrganisationRequest } from '../organisations/authorisation.ts'
import { database } from '../platform/db/database.ts'
import { organisations, type OrganisationRow } from '../platform/db/schema.ts'
import { findBillingAccount } from './billing-account.ts'
import { chargeableProvider } from './choose-provider.ts'
import { formatMoney } from './money.ts'
import { isPack, PACK_CHOICES, packPriceFor, type Pack } from './plans.ts'

/** `monthlyPacks`: the monthly maximum as a multiple of the pack's price. */
export const AUTO_RELOAD_DEFAULTS = { threshold: 50, pack: 500, monthlyPacks: 4 } as const

/** The highest threshold, credits. */
const MAX_THRESHOLD = 1_000_000
/** The highest monthly maximum without the consent of an operator, minor units. */
const DEFAULT_CEILING: Record<Currency, number> = { INR: 40_000_000, USD: 500_000, EUR: 500_000 }

/** The highest monthly maximum of an organisation, minor units. Only operators lift it. */
export const autoReloadCeiling = (organisation: OrganisationRow): number =>
  organisation.autoReloadCeiling ?? DEFAULT_CEILING[currencyOf(organisation.regionCode)]

/** The balance below which auto-reload starts a payment, credits. */
export const thresholdOf = ({ autoReloadThreshold }: OrganisationRow): number =>
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

/** The monthly maximum is below the price of the pack, or above the ceiling that operators lift. */
export class InvalidMonthlyMax extends AppError {}

export interface AutoReloadSettings {
  enabled: boolean
  /** A payment starts when the balance is below this, credits. */
  threshold: number
  /** The credits that one payment buys. */
  pack: number
  /** Minor units per calendar month (UTC). */
  monthlyMax: number
}

/**
 * Changes auto-reload with effect from the next request. For the permission `billing`. Every call resets the count of
 * failures; if the balance is below the threshold, a payment starts.
 * @throws AppError not_found, deletion_scheduled, validation_error
 */
export async function updateAutoReload(
  request: OrganisationRequest & { settings: AutoReloadSettings },
): Promise<void> {
  const { env, organisationId, settings } = request
  await requirePermission(request, 'billing')
  const db = database(env)
  const isOrganisation = eq(organisations.id, organisationId)
  const before = await db.select().from(organisations).where(isOrganisation).get()
  if (!before) throw new AppError('not_found')
  if (before.deleteAfter !== null) throw new AppError('deletion_scheduled')
  const billing = await findBillingAccount(env, organisationId)
  const { enabled, threshold, pack, monthlyMax } = settings
  if (!isPack(pack)) throw invalid(`The pack must be one of ${PACK_CHOICES} credits.`)
  if (!Number.isInteger(threshold) || threshold < 1 || threshold > MAX_THRESHOLD) {
    throw invalid('The threshold must be a whole number of credits from 1 to 1,000,000.')
  }
  const currency = currencyOf(before.regionCode)
  const price = packPriceFor(before, billing?.enterpriseTerms, pack)
  const ceiling = autoReloadCeiling(before)
  if (!Number.isInteger(monthlyMax) || monthlyMax < price || monthlyMax > ceiling) {
    throw new InvalidMonthlyMax(
      'validation_error',
      `The monthly maximum must be from ${formatMoney(price, currency)}, the price of the pack, to ${formatMoney(ceiling, currency)}. Contact support for a higher one.`,
    )
  }
  if (enabled && !chargeableProvider(env, billing)) {
    throw invalid('Auto-reload requires a stored payment method. Buy a pack first.')
  }
  const change = {
    autoReloadEnabled: enabled,
    autoReloadThreshold: threshold,
    autoReloadPack: pack,
    autoReloadMonthlyMax: monthlyMax,
  }
  const details = changedDetails(before, change)
  if (details) {
    await audited(
      { ...request, action: 'auto_reload.updated', target: organisationId, details },
      db.update(organisations).set(change).where(isOrganisation),
    )
  }
  // Runs even if nothing changed: an earlier equal request may have failed before this step.
  await organisationStub(env, organisationId).resetAutoReload({ organisationId })
}
