#!/usr/bin/env node
// The executable try-on: runs the command, prints errors, sets the exit code.
import { CommanderError } from '@commander-js/extra-typings'
import { CliError, EXIT, InterruptedError, type ExitCode } from './errors.ts'
import { failureOf } from './failure.ts'
import { Output } from './output.ts'
import { createProgram } from './program.ts'

async function main(argv: string[]): Promise<ExitCode> {
  // Hides a key that was passed as an argument from lists of processes.
  process.title = 'try-on'
  const output = new Output({ isJson: argv.includes('--json') })
  const controller = new AbortController()
  const { signal } = controller
  const interrupt = () => {
    // A second Ctrl-C ends the process at once.
    if (signal.aborted) process.exit(EXIT.interrupted)
    controller.abort()
  }
  process.on('SIGINT', interrupt).on('SIGTERM', interrupt)
  try {
    await createProgram({ output, env: process.env, signal }).parseAsync(argv, { from: 'user' })
    return EXIT.success
  } catch (error) {
    // Help or the version has been printed.
    if (error instanceof CommanderError) return EXIT.success
    // Ctrl-C aborts the requests, so that their errors have no meaning.
    const isAborted = signal.aborted && !(error instanceof CliError)
    const failure = failureOf(isAborted ? new InterruptedError() : error)
    output.failure(failure)
    return failure.exitCode
  }
}

// A reader such as `head` may close stdout early.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? EXIT.success : EXIT.failure)
})

process.exitCode = await main(process.argv.slice(2))
