// What the actions of all commands share.
import type { Environment } from './config.ts'
import type { Output } from './output.ts'

export interface Context {
  output: Output
  env: Environment
  /** Aborted on Ctrl-C. */
  signal: AbortSignal
  /** The options of every command, once the arguments are parsed. */
  globalOptions(): { baseUrl?: string; key?: string }
}
