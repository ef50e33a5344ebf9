// The vitest reporter of the worker tests. It writes their results for scripts/test.ts, hides the exceptions
// that tests inject into Durable Objects, fails the run at any other, and ends a run whose worker does not
// stop. A worker stays now and then idle after its last test, and vitest waits without a time limit.
import { writeFileSync } from 'node:fs'
import { inspect } from 'node:util'
import type { Reporter, TestModule, Vitest } from 'vitest/node'
import type { Result } from './test.ts'

/** A worker stops within a second. It waits up to 30 s for promises of `waitUntil`. */
const MAX_STOP_MS = 90_000
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
  readonly #maxStopMs: number
  readonly #unexpected: string[] = []
  #vitest: Vitest | undefined
  #running = 0
  #modules: TestModule[] = []
  #timer: NodeJS.Timeout | undefined

  constructor(maxStopMs = MAX_STOP_MS) {
    this.#maxStopMs = maxStopMs
  }

  onInit(vitest: Vitest): void {
    this.#vitest = vitest
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

  onTestRunStart(specifications: readonly unknown[]): void {
    this.#running = specifications.length
    this.#modules = []
  }

  onTestModuleEnd(module: TestModule): void {
    this.#modules.push(module)
    if (this.#modules.length < this.#running) return
    this.#timer = setTimeout(() => this.#end(), this.#maxStopMs)
  }

  onTestRunEnd(): void {
    clearTimeout(this.#timer)
    this.#writeResult()
    if (this.#unexpected.length > 0) {
      console.error('\n The Worker threw exceptions that no test expects:')
      for (const text of this.#unexpected) console.error(text)
      process.exitCode = 1
    }
  }

  #testsIn(state: 'passed' | 'failed' | 'skipped') {
    return this.#modules
      .flatMap((module) => [...module.children.allTests()])
      .filter((test) => test.result().state === state)
  }

  /** Errors outside of tests. */
  #errors(): unknown[] {
    return [...(this.#vitest?.state.getUnhandledErrors() ?? []), ...this.#unexpected]
  }

  #writeResult(): void {
    const path = process.env['TEST_RESULT']
    if (path === undefined) return
    const result: Result = {
      passed: this.#testsIn('passed').length,
      skipped: this.#testsIn('skipped').length,
      failures: [
        ...this.#testsIn('failed').map((test) => ({
          name: test.fullName,
          file: test.module.moduleId,
        })),
        ...this.#modules.flatMap((module) =>
          module.errors().map(({ message }) => ({ name: message, file: module.moduleId })),
        ),
        // Errors of a worker are plain objects. Vitest adds the file during which one was thrown.
        ...this.#errors().map((error) => ({
          name: Object(error).message ?? inspect(error),
          file: Object(error).VITEST_TEST_PATH,
        })),
      ],
    }
    writeFileSync(path, JSON.stringify(result))
  }

  /** Prints what the summary of vitest would contain, and ends the process. */
  #end(): void {
    const errors = this.#errors()
    const failed = this.#testsIn('failed')
    const failedModules = this.#modules.filter((module) => module.state() === 'failed')
    for (const test of failed) console.error(test.fullName, ...(test.result().errors ?? []))
    for (const module of failedModules) console.error(module.moduleId, ...module.errors())
    for (const error of errors) console.error(error)
    const files = this.#modules.length
    console.log(`
 A worker did not stop after its last test. The run ends without it.
 Test Files  ${files - failedModules.length} passed (${files})
      Tests  ${this.#testsIn('passed').length} passed, ${failed.length} failed
     Errors  ${errors.length}
`)
    this.#writeResult()
    process.exit(failed.length + failedModules.length + errors.length === 0 ? 0 : 1)
  }
}
