// Programs of other languages, which some tests run.
import { spawnSync } from 'node:child_process'

/**
 * Whether a program is installed. Prints a warning if not, because its tests do not run then.
 * @throws Error if it is missing in CI, where all tests must run
 */
export function hasProgram(name: string, versionArgument = '--version'): boolean {
  if (spawnSync(name, [versionArgument], { stdio: 'ignore' }).status === 0) return true
  const message = `${name} was not found, so the tests that need it did not run.`
  if (process.env['CI']) throw new Error(message)
  process.stderr.write(`\n  WARNING: ${message}\n\n`)
  return false
}
