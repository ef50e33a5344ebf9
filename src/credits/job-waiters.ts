// Requests that wait for the end of a job. In memory only: a wait whose signal is lost with it reads the job
// from time to time (jobs/read-job).
import { dropOldest } from '../platform/drop-oldest.ts'

/** The latest ends that are remembered, for a wait that starts just after the end. */
const MAX_REMEMBERED = 1_000

export class JobWaiters {
  readonly #waiting = new Map<string, Set<() => void>>()
  readonly #ended = new Set<string>()

  /** Resolves when the job has ended, at the latest after `ms`. Resolves at once for a recent end. */
  wait(jobId: string, ms: number): Promise<void> {
    if (this.#ended.has(jobId)) return Promise.resolve()
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(jobId) ?? new Set()
      this.#waiting.set(jobId, waiting)
      const leave = () => {
        clearTimeout(timer)
        waiting.delete(leave)
        if (waiting.size === 0) this.#waiting.delete(jobId)
        resolve()
      }
      const timer = setTimeout(leave, ms)
      waiting.add(leave)
    })
  }

  /** Wakes the requests that wait for these jobs. Call it after the ends are stored. */
  end(jobIds: string[]): void {
    for (const jobId of jobIds) {
      this.#ended.add(jobId)
      for (const leave of this.#waiting.get(jobId) ?? []) leave()
    }
    dropOldest(this.#ended, MAX_REMEMBERED)
  }
}
