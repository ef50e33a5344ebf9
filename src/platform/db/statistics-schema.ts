// The tables of job statistics: counts per day, which cron writes (jobs/reports/daily-statistics). They outlive
// test jobs, and a page reads them instead of the jobs of finished days.
import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { MODES, type JobErrorCode } from '../../domain/job.ts'

/** The jobs that were created on one day (UTC), counted by how they ended. */
export const jobStatistics = sqliteTable(
  'job_statistics',
  {
    /** Days since 1970. */
    day: integer().notNull(),
    organisationId: text('organisation_id').notNull(),
    mode: text({ enum: MODES }).notNull(),
    workspaceId: text('workspace_id').notNull(),
    completed: integer().notNull(),
    failed: integer().notNull(),
    /** Cancelled, refunded and unfinished jobs. */
    other: integer().notNull(),
    /** The failed jobs by error code. */
    errors: text({ mode: 'json' }).$type<Partial<Record<JobErrorCode, number>>>().notNull(),
    /** The completed jobs by duration: ms, rounded to two significant digits. */
    durations: text({ mode: 'json' }).$type<Record<string, number>>().notNull(),
    /**
     * The jobs by the id of their API key, or `console`, without those whose key is not stored. Empty on days that were
     * counted before this column existed.
     */
    keys: text({ mode: 'json' })
      .$type<Record<string, { completed: number; failed: number; other: number }>>()
      .notNull()
      .default({}),
  },
  // The day comes first, so that retention deletes old rows without a further index.
  (table) => [
    primaryKey({ columns: [table.day, table.organisationId, table.mode, table.workspaceId] }),
  ],
)

/** The days whose jobs have been counted. */
export const jobStatisticsDays = sqliteTable('job_statistics_days', {
  /** Days since 1970. */
  day: integer().primaryKey(),
})
