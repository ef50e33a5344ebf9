// Organisations and their audit log in the responses of /operator.
import type { AuditRow, OrganisationRow } from '../platform/db/schema.ts'
import { currencyOf } from '../domain/organisation.ts'

export const presentOrganisation = (
  organisation: OrganisationRow,
  defaultUrl: string | null | undefined,
) => ({
  org_id: organisation.id,
  name: organisation.name,
  plan: organisation.plan,
  region_code: organisation.regionCode,
  currency_code: currencyOf(organisation.regionCode),
  status: organisation.status,
  rate_limit_per_minute: organisation.rateLimitPerMinute,
  default_webhook_url: defaultUrl ?? null,
  auto_reload_enabled: organisation.autoReloadEnabled,
  output_retention_days: organisation.outputRetentionDays,
  delete_after: organisation.deleteAfter?.toISOString() ?? null,
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
