// Organisations as staff are sent them, which shows more than clients get to see.
import { presentWorkspace } from '../api/answers.ts'
import type { OrganisationRow, WorkspaceRow } from '../db/schema.ts'
import { isoOf } from '../iso.ts'
import type { Totals } from '../organisation/ledger.ts'
import { currencyOf } from '../organisation/region.ts'

export const presentOrganisation = (organisation: OrganisationRow) => ({
  org_id: organisation.id,
  name: organisation.name,
  plan: organisation.plan,
  region_code: organisation.regionCode,
  currency_code: currencyOf(organisation.regionCode),
  status: organisation.status,
  rate_limit_per_minute: organisation.rateLimitPerMinute,
  default_webhook_url: organisation.defaultWebhookUrl,
  auto_reload_enabled: organisation.autoReloadEnabled,
  delete_after: organisation.deleteAfter && isoOf(organisation.deleteAfter),
})

/** With what only the Organisation knows. */
export const presentWholeOrganisation = (
  organisation: OrganisationRow,
  workspaces: WorkspaceRow[],
  ledger: Totals,
) => ({
  ...presentOrganisation(organisation),
  credits: ledger.balance,
  workspaces: workspaces.map(presentWorkspace),
  ledger,
})
