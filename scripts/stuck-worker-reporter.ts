// A vitest reporter that ends a run whose worker does not stop after its last test. This happens now and
// then after the crash tests: workerd stays idle, and vitest waits for it without a time limit.
import type { Reporter, TestModule, Vitest } from 'vitest/node'

/** A worker stops within a second. It waits up to 30 s for promises of `waitUntil`. */
const MAX_STOP_MS = 90_000

export class StuckWorkerReporter implements Reporter {
  readonly #maxStopMs: number
  #vitest: Vitest | undefined
  #running = 0
  #modules: TestModule[] = []
  #timer: NodeJS.Timeout | undefined

  constructor(maxStopMs = MAX_STOP_MS) {
    this.#maxStopMs = maxStopMs
  }

  onInit(vitest: Vitest): void {
    this.#vitest = vitest
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
  }

  /** Prints what the summary of vitest would contain, and ends the process. */
  #end(): void {
    const errors = this.#vitest?.state.getUnhandledErrors() ?? []
    const tests = this.#modules.flatMap((module) => [...module.children.allTests()])
    const failed = tests.filter((test) => test.result().state === 'failed')
    const failedModules = this.#modules.filter((module) => module.state() === 'failed')
    for (const test of failed) console.error(test.fullName, ...(test.result().errors ?? []))
    for (const module of failedModules) console.error(module.moduleId, ...module.errors())
    for (const error of errors) console.error(error)
    const passed = tests.filter((test) => test.result().state === 'passed').length
    const files = this.#modules.length
    console.log(`
 A worker did not stop after its last test. The run ends without it.
 Test Files  ${files - failedModules.length} passed (${files})
      Tests  ${passed} passed (${tests.length})
     Errors  ${errors.length}
`)
    process.exit(failed.length + failedModules.length + errors.length === 0 ? 0 : 1)
  }
}
