// Assembles the commands.
import { Command, type CommandUnknownOpts } from '@commander-js/extra-typings'
import { VERSION } from '../version.ts'
import { account, usage, workspaces } from './account.ts'
import { complete, completion } from './completion.ts'
import type { Context } from './context.ts'
import { ENVIRONMENT_AND_EXIT_CODES, examples, HELP_LAYOUT } from './help.ts'
import { jobs } from './jobs.ts'
import { listen } from './listen.ts'
import { login, logout } from './login.ts'
import { run, upload } from './run.ts'
import { makeStrict, unknownCommand } from './strict.ts'
import { trigger } from './trigger.ts'
import { webhooks } from './webhooks.ts'

const COMMANDS = [
  login,
  logout,
  run,
  jobs,
  upload,
  listen,
  trigger,
  webhooks,
  account,
  usage,
  workspaces,
  completion,
]

/** The command `try-on`. Parsing throws UsageError, and CommanderError after help or the version. */
export function createProgram(io: Omit<Context, 'globalOptions'>): CommandUnknownOpts {
  const print = (text: string) => io.output.text(text)
  const program = new Command('try-on')
    .description('Virtual try-on from the command line: two pictures in, one picture out.')
    .option('--json', 'Print one JSON document, and errors as JSON.')
    .option('--base-url <URL>', 'Address of the service.')
    .option('--key <KEY>', 'API key. Prefer TRY_ON_API_KEY or try-on login.')
    .version(VERSION, '-V, --version', 'Print the version.')
    .helpOption('-h, --help', 'Show the help of a command.')
    .helpCommand(false)
    .configureHelp(HELP_LAYOUT)
    .configureOutput({ writeOut: print, writeErr: print, outputError() {} })
    .addHelpText('after', ENVIRONMENT_AND_EXIT_CODES)
  const context: Context = { ...io, globalOptions: () => program.opts() }
  for (const create of COMMANDS) program.addCommand(create(context))
  program.addCommand(help(program)).addCommand(complete(program, context), { hidden: true })
  makeStrict(program)
  return program
}

const help = (program: CommandUnknownOpts) =>
  new Command('help')
    .description('Show the help of a command.')
    .argument('[command...]', 'For example run, or jobs list.')
    .addHelpText('after', examples('try-on help run', 'try-on help jobs list'))
    .action((words) => {
      let found = program
      for (const word of words) {
        const command = found.commands.find((child) => child.name() === word)
        if (!command) throw unknownCommand(word, found)
        found = command
      }
      found.outputHelp()
    })
