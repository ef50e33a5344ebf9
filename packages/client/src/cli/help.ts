// The layout of the help pages, and what they say beside the definitions of the commands.
import { Help, type HelpConfiguration } from '@commander-js/extra-typings'
import { leafCommands, nameOf } from './command-tree.ts'

export const HELP_LAYOUT: HelpConfiguration = {
  helpWidth: 100,
  showGlobalOptions: true,
  visibleCommands: leafCommands,
  commandDescription: (command) =>
    [command.summary(), command.description()].filter((text) => text !== '').join('\n\n'),
  subcommandTerm: (command) =>
    [nameOf(command), new Help().subcommandTerm(command).split(' ').slice(1)].flat().join(' '),
}

/** Follows the page of `try-on help`. */
export const ENVIRONMENT_AND_EXIT_CODES = `
Environment:
  TRY_ON_API_KEY         API key. Takes precedence over the configuration file.
  TRY_ON_BASE_URL        Address of the service. Takes precedence over the configuration file.
  TRY_ON_WEBHOOK_SECRET  Webhook signing secret, for try-on listen.
  NO_COLOR               Disables colours.

Exit codes:
  0    Success.
  1    The job failed, or the service returned an error.
  2    Wrong command, option or argument.
  3    The API key is missing, unknown or revoked, or has the wrong mode.
  4    The time limit was reached.
  130  Interrupted with Ctrl-C.

Help of a command: try-on help <command>`

/** Follows the page of a command. */
export const examples = (...lines: string[]): string =>
  ['\nExamples:', ...lines.map((line) => `  ${line}`)].join('\n')
