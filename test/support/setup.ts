// The setup of all tests in workerd.
import { afterAll, afterEach, beforeAll, beforeEach, vi, type WorkerGlobalState } from 'vitest'

const {
  __vitest_worker__: { evaluatedModules },
} = globalThis as unknown as { __vitest_worker__: WorkerGlobalState }

// The codecs of @jsquash set a location without an origin if there is none. Files that share their Worker could then not
// load @cfworker/json-schema.
Object.assign(globalThis, { location: { href: '', origin: 'null' } })

// Shows the warnings and errors of a test that fails. Vitest sends each line to Node, which is not possible while an
// object runs: the last line of a file would stay, and its file never end.
const { debug } = console
const warnings: unknown[][] = []
const remember = (...line: unknown[]) => void warnings.push(line)
Object.assign(console, { log: () => {}, info: () => {}, warn: remember, error: remember })
afterEach(({ task }) => {
  const lines = warnings.splice(0)
  if (task.result?.state === 'fail') for (const line of lines) debug(...line)
})

// Many tests move the clock.
afterAll(() => void vi.useRealTimers())

// The default of 1 s is too short for busy machines.
const { waitUntil } = vi
const patientWaitUntil: typeof waitUntil = (callback, options = {}) =>
  waitUntil(callback, typeof options === 'number' ? options : { timeout: 60_000, ...options })
Object.assign(vi, { waitUntil: patientWaitUntil })

// Tests have no network, nor has their background work after the mocks are restored. A test that expects
// requests uses support/upstream.
const noNetwork: typeof fetch = async (input) => {
  throw new Error(`Unexpected request to ${new Request(input as RequestInfo).url}`)
}
Object.assign(globalThis, { fetch: noNetwork })
beforeEach(() => {
  vi.spyOn(globalThis, 'fetch').mockImplementation(noNetwork)
})

// V8 looks up the exports of Vitest's modules slowly, 15 % of the CPU time of the compositor, until they are read
// as a prototype.
const readAsPrototype = (object: object): unknown => Object.create(object).default
beforeAll(() => {
  for (const { exports } of evaluatedModules.idToModuleMap.values()) {
    if (exports) readAsPrototype(exports)
  }
})
