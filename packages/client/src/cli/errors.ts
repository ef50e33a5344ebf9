// Errors of the command line and its exit codes.

export const EXIT = {
  success: 0,
  failure: 1,
  usage: 2,
  authentication: 3,
  timeout: 4,
  interrupted: 130,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** What the command line prints when it fails. */
export interface Failure {
  code: string
  message: string
  /** What to do next, one line each. */
  hints: readonly string[]
  exitCode: ExitCode
}

/** An error that the command line prints without a stack. */
export class CliError extends Error implements Failure {
  readonly code: string
  readonly hints: readonly string[]
  readonly exitCode: ExitCode

  constructor(
    code: string,
    message: string,
    { exitCode = EXIT.failure, hints = [] }: { exitCode?: ExitCode; hints?: string[] } = {},
  ) {
    super(message)
    this.name = 'CliError'
    this.code = code
    this.hints = hints
    this.exitCode = exitCode
  }
}

/** A wrong command, option or argument. */
export class UsageError extends CliError {
  constructor(message: string, ...hints: string[]) {
    super('usage_error', message, { exitCode: EXIT.usage, hints })
    this.name = 'UsageError'
  }
}

/** Ctrl-C. The hints say how to continue. */
export class InterruptedError extends CliError {
  constructor(...hints: string[]) {
    super('interrupted', 'Interrupted.', { exitCode: EXIT.interrupted, hints })
    this.name = 'InterruptedError'
  }
}
