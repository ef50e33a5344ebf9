// Changes the settings of auto-reload. D1 is the source of truth.
import { eq, sql } from 'drizzle-orm'
import { auditInsert, changedDetails } from '../organisations/audit-log.ts'
import { requirePermission } from '../organisations/authorisation.ts'
import type { OrganisationRequest } from '../organisations/authorisation.ts'
import { database } from '../platform/db/database.ts'
import { organisations } from '../platform/db/schema.ts'
import { AppError } from '../domain/errors.ts'
import { currencyOf } from '../domain/organisation.ts'
import { autoReloadCeiling } from './auto-reload-settings.ts'
import { findBillingAccount } from './billing-account.ts'
import { chargeableProvider } from './chargeable-provider.ts'
import { organisationStub } from '../credits/organisation-stub.ts'
import { formatMoney } from './money.ts'
import { isPack, PACK_CHOICES, packPriceFor } from './plans.ts'

/** The highest threshold, credits. */
const MAX_THRESHOLD = 1_000_000

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
export async function updateAutoReload({
  env,
  actor,
  organisationId,
  settings,
}: OrganisationRequest & { settings: AutoReloadSettings }): Promise<void> {
  await requirePermission({ env, actor, organisationId }, 'billing')
  const db = database(env)
  const isOrganisation = eq(organisations.id, organisationId)
  const [before] = await db.select().from(organisations).where(isOrganisation)
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
    await db.batch([
      db.update(organisations).set(change).where(isOrganisation),
      auditInsert(
        env,
        { organisationId, actor, action: 'auto_reload.updated', target: organisationId, details },
        sql`exists (select 1 from ${organisations} where ${isOrganisation})`,
      ),
    ])
  }
  // Runs even if nothing changed: an earlier equal request may have failed before this step.
  await organisationStub(env, organisationId).resetAutoReload({ organisationId })
}

const invalid = (message: string) => new AppError('validation_error', message)
