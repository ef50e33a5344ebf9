/**
 * Waits for a promise for at most `ms`. The work of the promise continues after that.
 * @throws the error that `onTimeout` creates
 */
export async function withTimeout<T>(promise: Promise<T>, ms: number, onTimeout: () => Error) {
  const timeout = Promise.withResolvers<never>()
  const timer = setTimeout(() => timeout.reject(onTimeout()), ms)
  try {
    return await Promise.race([promise, timeout.promise])
  } finally {
    clearTimeout(timer)
  }
}
