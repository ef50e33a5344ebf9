// The module `uuid` of the tests. Its times are those of the clock of each test, also when a test sets it back. Those of
// the package never go back, so the identifiers of all files after a test that moved the clock would have wrong times.
import { stringify, v7 as v7Of } from '../../node_modules/uuid/dist/esm/index.js'

export { stringify }

let msecs = 0
let seq = 0

export function v7(_options: undefined, bytes: Uint8Array): Uint8Array {
  const now = Date.now()
  seq = now === msecs ? seq + 1 : crypto.getRandomValues(new Uint32Array(1))[0]! >>> 1
  msecs = now
  return v7Of({ msecs, seq }, bytes)
}
