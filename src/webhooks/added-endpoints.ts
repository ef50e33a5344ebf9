// The endpoints that an organisation adds to its default URL. Each receives the events of the types and
// the mode that it selects, signed with its own secret.
import { auditInsert, changedDetails } from '../access/audit-log.ts'
import type { AuditAction, AuditEntry } from '../access/audit-log.ts'
import { requirePermission, requireUnlimited } from '../access/authorisation.ts'
import type { OrganisationRequest } from '../access/authorisation.ts'
import type { AddedEndpointRow } from '../db/webhook-schema.ts'
import { AppError } from '../domain/errors.ts'
import { DAY_MS } from '../domain/limits.ts'
import { MAX_ADDED_ENDPOINTS } from '../domain/webhook.ts'
import { organisationStub } from '../organisation/stub.ts'
import {
  addedEndpointsOf,
  deleteAddedEndpointRow,
  findAddedEndpoint,
  insertAddedEndpoint,
  rotateAddedSecret,
  updateAddedEndpointRow,
} from './added-endpoint-store.ts'
import { enableEndpoint } from './endpoints.ts'
import { newWebhookSecret } from './secret.ts'
import { decryptWebhookSecret, encryptWebhookSecret } from './stored-secret.ts'

/** The previous secret also signs for this time. */
const SECRET_OVERLAP_MS = DAY_MS

type EndpointRequest = OrganisationRequest & { endpointId: string }

/** What members choose. */
export type EndpointSettings = Pick<AddedEndpointRow, 'name' | 'url' | 'types' | 'mode'>

/**
 * The added endpoints, oldest first. For members who may read deliveries.
 * @throws AppError not_found
 */
export async function listAddedEndpoints(
  request: OrganisationRequest,
): Promise<AddedEndpointRow[]> {
  await requirePermission(request, 'jobs')
  return addedEndpointsOf(request.env, request.organisationId)
}

/** @throws AppError not_found */
export async function readAddedEndpoint(request: EndpointRequest): Promise<AddedEndpointRow> {
  await requirePermission(request, 'jobs')
  return find(request)
}

/**
 * Adds an endpoint with a new secret. It receives the events of jobs that end from now on. A repetition
 * with the same id changes nothing. For developers.
 * @throws AppError not_found, or validation_error when the organisation has the maximum number
 */
export async function addEndpoint({
  settings,
  ...request
}: EndpointRequest & { settings: EndpointSettings }): Promise<void> {
  await requireUnlimited(request, 'develop')
  const { env, actor, organisationId, endpointId } = request
  const secret = await encryptWebhookSecret(env, { organisationId, secret: newWebhookSecret() })
  const row = {
    ...settings,
    organisationId,
    id: endpointId,
    enabled: true,
    secret,
    secretPrevious: null,
    secretPreviousUntil: null,
    createdAt: new Date(),
  }
  const entry = entryOf(request, 'webhook_endpoint.created', {
    ...changedDetails<Auditable>(NO_ENDPOINT, auditable(settings)),
  })
  if (!(await insertAddedEndpoint(env, row, entry))) {
    throw new AppError(
      'validation_error',
      `An organisation can have at most ${MAX_ADDED_ENDPOINTS} added endpoints.`,
    )
  }
  await applyChange({ env, actor, organisationId }, settings.url)
}

/**
 * Changes an endpoint. Events that wait for delivery keep their URL. Saving an enabled endpoint deletes
 * the record of failures of its origin. For developers.
 * @throws AppError not_found
 */
export async function updateAddedEndpoint({
  change,
  ...request
}: EndpointRequest & { change: Partial<EndpointSettings & { enabled: boolean }> }): Promise<void> {
  await requireUnlimited(request, 'develop')
  const before = await find(request)
  const after = { ...before, ...change }
  const details = changedDetails<Auditable>(auditable(before), auditable(after))
  if (details) {
    const entry = entryOf(request, 'webhook_endpoint.updated', details)
    const { env, organisationId, endpointId: id } = request
    if (!(await updateAddedEndpointRow(env, { organisationId, id }, change, entry))) {
      throw new AppError('not_found')
    }
  }
  await applyChange(request, after.enabled ? after.url : undefined)
}

/**
 * Deletes an endpoint. Its undelivered events fail without a further attempt. For developers.
 * @throws AppError not_found
 */
export async function deleteAddedEndpoint(request: EndpointRequest): Promise<void> {
  await requireUnlimited(request, 'develop')
  const { url, name } = await find(request)
  const { env, organisationId, endpointId: id } = request
  const details = changedDetails({ url, name }, { url: '', name: '' })
  const entry = entryOf(request, 'webhook_endpoint.deleted', details)
  await deleteAddedEndpointRow(env, { organisationId, id }, entry)
  await applyChange(request, undefined)
}

/**
 * Creates a new secret. For 24 hours, deliveries are signed with the previous one as well. For
 * developers.
 * @throws AppError not_found
 */
export async function rotateEndpointSecret(request: EndpointRequest): Promise<void> {
  await requireUnlimited(request, 'develop')
  const { env, organisationId, endpointId: id } = request
  const stored = await encryptWebhookSecret(env, { organisationId, secret: newWebhookSecret() })
  const previousUntil = new Date(Date.now() + SECRET_OVERLAP_MS)
  const entry = entryOf(request, 'webhook_secret.rotated')
  if (!(await rotateAddedSecret(env, { organisationId, id }, { stored, previousUntil }, entry))) {
    throw new AppError('not_found')
  }
}

/**
 * Returns the secret in plain text. For developers.
 * @throws AppError not_found
 */
export async function revealEndpointSecret(request: EndpointRequest): Promise<string> {
  await requireUnlimited(request, 'develop')
  const { env, organisationId } = request
  const { secret: stored } = await find(request)
  const secret = await decryptWebhookSecret(env, { organisationId, stored })
  // Written first, so that every reveal has an entry.
  await auditInsert(env, entryOf(request, 'webhook_secret.revealed'))
  return secret
}

async function find({ env, organisationId, endpointId }: EndpointRequest) {
  const row = await findAddedEndpoint(env, { organisationId, id: endpointId })
  if (!row) throw new AppError('not_found')
  return row
}

/** The Organisation's snapshot has the endpoints for the storage allowance. */
async function applyChange(request: OrganisationRequest, url: string | undefined): Promise<void> {
  await organisationStub(request.env, request.organisationId).refresh()
  if (url !== undefined) await enableEndpoint({ ...request, url })
}

const entryOf = (
  { organisationId, actor, endpointId }: EndpointRequest,
  action: AuditAction,
  details?: AuditEntry['details'],
): AuditEntry => ({
  organisationId,
  actor,
  action,
  target: endpointId,
  ...(details && { details }),
})

interface Auditable {
  name: string
  url: string
  types: string
  mode: string
  enabled: boolean
}

/** The fields for the audit log, which stores no lists. */
const auditable = ({
  name,
  url,
  types,
  mode,
  enabled = true,
}: EndpointSettings & { enabled?: boolean }): Auditable => ({
  name,
  url,
  types: types.join(' '),
  mode: mode ?? 'both',
  enabled,
})

const NO_ENDPOINT: Auditable = { name: '', url: '', types: '', mode: '', enabled: true }
