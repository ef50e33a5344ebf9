// Programs of other languages, which some tests run.
import { spawnSync } from 'node:child_process'

/** Whether a program is installed. Prints a warning if not, because its tests do not run then. */
export function hasProgram(name: string, versionArgument = '--version'): boolean {
  if (spawnSync(name, [versionArgument], { stdio: 'ignore' }).status === 0) return true
  process.stderr.write(
    `\n  WARNING: ${name} was not found, so the tests that need it did not run.\n\n`,
  )
  return false
}
