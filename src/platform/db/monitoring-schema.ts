// The table of alerts in `DB` (jobs/monitoring/evaluate-alerts).
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** An alert whose condition holds. Without the condition, the alert has no entry. */
export interface AlertEntry {
  /** When the condition began, ms since 1970. */
  since: number
  /** Whether a receiver was told. */
  isSent: boolean
  /** What was seen when the receiver was told, or at the latest evaluation before. */
  summary: string
}

/** By channel, then by the name of the alert. */
export type AlertEntries = Record<string, Record<string, AlertEntry>>

/** One row: the result of the latest evaluation. */
export const alertState = sqliteTable('alert_state', {
  /** Always `latest`. */
  id: text().primaryKey(),
  evaluatedAt: integer('evaluated_at', { mode: 'timestamp_ms' }).notNull(),
  entries: text({ mode: 'json' }).$type<AlertEntries>().notNull(),
})
