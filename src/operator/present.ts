// Organisations and their audit log in the responses of /operator.
import { presentWorkspace } from '../accounts/present.ts'
import type { AuditRow, OrganisationRow, WorkspaceRow } from '../db/schema.ts'
import { currencyOf } from '../domain/organisation.ts'
import type { Totals } from '../organisation/ledger.ts'

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
  output_retention_days: organisation.outputRetentionDays,
  delete_after: organisation.deleteAfter?.toISOString() ?? null,
})

/** An organisation with its workspaces and the totals of its ledger. */
export const presentOrganisationDetails = (
  organisation: OrganisationRow,
  workspaces: WorkspaceRow[],
  ledger: Totals,
) => ({
  ...presentOrganisation(organisation),
  credits: ledger.balance,
  workspaces: workspaces.map(presentWorkspace),
  ledger,
})

export const presentAuditEntry = (entry: AuditRow) => ({
  id: entry.id,
  at: entry.at.toISOString(),
  actor: { type: entry.actorType, id: entry.actorId, email: entry.actorEmail },
  action: entry.action,
  target: entry.target,
  details: entry.details,
  ip_address: entry.ipAddress,
})
