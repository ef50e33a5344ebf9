import { sweepJobs } from '../../src/jobs/sweep.ts'
import { inParallel } from '../../src/platform/run-tasks.ts'
import { sweepEvents } from '../../src/webhooks/sweep-events.ts'

/** Requeues overdue jobs and webhook events, as cron does. */
export const sweep = inParallel('sweep', sweepJobs, sweepEvents)
