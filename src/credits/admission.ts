// The admission of a submission: idempotency, storage allowance, workspace and credit. The caller runs
// it in one transaction.
import { createdAtOf, newShardedId, shardOf } from '../platform/ids.ts'
import type { Caller } from './api-key.ts'
import type { FailedJobs } from './failed-jobs.ts'
import type { Admission, Result, Submission } from './rpc.ts'
import type { OrganisationSnapshot } from './snapshot.ts'
import { storedBytes } from './storage-allowance.ts'
import type { StorageAllowance } from './storage-allowance.ts'
import type { Stores } from './stores.ts'

export function admitSubmission({
  stores: { ledger, idempotency: records },
  allowance,
  failedJobs,
  caller: { mode, keyHash },
  snapshot: { organisation, workspaces, keys, defaultWebhookUrl, addedEndpoints },
  submission: { workspaceId, idempotency, mustReplay, ...lengths },
}: {
  stores: ReturnType<Stores['open']>
  allowance: StorageAllowance
  failedJobs: FailedJobs
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

  const { rateLimitPerMinute } = organisation
  const now = Date.now()
  const bytes = storedBytes({
    ...lengths,
    webhookUrlLength: lengths.webhookUrlLength ?? defaultWebhookUrl?.length ?? null,
    addedUrlLengths: addedEndpoints
      .filter((endpoint) => endpoint.mode === null || endpoint.mode === mode)
      .map(({ urlLength }) => urlLength),
  })
  const isPaid = mode === 'live' && ledger.hasPaidCredits()
  if (!isPaid && !allowance.has(bytes, rateLimitPerMinute, now)) {
    return { ok: false, rejection: 'storage_allowance_exceeded' }
  }

  if (mode === 'live' && failedJobs.isReached(now)) {
    return { ok: false, rejection: 'failed_jobs_exceeded' }
  }

  const workspace = workspaceId ? workspaces.find(({ id }) => id === workspaceId) : workspaces.at(0)
  if (!workspace) return { ok: false, rejection: 'workspace_not_found' }

  const jobId = newShardedId('job', shardOf(organisation.id))
  if (mode === 'live' && !ledger.reserve(jobId)) {
    return { ok: false, rejection: 'insufficient_credits' }
  }
  if (!isPaid) allowance.take(bytes, now)
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
