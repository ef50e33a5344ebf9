// The vitest reporter of the worker tests. It writes their results for scripts/test.ts, hides the exceptions
// that tests inject into Durable Objects, and fails the run at any other.
import { writeFileSync } from 'node:fs'
import { inspect } from 'node:util'
import type { Reporter, SerializedError, TestModule } from 'vitest/node'
import type { Result } from './test.ts'

/** What workerd prints when an object throws, also when the caller handles the exception. */
const EXCEPTION = /^uncaught exception;/
const EACH_EXCEPTION = /^(?=uncaught exception;)/m
/** A line of a stack in our code. The pool and the runtime also end objects, for example after a test file. */
const OWN_FRAME = /^ +at (?!.*node_modules).*\/(src|packages)\/.*:\d+:\d+/m
/**
 * The class of test/support/injected-error.ts; or the first read of an Organisation, whose injected errors
 * Drizzle wraps in its own.
 */
const INJECTED =
  /; stack = (InjectedError: |Error: Failed query: .*\n.*\n(.*\n)*.* at load \(.*\/snapshot\.ts)/

export class WorkerReporter implements Reporter {
  readonly #unexpected: string[] = []

  onInit(): void {
    const write = process.stdout.write.bind(process.stdout)
    // Exceptions are messages of the level info.
    process.stdout.write = (chunk: string | Uint8Array, ...rest: never[]) => {
      const shown = String(chunk)
        .split(EACH_EXCEPTION)
        .filter((text) => !INJECTED.test(text))
      for (const text of shown) {
        if (EXCEPTION.test(text) && OWN_FRAME.test(text)) this.#unexpected.push(text)
      }
      return shown.length === 0 || write(shown.join(''), ...rest)
    }
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const path = process.env['TEST_RESULT']
    if (path !== undefined) writeFileSync(path, JSON.stringify(this.#resultOf(modules, errors)))
    if (this.#unexpected.length > 0) {
      console.error('\n The Worker threw exceptions that no test expects:')
      for (const text of this.#unexpected) console.error(text)
      process.exitCode = 1
    }
  }

  /** @param errors those outside of tests */
  #resultOf(modules: readonly TestModule[], errors: readonly SerializedError[]): Result {
    const tests = modules.flatMap((module) => [...module.children.allTests()])
    const testsIn = (state: 'passed' | 'failed' | 'skipped') =>
      tests.filter((test) => test.result().state === state)
    return {
      passed: testsIn('passed').length,
      skipped: testsIn('skipped').length,
      failures: [
        ...testsIn('failed').map((test) => ({ name: test.fullName, file: test.module.moduleId })),
        ...modules.flatMap((module) =>
          module.errors().map(({ message }) => ({ name: message, file: module.moduleId })),
        ),
        // Errors of a worker are plain objects. Vitest adds the file during which one was thrown.
        ...[...errors, ...this.#unexpected].map((error) => ({
          name: Object(error).message ?? inspect(error),
          file: Object(error).VITEST_TEST_PATH,
        })),
      ],
    }
  }
}
