// The reporter of the node and browser tests that writes their result for scripts/test.ts.
import type { TestEvent } from 'node:test/reporters'
import type { Result } from './test.ts'

/** Yields a {@link Result} as JSON when all files have ended. */
export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const failedFiles = new Set<string>()
  for await (const { type, data } of events) {
    if (type === 'test:fail' && data.file !== undefined) failedFiles.add(data.file)
    // The summary of all files is the one without a file.
    if (type !== 'test:summary' || data.file !== undefined) continue
    const { tests, passed, skipped, todo } = data.counts
    const result: Result = {
      passed,
      failed: tests - passed - skipped - todo,
      skipped: skipped + todo,
      failedFiles: [...failedFiles],
    }
    yield JSON.stringify(result)
  }
}
