// Which submissions were accepted under which Idempotency-Key, for 24 hours, and all SQL about it.
import { IDEMPOTENCY_TTL_MS } from '../domain/limits.ts'
import type { Mode } from '../domain/job.ts'

export interface AcceptedSubmission {
  fingerprint: string
  jobId: string
  workspaceId: string
  /** The default webhook URL that was in force. */
  webhookUrl: string | null
  /** ms since 1970 */
  createdAt: number
}

export class IdempotencyRecords {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
  }

  find(mode: Mode, key: string): AcceptedSubmission | undefined {
    return this.#sql
      .exec<AcceptedSubmission & Record<string, SqlStorageValue>>(
        `SELECT fingerprint, job_id AS jobId, workspace_id AS workspaceId,
                webhook_url AS webhookUrl, created_at AS createdAt
         FROM accepted_submissions WHERE mode = ? AND key = ? AND created_at > ?`,
        mode,
        key,
        Date.now() - IDEMPOTENCY_TTL_MS,
      )
      .toArray()[0]
  }

  remember(mode: Mode, key: string, accepted: AcceptedSubmission): void {
    this.#sql.exec(
      `INSERT OR REPLACE INTO accepted_submissions
         (mode, key, fingerprint, job_id, workspace_id, webhook_url, created_at)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
      mode,
      key,
      accepted.fingerprint,
      accepted.jobId,
      accepted.workspaceId,
      accepted.webhookUrl,
      accepted.createdAt,
    )
  }

  /** Forgets the submission of a job that never came to be, so that the key is free again. */
  forget(jobId: string): void {
    this.#sql.exec('DELETE FROM accepted_submissions WHERE job_id = ?', jobId)
  }

  /** Deletes what is older than 24 h. @returns when the oldest that is left expires, ms since 1970 */
  expire(): number | undefined {
    this.#sql.exec(
      'DELETE FROM accepted_submissions WHERE created_at <= ?',
      Date.now() - IDEMPOTENCY_TTL_MS,
    )
    const oldest = this.#sql
      .exec<{ createdAt: number | null }>(
        'SELECT min(created_at) AS createdAt FROM accepted_submissions',
      )
      .one().createdAt
    return oldest === null ? undefined : oldest + IDEMPOTENCY_TTL_MS
  }
}
