// The webhook endpoints of an organisation: the default endpoint, and those that it adds. An added endpoint
// receives the events of the types and the mode that it selects. Each has its own secret. For a test key, only
// endpoints of test mode exist.
import { sql } from 'drizzle-orm'
import { auditInsert, changedDetails, type AuditEntry } from '../../organisations/audit-log.ts'
import {
  requirePermission,
  requireUnlimited,
  type OrganisationRequest,
} from '../../organisations/authorisation.ts'
import {
  webhookEndpoints,
  type EndpointRow,
  type FailingReceiverRow,
} from '../../platform/db/webhook-schema.ts'
import { limitedModeOf, type Actor } from '../../domain/actor.ts'
import type { AuditAction } from '../../domain/audit-actions.ts'
import { AppError, invalid } from '../../domain/errors.ts'
import { DAY_MS } from '../../domain/limits.ts'
import { DEFAULT_ENDPOINT, MAX_ADDED_ENDPOINTS } from '../../domain/webhook.ts'
import { organisationStub } from '../../credits/organisation-stub.ts'
import { defaultEndpointOf } from './default-endpoint.ts'
import {
  deleteEndpointRow,
  endpointsOf,
  findEndpoint,
  insertAddedEndpoint,
  updateEndpointRow,
} from './endpoint-store.ts'
import { failingReceiversOf, resetReceiver } from './failing-receiver-store.ts'
import { createSecret, decryptWebhookSecret } from './secrets.ts'

/** The previous secret also signs for this time. */
const SECRET_OVERLAP_MS = DAY_MS

/** `endpointId` is `DEFAULT_ENDPOINT` or the id of an added endpoint. */
export type EndpointRequest = OrganisationRequest & { endpointId: string }

/** What members choose for an added endpoint. */
export type EndpointSettings = Pick<EndpointRow, 'name' | 'url' | 'types' | 'mode'>

/**
 * The default endpoint, then the added ones, oldest first. For members who may read deliveries.
 * @throws AppError not_found
 */
export async function listEndpoints(
  request: OrganisationRequest,
): Promise<[defaultEndpoint: EndpointRow, ...added: EndpointRow[]]> {
  await requirePermission(request, 'jobs')
  const [first, ...others] = await endpointsOf(request.env, request.organisationId)
  if (first?.id === DEFAULT_ENDPOINT) return [first, ...others]
  const defaultEndpoint = await find({ ...request, endpointId: DEFAULT_ENDPOINT })
  return first ? [defaultEndpoint, first, ...others] : [defaultEndpoint]
}

/**
 * The added endpoints, oldest first. For members who may read deliveries.
 * @throws AppError not_found
 */
export async function listAddedEndpoints(request: OrganisationRequest): Promise<EndpointRow[]> {
  await requirePermission(request, 'jobs')
  const rows = await endpointsOf(request.env, request.organisationId)
  return rows.filter((row) => row.id !== DEFAULT_ENDPOINT && isVisible(request.actor, row))
}

/**
 * The failures of endpoints, by their `receiver`. For members who may read deliveries.
 * @throws AppError not_found
 */
export async function listFailures(request: OrganisationRequest): Promise<FailingReceiverRow[]> {
  await requirePermission(request, 'jobs')
  return failingReceiversOf(request.env, request.organisationId)
}

/** An endpoint. For members who may read deliveries. @throws AppError not_found */
export async function readEndpoint(request: EndpointRequest): Promise<EndpointRow> {
  await requirePermission(request, 'jobs')
  return find(request)
}

/**
 * Adds an endpoint with a new secret. It receives the events of jobs that end from now on. A repetition
 * with the same id changes nothing, and the returned secret is then not valid. For developers.
 * @returns the endpoint, and its secret in plain text
 * @throws AppError not_found, or validation_error when the organisation has the maximum number
 */
export async function addEndpoint(request: EndpointRequest & { settings: EndpointSettings }) {
  const { env, organisationId, endpointId, settings } = request
  await requireUnlimited(request, 'develop')
  requireMode(request.actor, settings)
  const created = await createSecret(env, organisationId)
  const row = {
    ...settings,
    organisationId,
    id: endpointId,
    enabled: true,
    secret: created.stored,
    secretPrevious: null,
    secretPreviousUntil: null,
    createdAt: new Date(),
  }
  const details = changedDetails<Auditable>(NO_ENDPOINT, auditable(row))
  if (!(await insertAddedEndpoint(row, entryOf(request, 'webhook_endpoint.created', details))))
    throw invalid(`An organisation can have at most ${MAX_ADDED_ENDPOINTS} added endpoints.`)
  await applyChange(request, true)
  return { endpoint: row, secret: created.secret }
}

/**
 * Changes an added endpoint. Events that wait for delivery keep their URL. Saving an endpoint
 * deletes the record of its failures. For developers.
 * @throws AppError not_found
 */
export async function updateEndpoint({
  change,
  ...request
}: EndpointRequest & {
  change: Partial<EndpointSettings & { enabled: boolean }>
}): Promise<EndpointRow> {
  await requireUnlimited(request, 'develop')
  requireMode(request.actor, change)
  const before = await find(request)
  const after = { ...before, ...change }
  const details = changedDetails<Auditable>(auditable(before), auditable(after))
  if (details) {
    await updateEndpointRow(request, change, entryOf(request, 'webhook_endpoint.updated', details))
  }
  await applyChange(request, after.enabled)
  return after
}

/**
 * Changes the URL of the default endpoint, for new jobs. Saving it deletes the record of its
 * failures. For developers.
 * @param url null: jobs without a URL of their own have none
 * @throws AppError not_found
 */
export async function setDefaultUrl({
  url,
  ...organisation
}: OrganisationRequest & { url: string | null }): Promise<void> {
  await requireUnlimited(organisation, 'develop')
  const request = { ...organisation, endpointId: DEFAULT_ENDPOINT }
  const before = await find(request)
  const stored = { defaultWebhookUrl: before.url || null }
  const details = changedDetails(stored, { defaultWebhookUrl: url })
  if (details) {
    const entry = entryOf(request, 'organisation.updated', details)
    await updateEndpointRow(request, { url: url ?? '' }, entry)
  }
  // Runs even if nothing changed: an earlier equal request may have failed before this step.
  await applyChange(request, url !== null)
}

/**
 * Deletes an added endpoint. Its undelivered events fail without a further attempt. For developers.
 * @throws AppError not_found
 */
export async function deleteEndpoint(request: EndpointRequest): Promise<void> {
  await requireUnlimited(request, 'develop')
  const { url, name } = await find(request)
  const details = changedDetails({ url, name }, { url: '', name: '' })
  await deleteEndpointRow(request, entryOf(request, 'webhook_endpoint.deleted', details))
  await applyChange(request, false)
}

/**
 * Creates a new secret. For `SECRET_OVERLAP_MS`, deliveries are signed with the previous one as well, so
 * that receivers can switch at any time. For developers.
 * @returns the new secret in plain text
 * @throws AppError not_found
 */
export async function rotateSecret(request: EndpointRequest): Promise<string> {
  await requireUnlimited(request, 'develop')
  await find(request)
  const { secret, stored } = await createSecret(request.env, request.organisationId)
  const rotation = {
    secret: stored,
    secretPrevious: sql`${webhookEndpoints.secret}`,
    secretPreviousUntil: new Date(Date.now() + SECRET_OVERLAP_MS),
  }
  await updateEndpointRow(request, rotation, entryOf(request, 'webhook_secret.rotated'))
  return secret
}

/** Returns the secret in plain text. For developers. @throws AppError not_found */
export async function revealSecret(request: EndpointRequest): Promise<string> {
  await requireUnlimited(request, 'develop')
  const { env, organisationId } = request
  const { secret: stored } = await find(request)
  const secret = await decryptWebhookSecret(env, { organisationId, stored })
  // Written first, so that every reveal has an entry.
  await auditInsert(entryOf(request, 'webhook_secret.revealed'))
  return secret
}

/** Whether an endpoint exists for an actor. */
function isVisible(actor: Actor, { mode }: Pick<EndpointRow, 'mode'>): boolean {
  const limit = limitedModeOf(actor)
  return limit === undefined || limit === mode
}

/** @throws AppError validation_error if an endpoint with these settings would not exist for the actor */
function requireMode(actor: Actor, { mode }: Partial<EndpointSettings>): void {
  if (mode === undefined || isVisible(actor, { mode })) return
  throw invalid('mode must be test with a test key.')
}

async function find(request: EndpointRequest): Promise<EndpointRow> {
  const { env, actor, organisationId, endpointId } = request
  const row =
    endpointId === DEFAULT_ENDPOINT
      ? await defaultEndpointOf(env, organisationId)
      : await findEndpoint(env, request)
  if (!row || !isVisible(actor, row)) throw new AppError('not_found')
  return row
}

/**
 * Deletes the record of failures of the endpoint. The Organisation's snapshot has the endpoints.
 * @param enables records that a disabled endpoint receives events again
 */
async function applyChange(
  { env, actor, organisationId, endpointId: receiver }: EndpointRequest,
  enables: boolean,
): Promise<void> {
  await organisationStub(env, organisationId).refresh()
  await resetReceiver(env, enables ? actor : null, { organisationId, receiver })
}

/** The target of the default endpoint is the organisation. */
const entryOf = (
  request: EndpointRequest,
  action: AuditAction,
  details?: AuditEntry['details'],
): AuditEntry => ({
  ...request,
  action,
  target: request.endpointId === DEFAULT_ENDPOINT ? request.organisationId : request.endpointId,
  ...(details && { details }),
})

type Auditable = Record<'name' | 'url' | 'types' | 'mode', string> & { enabled: boolean }

/** The fields for the audit log, which stores no lists. */
const auditable = ({ name, url, types, mode, enabled }: EndpointRow): Auditable => ({
  name,
  url,
  types: types.join(' '),
  mode: mode ?? 'both',
  enabled,
})

const NO_ENDPOINT: Auditable = { name: '', url: '', types: '', mode: '', enabled: true }
