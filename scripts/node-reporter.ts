// The reporter of the node and browser tests that writes their result for scripts/test.ts.
import type { TestEvent } from 'node:test/reporters'
import type { Failure, Result } from './test.ts'

/** Yields a {@link Result} as JSON when all files have ended. */
export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const failures: Failure[] = []
  for await (const { type, data } of events) {
    if (type === 'test:fail' && data.details.type !== 'suite') {
      failures.push({ name: data.name, file: data.file })
    }
    // The summary of all files is the one without a file.
    if (type !== 'test:summary' || data.file !== undefined) continue
    const { passed, skipped, todo } = data.counts
    const result: Result = { passed, skipped: skipped + todo, failures }
    yield JSON.stringify(result)
  }
}
