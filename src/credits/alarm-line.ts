// The log line of an alarm of an Organisation.
import { log, withLogFields } from '../platform/log.ts'

/**
 * Runs an alarm and writes the line `alarm`, also if it fails. Its other lines have the organisation's id.
 * @throws the error of the alarm, after which the runtime runs it again
 */
export const withAlarmLine = (organisationId: string | undefined, run: () => Promise<void>) =>
  withLogFields({ organisationId }, async () => {
    const startedAt = Date.now()
    let outcome = 'failed'
    try {
      await run()
      outcome = 'done'
    } finally {
      log.info('alarm', { outcome, ms: Date.now() - startedAt })
    }
  })
