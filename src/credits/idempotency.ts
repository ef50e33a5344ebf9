// The submissions that were accepted with an Idempotency-Key, stored for 24 hours.
import { IDEMPOTENCY_TTL_MS } from '../domain/limits.ts'
import type { Mode } from '../domain/job.ts'
import { firstRow } from './first-row.ts'
import type { Admission } from './rpc.ts'

/** `defaultWebhookUrl` is that of the time of the submission. */
type AcceptedSubmission = Omit<Admission, 'apiKeyId' | 'replayed'> & { fingerprint: string }

export class IdempotencyRecords {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
  }

  find(mode: Mode, key: string): AcceptedSubmission | undefined {
    return firstRow<AcceptedSubmission>(
      this.#sql,
      `SELECT fingerprint, job_id AS jobId, workspace_id AS workspaceId,
              webhook_url AS defaultWebhookUrl, created_at AS createdAt
       FROM accepted_submissions WHERE mode = ? AND key = ? AND created_at > ?`,
      mode,
      key,
      Date.now() - IDEMPOTENCY_TTL_MS,
    )
  }

  save(mode: Mode, key: string, accepted: AcceptedSubmission): void {
    this.#sql.exec(
      `INSERT OR REPLACE INTO accepted_submissions
         (mode, key, fingerprint, job_id, workspace_id, webhook_url, created_at)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
      mode,
      key,
      accepted.fingerprint,
      accepted.jobId,
      accepted.workspaceId,
      accepted.defaultWebhookUrl,
      accepted.createdAt,
    )
  }

  /** Deletes the record of a job that was not stored, so that its key can be used again. */
  delete(jobId: string): void {
    this.#sql.exec('DELETE FROM accepted_submissions WHERE job_id = ?', jobId)
  }

  /** Deletes expired records. @returns when the next one expires, ms since 1970; Infinity without any */
  deleteExpired(): number {
    this.#sql.exec(
      'DELETE FROM accepted_submissions WHERE created_at <= ?',
      Date.now() - IDEMPOTENCY_TTL_MS,
    )
    const oldest = 'SELECT created_at AS at FROM accepted_submissions ORDER BY created_at LIMIT 1'
    return (firstRow<{ at: number }>(this.#sql, oldest)?.at ?? Infinity) + IDEMPOTENCY_TTL_MS
  }
}
