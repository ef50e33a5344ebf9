// The admission of a submission: idempotency, storage allowance, workspace and credit. The caller runs
// it in one transaction.
import type { Mode } from '../domain/job.ts'
import type { ApiKeyRow } from '../platform/db/schema.ts'
import { createdAtOf, newShardedId, shardOf } from '../platform/ids.ts'
import type { FailedJobs } from './failed-jobs.ts'
import type { Admission, Result, Submission } from './rpc.ts'
import { countIdOf, creditLimitsOf, isReachable, type OrganisationSnapshot } from './snapshot.ts'
import { storedBytes, type StorageAllowance } from './storage-allowance.ts'
import type { OpenStores } from './stores.ts'

export function admitSubmission(request: {
  stores: OpenStores
  allowance: StorageAllowance
  failedJobs: FailedJobs
  mode: Mode
  /** Undefined for the console. */
  key: ApiKeyRow | undefined
  snapshot: OrganisationSnapshot
  submission: Submission
}): Result<Admission> {
  const { allowance, failedJobs, mode, key, snapshot } = request
  const { ledger, creditUse, idempotency: records } = request.stores
  const { workspaceId, idempotency, mustReplay, ...lengths } = request.submission
  const { organisation, defaultWebhookUrl, addedEndpoints } = snapshot
  const apiKeyId = key?.id ?? null
  if (idempotency) {
    const earlier = records.find(mode, idempotency.key)
    if (earlier) {
      const { fingerprint, ...accepted } = earlier
      // The default workspace depends on the key, which must not learn of jobs elsewhere.
      if (fingerprint !== idempotency.fingerprint || !isReachable(key, accepted.workspaceId)) {
        return { ok: false, rejection: mustReplay ? 'validation_error' : 'idempotency_key_reused' }
      }
      // The earlier request may have failed before its insert. The caller then inserts the job, and
      // reconciliation must not release the reservation before that.
      ledger.renewReservation(accepted.jobId)
      return { ok: true, value: { ...accepted, apiKeyId, replayed: true } }
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
      .map(({ url }) => url.length),
  })
  const isPaid = mode === 'live' && ledger.hasPaidCredits()
  if (!isPaid && !allowance.has(bytes, rateLimitPerMinute, now)) {
    return { ok: false, rejection: 'storage_allowance_exceeded' }
  }

  if (mode === 'live' && failedJobs.isReached(now)) {
    return { ok: false, rejection: 'failed_jobs_exceeded' }
  }

  const workspaces = snapshot.workspaces.filter(({ id }) => isReachable(key, id))
  const workspace = workspaceId ? workspaces.find(({ id }) => id === workspaceId) : workspaces.at(0)
  if (!workspace) return { ok: false, rejection: 'workspace_not_found' }

  const jobId = newShardedId('job', shardOf(organisation.id))
  if (mode === 'live') {
    const creditLimit = creditUse.spentLimit(creditLimitsOf(key ? [key] : [], [workspace]), jobId)
    if (creditLimit) return { ok: false, rejection: 'credit_limit_reached', creditLimit }
    const spender = { keyCountId: key ? countIdOf(key) : null, workspaceId: workspace.id }
    if (!ledger.reserve(jobId, spender)) return { ok: false, rejection: 'insufficient_credits' }
  }
  if (!isPaid) allowance.take(bytes, now)
  // Lists filter by time through ids, so the time is that of the id, which can be later than `now`. If
  // the clock is set back, new ids continue from its previous time.
  const createdAt = Math.min(createdAtOf(jobId), Date.now())
  const accepted = { jobId, workspaceId: workspace.id, defaultWebhookUrl, createdAt }
  if (idempotency) {
    const { fingerprint } = idempotency
    records.save(mode, idempotency.key, { ...accepted, fingerprint })
  }
  return { ok: true, value: { ...accepted, apiKeyId, replayed: false } }
}
