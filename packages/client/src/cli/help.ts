// The help pages, rendered from the definitions of the commands.
import { GLOBAL_OPTIONS } from './command.ts'
import type { ArgumentSpec, Command, OptionSpec } from './command.ts'

const MAX_COLUMNS = 96

const EXIT_CODES = [
  ['0', 'Success.'],
  ['1', 'The job failed, or the service returned an error.'],
  ['2', 'Wrong command, option or argument.'],
  ['3', 'The API key is missing, unknown or revoked, or has the wrong mode.'],
  ['4', 'The time limit was reached.'],
  ['130', 'Interrupted with Ctrl-C.'],
] as const

const ENVIRONMENT = [
  ['TRY_ON_API_KEY', 'API key. Takes precedence over the configuration file.'],
  ['TRY_ON_BASE_URL', 'Address of the service. Takes precedence over the configuration file.'],
  ['TRY_ON_WEBHOOK_SECRET', 'Webhook signing secret, for try-on listen.'],
  ['NO_COLOR', 'Disables colours.'],
] as const

/** The page of `try-on help`. */
export function overview(commands: readonly Command[]): string {
  return page([
    ['', ['Virtual try-on from the command line: two pictures in, one picture out.']],
    ['Usage', ['try-on <command> [options]']],
    ['Commands', columns(commands.map((command) => [usageOf(command), command.summary]))],
    ['Options of every command', columns(GLOBAL_OPTIONS.map(optionRow))],
    ['Environment', columns(ENVIRONMENT)],
    ['Exit codes', columns(EXIT_CODES)],
    ['', ['Help of a command: try-on help <command>']],
  ])
}

/** The page of a group of commands, for example `try-on help jobs`. */
export function groupHelp(group: string, commands: readonly Command[]): string {
  const members = commands.filter(({ name }) => name.startsWith(`${group} `))
  return page([
    ['Usage', [`try-on ${group} <command> [options]`]],
    ['Commands', columns(members.map((command) => [usageOf(command), command.summary]))],
    ['', [`Help of a command: try-on help ${members[0]?.name ?? group}`]],
  ])
}

/** The page of one command. */
export function commandHelp(command: Command): string {
  const { summary, details, args = [], options = [], examples } = command
  return page([
    ['', [summary, ...(details ? ['', ...details.trim().split('\n')] : [])]],
    ['Usage', [`try-on ${usageOf(command)}${options.length > 0 ? ' [options]' : ''}`]],
    ['Arguments', columns(args.map((arg) => [`<${arg.name}>`, withChoices(arg)]))],
    ['Options', columns(options.map(optionRow))],
    ['Options of every command', columns(GLOBAL_OPTIONS.map(optionRow))],
    ['Examples', examples],
  ])
}

const usageOf = ({ name, args = [] }: Command): string =>
  [name, ...args.map((arg) => (arg.isOptional ? `[${arg.name}]` : `<${arg.name}>`))].join(' ')

const optionRow = (option: OptionSpec): [string, string] => [
  `${option.short ? `-${option.short}, ` : '    '}--${option.name}${option.value ? ` ${option.value}` : ''}`,
  withChoices(option),
]

const withChoices = ({ summary, choices }: OptionSpec | ArgumentSpec): string =>
  choices ? `${summary} One of ${choices.join(', ')}.` : summary

function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(0, ...rows.map(([left]) => left.length))
  return rows.flatMap(([left, right]) =>
    wrap(right, MAX_COLUMNS - width).map(
      (line, index) => `${(index === 0 ? left : '').padEnd(width)}  ${line}`,
    ),
  )
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line && line.length + 1 + word.length > width) {
      lines.push(line)
      line = word
    } else line = line ? `${line} ${word}` : word
  }
  return [...lines, line]
}

function page(sections: readonly (readonly [title: string, lines: readonly string[]])[]): string {
  return sections
    .filter(([, lines]) => lines.length > 0)
    .map(([title, lines]) =>
      title ? [`${title}:`, ...lines.map((line) => `  ${line}`)].join('\n') : lines.join('\n'),
    )
    .join('\n\n')
}
