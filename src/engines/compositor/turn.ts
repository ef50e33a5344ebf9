// Takes turns: jobs of one batch share an isolate and its 128 MB, and a composition needs most.

/** A gate that runs one task at a time, in the order of asking. A failed task passes the turn on. */
export function createTurns(): <T>(task: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (task) => {
    const mine = last.then(task)
    last = mine.catch(() => undefined)
    return mine
  }
}
