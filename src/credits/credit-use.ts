// Counts the credits of what has a monthly limit, in calendar months (UTC). A live job counts from its
// reservation, in the month of its id, until the credit is released. A row of `credit_use` equals the
// number of these reservations. Without a limit there is no row, so that a job writes no more rows.
import { isNearLimit, type CreditLimit } from '../domain/credit-limit.ts'
import { monthOf, monthStart } from '../domain/month.ts'
import { createdAtOf, firstIdSince } from '../platform/ids.ts'
import { firstRow } from './first-row.ts'

/** What a reservation counts for. */
export interface Spender {
  /** Null for the console. */
  keyCountId: string | null
  workspaceId: string
}

export class CreditUse {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
  }

  /** The credits used in the month of `at` (ms since 1970), with the reserved ones. */
  used(countId: string, at: number): number {
    return this.#rowOf(countId, at).credits
  }

  /** The first limit without a credit left for this new job. */
  spentLimit(limits: CreditLimit[], jobId: string): CreditLimit | undefined {
    const at = createdAtOf(jobId)
    return limits.find(({ countId, monthlyCredits }) => this.used(countId, at) >= monthlyCredits)
  }

  /** Changes the counts for which a reservation counts, if there are any. Call it once per change of its state. */
  add(jobId: string, credits: 1 | -1): void {
    this.#sql.exec(
      `UPDATE credit_use SET credits = credits + ?1 WHERE month = ?2 AND id IN (
         SELECT key_count_id FROM reservations WHERE job_id = ?3
         UNION ALL SELECT workspace_id FROM reservations WHERE job_id = ?3)`,
      credits,
      monthOf(new Date(createdAtOf(jobId))),
      jobId,
    )
  }

  /** The limits of which the members have to be informed, with the credits used. @param at ms since 1970 */
  noticesDue(limits: CreditLimit[], at: number): { limit: CreditLimit; used: number }[] {
    const due = limits.flatMap((limit) => {
      const { credits, informed } = this.#rowOf(limit.countId, at)
      return informed === 0 && isNearLimit(limit, credits) ? { limit, used: credits } : []
    })
    // A key and its replacement count together.
    return [...new Map(due.map((notice) => [notice.limit.countId, notice])).values()]
  }

  /** Records that the members were informed in the month of `at` (ms since 1970). */
  recordNotice(countId: string, at: number): void {
    const month = monthOf(new Date(at))
    this.#sql.exec('UPDATE credit_use SET informed = 1 WHERE id = ? AND month = ?', countId, month)
  }

  /** Starts the count of the month with its reservations. */
  #rowOf(countId: string, at: number): { credits: number; informed: number } {
    const month = monthOf(new Date(at))
    const query = 'SELECT credits, informed FROM credit_use WHERE id = ? AND month = ?'
    const row = firstRow<{ credits: number; informed: number }>(this.#sql, query, countId, month)
    if (row) return row
    this.#sql.exec('DELETE FROM credit_use WHERE month <> ?', month)
    return this.#sql
      .exec<{ credits: number; informed: number }>(
        `INSERT INTO credit_use (id, month, credits, informed)
         SELECT ?1, ?2, count(*), 0 FROM reservations
         WHERE job_id >= ?3 AND state <> 'released' AND ?1 IN (key_count_id, workspace_id)
         RETURNING credits, informed`,
        countId,
        month,
        firstIdSince('job', monthStart(new Date(at)).getTime()),
      )
      .one()
  }
}
