#!/usr/bin/env node
// The executable try-on: reads the arguments, runs the command, prints errors, sets the exit code.
import { VERSION } from '../version.ts'
import { readArguments } from './args.ts'
import { COMMANDS, helpPage } from './commands.ts'
import { EXIT } from './errors.ts'
import type { ExitCode } from './errors.ts'
import { failureOf } from './failure.ts'
import { Output } from './output.ts'

async function main(argv: string[]): Promise<ExitCode> {
  // Hides a key that was passed as an argument from lists of processes.
  process.title = 'try-on'
  const output = new Output(argv.includes('--json'))
  const controller = new AbortController()
  const interrupt = () => {
    // A second Ctrl-C ends the process at once.
    if (controller.signal.aborted) process.exit(EXIT.interrupted)
    controller.abort()
  }
  process.on('SIGINT', interrupt).on('SIGTERM', interrupt)
  try {
    const invocation = readArguments(argv, COMMANDS)
    if (invocation.kind === 'version') output.text(VERSION)
    else if (invocation.kind === 'help') output.text(helpPage(invocation.topic))
    else {
      const { command, args, options } = invocation
      await command.run({ args, options, output, env: process.env, signal: controller.signal })
    }
    return EXIT.success
  } catch (error) {
    const failure = failureOf(error, controller.signal.aborted)
    output.failure(failure)
    return failure.exitCode
  }
}

// A reader such as `head` may close stdout early.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? EXIT.success : EXIT.failure)
})

process.exitCode = await main(process.argv.slice(2))
