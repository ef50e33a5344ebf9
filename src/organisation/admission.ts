// The admission of a submission: idempotency, storage allowance, workspace and credit. The caller runs
// it in one transaction.
import { createdAtOf, newShardedId, shardOf } from '../ids.ts'
import type { Caller } from './api-key.ts'
import type { Admission, Result, Submission } from './rpc.ts'
import type { OrganisationSnapshot } from './snapshot.ts'
import { storedBytes } from './storage-allowance.ts'
import type { StorageAllowance } from './storage-allowance.ts'
import type { Stores } from './stores.ts'

export function admitSubmission({
  stores: { ledger, idempotency: records },
  allowance,
  caller: { mode, keyHash },
  snapshot: { organisation, workspaces, keys, addedEndpoints },
  submission: { workspaceId, idempotency, mustReplay, imageUrls, requestId, webhookUrl },
}: {
  stores: ReturnType<Stores['open']>
  allowance: StorageAllowance
  caller: Caller
  snapshot: OrganisationSnapshot
  submission: Submission
}): Result<Admission> {
  const apiKeyId = (keyHash !== null && keys.get(keyHash)?.id) || null
  if (idempotency) {
    const earlier = records.find(mode, idempotency.key)
    if (earlier && earlier.fingerprint !== idempotency.fingerprint) {
      return { ok: false, rejection: mustReplay ? 'validation_error' : 'idempotency_key_reused' }
    }
    if (earlier) {
      // The earlier request may have failed before its insert. The caller then inserts the job, and
      // reconciliation must not release the reservation before that.
      ledger.renewReservation(earlier.jobId)
      const { jobId, webhookUrl: defaultWebhookUrl, createdAt } = earlier
      const { workspaceId } = earlier
      const admission = { jobId, workspaceId, defaultWebhookUrl, apiKeyId, createdAt }
      return { ok: true, value: { ...admission, replayed: true } }
    }
  }
  if (mustReplay) return { ok: false, rejection: 'validation_error' }

  const { rateLimitPerMinute, defaultWebhookUrl } = organisation
  const now = Date.now()
  const bytes = storedBytes({
    imageUrls,
    requestId,
    webhookUrl: webhookUrl ?? defaultWebhookUrl?.length ?? null,
    addedUrls: addedEndpoints
      .filter((endpoint) => endpoint.mode === null || endpoint.mode === mode)
      .map(({ urlLength }) => urlLength),
  })
  if (!allowance.has(bytes, rateLimitPerMinute, now)) {
    return { ok: false, rejection: 'storage_allowance_exceeded' }
  }

  const workspace = workspaceId ? workspaces.find(({ id }) => id === workspaceId) : workspaces.at(0)
  if (!workspace) return { ok: false, rejection: 'workspace_not_found' }

  const jobId = newShardedId('job', shardOf(organisation.id))
  if (mode === 'live' && !ledger.reserve(jobId)) {
    return { ok: false, rejection: 'insufficient_credits' }
  }
  allowance.take(bytes, now)
  // Lists filter by time through ids, so the time is that of the id, which can be later than `now`. If
  // the clock is set back, new ids continue from its previous time.
  const createdAt = Math.min(createdAtOf(jobId), Date.now())
  const admission = {
    jobId,
    workspaceId: workspace.id,
    defaultWebhookUrl,
    apiKeyId,
    createdAt,
  }
  if (idempotency) {
    records.save(mode, idempotency.key, {
      fingerprint: idempotency.fingerprint,
      jobId,
      workspaceId: workspace.id,
      webhookUrl: defaultWebhookUrl,
      createdAt,
    })
  }
  return { ok: true, value: { ...admission, replayed: false } }
}
