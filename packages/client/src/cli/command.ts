// The shape of a command: what help, completion and the dispatcher know about it.
import type { Options } from './args.ts'
import type { Environment } from './config.ts'
import type { Output } from './output.ts'

export interface OptionSpec {
  /** The long name, without dashes. */
  name: string
  /** One letter. */
  short?: string
  /** The name of the value in help, for example `URL`. Without it the option is a flag. */
  value?: string
  /** The permitted values. */
  choices?: readonly string[]
  /** The value is the name of a file. */
  isFile?: boolean
  summary: string
}

export interface ArgumentSpec {
  name: string
  isOptional?: boolean
  choices?: readonly string[]
  isFile?: boolean
  summary: string
}

export interface Context {
  /** The arguments after the name of the command, as many as `Command.args` permits. */
  args: readonly string[]
  options: Options
  output: Output
  env: Environment
  /** Aborted on Ctrl-C. */
  signal: AbortSignal
}

export interface Command {
  /** The words after `try-on`, for example `jobs list`. */
  name: string
  summary: string
  /** Paragraphs of its help page. */
  details?: string
  args?: readonly ArgumentSpec[]
  options?: readonly OptionSpec[]
  examples: readonly string[]
  /** @throws CliError and the errors of the client; the dispatcher prints them */
  run(context: Context): Promise<void>
}

/** The options of every command. */
export const GLOBAL_OPTIONS: readonly OptionSpec[] = [
  { name: 'json', summary: 'Print one JSON document, and errors as JSON.' },
  { name: 'base-url', value: 'URL', summary: 'Address of the service.' },
  { name: 'key', value: 'KEY', summary: 'API key. Prefer TRY_ON_API_KEY or try-on login.' },
  { name: 'help', short: 'h', summary: 'Show the help of a command.' },
  { name: 'version', short: 'V', summary: 'Print the version.' },
]
