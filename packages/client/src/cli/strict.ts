// Checks values and arguments more strictly than commander, and turns its errors into usage errors.
import type { CommanderError, CommandUnknownOpts } from '@commander-js/extra-typings'
import { closestMatch } from 'leven'
import { childrenOf, nameOf, optionsOf } from './command-tree.ts'
import { UsageError } from './errors.ts'

/** Applies to the command and to those below it. */
export function makeStrict(command: CommandUnknownOpts): void {
  command.exitOverride((error) => {
    throw usageErrorOf(error, command) ?? error
  })
  for (const option of command.options.filter(({ required }) => required)) {
    const { parseArg, argChoices, long } = option
    option.argParser((value, previous) => {
      if (/^-./.test(value) || (option.mandatory && !value)) throw missingValue(option.flags)
      checkChoice(long ?? '', value, argChoices)
      return parseArg ? parseArg(value, previous) : value
    })
  }
  for (const argument of command.registeredArguments.filter(({ variadic }) => !variadic)) {
    argument.argParser((value) => {
      if (!value) throw missingArgument(argument.name(), command)
      checkChoice(`<${argument.name()}>`, value, argument.argChoices)
      return value
    })
  }
  for (const child of command.commands) {
    child.copyInheritedSettings(command)
    makeStrict(child)
  }
}

/** undefined for what commander throws after it has printed help or the version. */
function usageErrorOf({ code, message }: CommanderError, command: CommandUnknownOpts) {
  const [, subject = ''] = /'(.*?)'/s.exec(message) ?? []
  switch (code) {
    case 'commander.unknownCommand':
      return unknownCommand(command.args[0] ?? '', command)
    case 'commander.unknownOption':
      return unknownOption(subject, command)
    case 'commander.optionMissingArgument':
      return missingValue(subject)
    case 'commander.missingMandatoryOptionValue':
      return new UsageError(`The option ${subject.replace(/ .*/, '')} is required.`)
    case 'commander.missingArgument':
      return missingArgument(subject, command)
    case 'commander.excessArguments': {
      const extra = command.args[command.registeredArguments.length]
      return new UsageError(`Unexpected argument "${extra}".`, seeArguments(command))
    }
    default:
      return undefined
  }
}

/** Names the nearest command of the group. */
export function unknownCommand(word: string, group: CommandUnknownOpts): UsageError {
  const prefix = nameOf(group) && `${nameOf(group)} `
  const guess = nearest(
    word,
    childrenOf(group).map((command) => command.name()),
  )
  return new UsageError(
    `Unknown command "${prefix}${word}".`,
    guess ? `Did you mean: try-on ${prefix}${guess}` : 'See all commands: try-on help',
  )
}

function unknownOption(flag: string, command: CommandUnknownOpts): UsageError {
  const path = `try-on ${nameOf(command)}`.trim()
  const known = optionsOf(command).map(({ long }) => long ?? '')
  const [name = ''] = flag.split('=')
  if (known.includes(name)) return new UsageError(`The option ${name} does not take a value.`)
  const guess = nearest(name, known)
  return new UsageError(
    `Unknown option ${name} of ${path}.`,
    guess ? `Did you mean: ${guess}` : `See its options: ${path} --help`,
  )
}

/** @param flags for example `-o, --output <FILE>` */
function missingValue(flags: string): UsageError {
  const usage = flags.replace(/^-\w, /, '').replace(/[<>]/g, '')
  return new UsageError(`The option ${usage.replace(/ .*/, '')} needs a value: ${usage}`)
}

const missingArgument = (name: string, command: CommandUnknownOpts) =>
  new UsageError(`The argument <${name}> is missing.`, seeArguments(command))

const seeArguments = (command: CommandUnknownOpts) =>
  `See its arguments: try-on ${nameOf(command)} --help`

function checkChoice(name: string, value: string, choices: readonly string[] = [value]): void {
  if (choices.includes(value)) return
  const guess = nearest(value, choices)
  throw new UsageError(
    `${name} must be one of ${choices.join(', ')}.`,
    ...(guess ? [`Did you mean: ${guess}`] : []),
  )
}

/** The candidate that the user probably meant: at most two letters, or a third, differ. */
const nearest = (text: string, candidates: readonly string[]): string | undefined =>
  closestMatch(text, candidates, { maxDistance: Math.max(2, Math.floor(text.length / 3)) })
