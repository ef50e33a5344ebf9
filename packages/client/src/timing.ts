// Timeouts and pauses that a caller's AbortSignal ends.

/** The longest delay of `setTimeout`. A longer one would fire at once. */
const MAX_TIMER_MS = 2_147_483_647

/**
 * Runs a task with a time limit.
 * @param parent aborts the task; its reason is then thrown
 * @param onTimeout creates the error of the time limit. `cause` is the error that ended the task.
 */
export async function withTimeout<T>(
  timeoutMs: number,
  parent: AbortSignal | undefined,
  task: (signal: AbortSignal) => Promise<T>,
  onTimeout: (cause: unknown) => Error,
): Promise<T> {
  parent?.throwIfAborted()
  // AbortSignal.any is missing in Node 20.0 to 20.2, and AbortSignal.timeout cannot be cleared.
  const controller = new AbortController()
  const abort = () => controller.abort(parent?.reason)
  parent?.addEventListener('abort', abort)
  let expired = false
  const timer = setTimeout(
    () => {
      expired = true
      controller.abort()
    },
    Math.min(timeoutMs, MAX_TIMER_MS),
  )
  try {
    return await task(controller.signal)
  } catch (error) {
    if (parent?.aborted) throw parent.reason
    throw expired ? onTimeout(error) : error
  } finally {
    clearTimeout(timer)
    parent?.removeEventListener('abort', abort)
  }
}

/** Waits, by at most 24 days. Rejects with the reason of the signal when it is aborted. */
export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const abort = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(
      () => {
        signal?.removeEventListener('abort', abort)
        resolve()
      },
      Math.min(ms, MAX_TIMER_MS),
    )
    signal?.addEventListener('abort', abort, { once: true })
  })
}
