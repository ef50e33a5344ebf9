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
import { readTeam, type Member } from '../organisations/members.ts'
import { findOrganisation } from '../organisations/organisations.ts'
import { presentWorkspace } from '../organisations/workspaces.ts'
import type { InvitationRow } from '../platform/db/auth-schema.ts'
import type { BillingAccountRow, PaymentRow } from '../platform/db/billing-schema.ts'
import type {
  ApiKeyRow,
  AuditRow,
  JobRow,
  OrganisationRow,
  WorkspaceRow,
} from '../platform/db/schema.ts'
import type { EndpointRow, WebhookEventRow } from '../platform/db/webhook-schema.ts'
import { linksFrom, type LinkTo } from '../platform/signing/signed-url.ts'
import { listEndpoints } from '../webhooks/endpoints/endpoints.ts'
import { attemptsBetween, eventsOf } from '../webhooks/event-reads.ts'
import { arrayOf, streamOf } from './export-file.ts'

const ROWS_PER_PAGE = 1_000
/** Smaller pages: an event can have ten attempts of up to 1 KiB. */
const EVENTS_PER_PAGE = 200

/**
 * Exports an organisation. For owners.
 * @param baseUrl the start of links to pictures, which expire after an hour
 * @returns the document
 * @throws AppError not_found
 */
export async function exportOrganisation(
  request: OrganisationRequest & { baseUrl: string },
): Promise<ReadableStream<Uint8Array>> {
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
    members: members.map(presentMember),
    invitations: invitations.map(presentInvitation),
    api_keys: (await listApiKeys(request)).map(presentApiKey),
    webhook_endpoints: added.map(presentEndpoint),
    billing: presentBilling(await findBillingAccount(env, id)),
  }
  yield JSON.stringify(header, null, 2).slice(0, -2)
  const limit = ROWS_PER_PAGE
  yield* arrayOf<JobRow>('jobs', {
    limit,
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
    limit,
    read: async ({ beforeId }) =>
      ledger.entries({ limit, ...(beforeId !== undefined && { before: beforeId }) }),
    present: (entries) => entries.map(presentLedgerEntry),
  })
  yield* arrayOf<PaymentRow>('payments', {
    limit,
    read: (page) => paymentsOf(env, id, page),
    present: (payments) => payments.map(presentPayment),
  })
  yield* arrayOf<AuditRow>('audit_log', {
    limit,
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
    id: event.id,
    job_id: event.jobId,
    type: event.type,
    url: event.url,
    endpoint_id: event.endpointId,
    status: event.status,
    created_at: event.createdAt.toISOString(),
    attempts: (attempts.get(event.id) ?? []).map((attempt) => ({
      number: attempt.number,
      at: attempt.at.toISOString(),
      duration_ms: attempt.durationMs,
      response_status: attempt.responseStatus,
      response_headers: attempt.responseHeaders,
      response_body: attempt.responseBody,
      error: attempt.error,
    })),
  }))
}

const presentMember = ({ userId, email, role, workspaceIds, createdAt }: Member) => ({
  user_id: userId,
  email,
  role,
  workspace_ids: workspaceIds,
  created_at: createdAt.toISOString(),
})

const presentInvitation = (invitation: InvitationRow) => ({
  id: invitation.id,
  email: invitation.email,
  role: invitation.role,
  workspace_ids: invitation.workspaceIds,
  created_at: invitation.createdAt.toISOString(),
  expires_at: invitation.expiresAt.toISOString(),
})

const presentApiKey = (key: ApiKeyRow) => ({
  id: key.id,
  name: key.name,
  mode: key.mode,
  last_four: key.lastFour,
  created_by: key.createdBy,
  created_at: key.createdAt.toISOString(),
  revoked_at: key.revokedAt?.toISOString() ?? null,
  last_used_at: key.lastUsedAt?.toISOString() ?? null,
  access: key.access,
  workspace_id: key.workspaceId,
  monthly_credits: key.monthlyCredits,
})

/** Without its secret. */
const presentEndpoint = (endpoint: EndpointRow) => ({
  id: endpoint.id,
  name: endpoint.name,
  url: endpoint.url,
  types: endpoint.types,
  mode: endpoint.mode,
  enabled: endpoint.enabled,
  created_at: endpoint.createdAt.toISOString(),
})

const presentExportedJob = (linkTo: LinkTo, job: JobRow) => ({
  ...presentListedJob(linkTo, job),
  failure_reason: reasonForMembers(job),
  api_key_id: job.apiKeyId,
  cancelled_at: job.cancelledAt?.toISOString() ?? null,
  model_image_url: job.modelImageUrl,
  garment_image_url: job.garmentImageUrl,
  webhook_url: job.webhookUrl,
})

const presentLedgerEntry = (entry: LedgerEntry) => ({
  at: new Date(entry.at).toISOString(),
  kind: entry.kind,
  amount: entry.amount,
  job_id: entry.jobId,
  reference: entry.reference,
  reason: entry.reason,
  granted: entry.granted,
  balance: entry.balance,
  reserved: entry.reserved,
  consumed: entry.consumed,
})

/** Without the ids of the provider. */
const presentBilling = (account: BillingAccountRow | undefined) =>
  account
    ? {
        payment_method: account.paymentMethod,
        subscription_status: account.subscriptionStatus,
        next_plan: account.nextPlan,
        period_end: account.periodEnd?.toISOString() ?? null,
        grace_until: account.graceUntil?.toISOString() ?? null,
        enterprise_terms: account.enterpriseTerms && termsFields(account.enterpriseTerms),
      }
    : null

const presentPayment = (payment: PaymentRow) => ({ id: payment.id, ...paymentFields(payment) })

const presentAuditEntry = (entry: AuditRow) => ({
  id: entry.id,
  at: entry.at.toISOString(),
  actor_type: entry.actorType,
  actor_id: entry.actorId,
  actor_email: entry.actorEmail,
  action: entry.action,
  target: entry.target,
  details: entry.details,
  ip_address: entry.ipAddress,
})
