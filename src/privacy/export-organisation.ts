// Exports an organisation's data as one JSON document, without secrets and keys.
import { findBillingAccount } from '../billing/billing-account.ts'
import { paymentsOf } from '../billing/payments.ts'
import { organisationFields, paymentFields, termsFields } from '../billing/present-fields.ts'
import type { LedgerEntry } from '../credits/ledger.ts'
import { organisationStub } from '../credits/organisation-stub.ts'
import { AppError } from '../domain/errors.ts'
import { presentListedJob } from '../jobs/present-job.ts'
import { reasonForMembers } from '../jobs/processing/failure-record.ts'
import { listJobRows } from '../jobs/reports/job-lists.ts'
import { listApiKeys } from '../organisations/api-keys.ts'
import { auditInsert, listAuditEntries } from '../organisations/audit-log.ts'
import { requirePermission, type OrganisationRequest } from '../organisations/authorisation.ts'
import { readTeam } from '../organisations/members.ts'
import { findOrganisation } from '../organisations/organisations.ts'
import { presentWorkspace } from '../organisations/workspaces.ts'
import type { BillingAccountRow, PaymentRow } from '../platform/db/billing-schema.ts'
import type {
  ApiKeyRow,
  AuditRow,
  JobRow,
  OrganisationRow,
  WorkspaceRow,
} from '../platform/db/schema.ts'
import type { WebhookEventRow } from '../platform/db/webhook-schema.ts'
import { linksFrom, type LinkTo } from '../platform/signing/signed-url.ts'
import { listEndpoints } from '../webhooks/endpoints/endpoints.ts'
import { attemptsBetween, eventsOf } from '../webhooks/event-reads.ts'
import { arrayOf, fieldsOf, streamOf } from './export-file.ts'

/** Smaller pages than those of other lists: an event can have ten attempts of up to 1 KiB. */
const EVENTS_PER_PAGE = 200

/**
 * Exports an organisation. For owners.
 * @param baseUrl the start of links to pictures, which expire after an hour
 * @returns the document
 * @throws AppError not_found
 */
export async function exportOrganisation(request: OrganisationRequest & { baseUrl: string }) {
  const { env, organisationId, baseUrl } = request
  await requirePermission(request, 'administer')
  const found = await findOrganisation(env, organisationId)
  if (!found) throw new AppError('not_found')
  await auditInsert({ ...request, action: 'organisation.exported' })
  return streamOf(documentOf(request, found, baseUrl))
}

async function* documentOf(
  request: OrganisationRequest,
  { organisation, workspaces }: { organisation: OrganisationRow; workspaces: WorkspaceRow[] },
  baseUrl: string,
): AsyncGenerator<string> {
  const { env, organisationId: id } = request
  const { members, invitations } = await readTeam(request)
  const ledger = organisationStub(env, id)
  const account = await findBillingAccount(env, id)
  const [{ url }, ...added] = await listEndpoints(request)
  const header = {
    exported_at: new Date().toISOString(),
    organisation: {
      id,
      ...organisationFields(organisation, url || null),
      created_at: organisation.createdAt.toISOString(),
    },
    credits: await ledger.totals(),
    workspaces: workspaces.map((workspace) => ({
      ...presentWorkspace(workspace),
      monthly_credits: workspace.monthlyCredits,
    })),
    members: members.map((member) =>
      fieldsOf(member, 'userId', 'email', 'role', 'workspaceIds', 'createdAt'),
    ),
    invitations: invitations.map((invitation) =>
      fieldsOf(invitation, 'id', 'email', 'role', 'workspaceIds', 'createdAt', 'expiresAt'),
    ),
    api_keys: (await listApiKeys(request)).map(presentApiKey),
    // Without their secrets.
    webhook_endpoints: added.map((endpoint) =>
      fieldsOf(endpoint, 'id', 'name', 'url', 'types', 'mode', 'enabled', 'createdAt'),
    ),
    billing: account ? presentBilling(account) : null,
  }
  yield JSON.stringify(header, null, 2).slice(0, -2)
  yield* arrayOf<JobRow>('jobs', {
    read: (page) => listJobRows({ env, organisationId: id, ...page }),
    present: (jobs) => {
      const linkTo = linksFrom(env, baseUrl)
      return jobs.map((job) => presentExportedJob(linkTo, job))
    },
  })
  yield* arrayOf<WebhookEventRow>('webhook_events', {
    limit: EVENTS_PER_PAGE,
    read: (page) => eventsOf(env, id, page),
    present: (events) => presentEvents(env, id, events),
  })
  yield* arrayOf<LedgerEntry>('ledger', {
    read: async ({ limit, beforeId }) =>
      ledger.entries({ limit, ...(beforeId !== undefined && { before: beforeId }) }),
    present: (entries) => entries.map(presentLedgerEntry),
  })
  yield* arrayOf<PaymentRow>('payments', {
    read: (page) => paymentsOf(env, id, page),
    present: (payments) =>
      payments.map((payment) => ({ id: payment.id, ...paymentFields(payment) })),
  })
  yield* arrayOf<AuditRow>('audit_log', {
    read: (page) => listAuditEntries(env, id, page),
    present: (entries) => entries.map(presentAuditEntry),
  })
  yield '\n}\n'
}

async function presentEvents(env: Env, organisationId: string, events: WebhookEventRow[]) {
  const [newest, oldest] = [events[0], events.at(-1)]
  if (!newest || !oldest) return []
  const range = { first: oldest.id, last: newest.id }
  const attempts = Map.groupBy(
    await attemptsBetween(env, organisationId, range),
    ({ eventId }) => eventId,
  )
  return events.map((event) => ({
    ...fieldsOf(event, 'id', 'jobId', 'type', 'url', 'endpointId', 'status', 'createdAt'),
    attempts: (attempts.get(event.id) ?? []).map((attempt) => ({
      ...fieldsOf(attempt, 'number', 'at', 'durationMs', 'error'),
      ...fieldsOf(attempt, 'responseStatus', 'responseHeaders', 'responseBody'),
    })),
  }))
}

const presentApiKey = (key: ApiKeyRow) => ({
  ...fieldsOf(key, 'id', 'name', 'mode', 'lastFour', 'access', 'workspaceId', 'monthlyCredits'),
  ...fieldsOf(key, 'createdBy', 'createdAt', 'revokedAt', 'lastUsedAt'),
})

const presentExportedJob = (linkTo: LinkTo, job: JobRow) => ({
  ...presentListedJob(linkTo, job),
  failure_reason: reasonForMembers(job),
  ...fieldsOf(job, 'apiKeyId', 'cancelledAt', 'modelImageUrl', 'garmentImageUrl', 'webhookUrl'),
})

const presentLedgerEntry = (entry: LedgerEntry) => ({
  at: new Date(entry.at),
  ...fieldsOf(entry, 'kind', 'amount', 'jobId', 'reference', 'reason'),
  ...fieldsOf(entry, 'granted', 'balance', 'reserved', 'consumed'),
})

/** Without the ids of the provider. */
const presentBilling = (account: BillingAccountRow) => ({
  ...fieldsOf(
    account,
    'paymentMethod',
    'subscriptionStatus',
    'nextPlan',
    'periodEnd',
    'graceUntil',
  ),
  enterprise_terms: account.enterpriseTerms && termsFields(account.enterpriseTerms),
})

const presentAuditEntry = (entry: AuditRow) => ({
  ...fieldsOf(entry, 'id', 'at', 'action', 'target', 'details'),
  ...fieldsOf(entry, 'actorType', 'actorId', 'actorEmail', 'ipAddress'),
})
