// Runs the tasks of cron, and writes a log line for each.
import { log, withLogFields } from './log.ts'
import { record } from './metrics.ts'

export type Task = (env: Env) => Promise<unknown>

/**
 * Runs every task, one after the other, even if an earlier one fails. Each task logs its failures, and the
 * next run continues it.
 * @param tasks by the names that the log and the metric contain
 * @throws the first failure
 */
export async function runTasks(env: Env, tasks: Record<string, Task>): Promise<void> {
  const failures: unknown[] = []
  for (const [task, run] of Object.entries(tasks)) {
    await withLogFields({ task }, async () => {
      const startedAt = Date.now()
      const outcome = await run(env).then(
        () => 'done',
        (error: unknown) => {
          failures.push(error)
          return 'failed'
        },
      )
      const ms = Date.now() - startedAt
      log.info('task', { outcome, ms })
      record(env, 'task', { task, outcome }, ms)
    })
  }
  if (failures.length > 0) throw failures[0]
}

/**
 * A task that runs others in parallel. A failure of one does not stop the others.
 * @throws the first failure, after all have ended; each is logged as `<name> failed`
 */
export const inParallel =
  (name: string, ...tasks: Task[]): Task =>
  async (env) => {
    const results = await Promise.allSettled(tasks.map((task) => task(env)))
    const failures = results.filter((result) => result.status === 'rejected')
    for (const { reason } of failures) log.error(`${name} failed`, reason)
    if (failures[0]) throw failures[0].reason
  }
