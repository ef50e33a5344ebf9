// The list of all commands, and the commands about it: help and completion.
import { account, workspaces } from './account.ts'
import { unknownCommand } from './args.ts'
import type { Command } from './command.ts'
import { completionScript, SHELLS } from './completion.ts'
import { commandHelp, groupHelp, overview } from './help.ts'
import { JOBS } from './jobs.ts'
import { listen } from './listen.ts'
import { login, logout } from './login.ts'
import { run, upload } from './run.ts'
import { trigger } from './trigger.ts'

const completion: Command = {
  name: 'completion',
  summary: 'Print a script that completes commands and options in your shell.',
  args: [{ name: 'shell', choices: SHELLS, summary: 'Your shell.' }],
  examples: [
    'source <(try-on completion bash)',
    'source <(try-on completion zsh)',
    'try-on completion fish | source',
  ],
  async run({ args, output }) {
    const shell = SHELLS.find((known) => known === args[0]) ?? 'bash'
    output.text(completionScript(shell, COMMANDS))
  },
}

const help: Command = {
  name: 'help',
  summary: 'Show the help of a command.',
  args: [
    { name: 'command', isOptional: true, summary: 'For example run.' },
    { name: 'subcommand', isOptional: true, summary: 'For example list, after jobs.' },
  ],
  examples: ['try-on help run', 'try-on help jobs list'],
  async run({ args, output }) {
    output.text(helpPage(args))
  },
}

export const COMMANDS: readonly Command[] = [
  login,
  logout,
  run,
  ...JOBS,
  upload,
  listen,
  trigger,
  account,
  workspaces,
  completion,
  help,
]

/** The help about a command or group; the overview without words. @throws UsageError */
export function helpPage(words: readonly string[]): string {
  if (words.length === 0) return overview(COMMANDS)
  const name = words.join(' ')
  const command = COMMANDS.find((candidate) => candidate.name === name)
  if (command) return commandHelp(command)
  if (COMMANDS.some((candidate) => candidate.name.startsWith(`${name} `))) {
    return groupHelp(name, COMMANDS)
  }
  throw unknownCommand(words, COMMANDS)
}
