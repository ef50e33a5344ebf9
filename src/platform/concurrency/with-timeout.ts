/**
 * Waits for a promise for at most `ms`. The work of the promise continues after that.
 * @throws the error that `onTimeout` creates
 */
export async function withTimeout<T>(promise: Promise<T>, ms: number, onTimeout: () => Error) {
  let timer: ReturnType<typeof setTimeout> | undefined
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(onTimeout()), ms)
  })
  try {
    return await Promise.race([promise, timeout])
  } finally {
    clearTimeout(timer)
  }
}
