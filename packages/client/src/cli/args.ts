// Reads the arguments of the process: the command, its arguments and its options.
import { parseArgs } from 'node:util'
import { GLOBAL_OPTIONS } from './command.ts'
import type { Command, OptionSpec } from './command.ts'
import { UsageError } from './errors.ts'
import { nearest } from './nearest.ts'

/** The options of an invocation, checked against the command. */
export class Options {
  readonly #values: ReadonlyMap<string, string | true>

  constructor(values: ReadonlyMap<string, string | true>) {
    this.#values = values
  }

  flag(name: string): boolean {
    return this.#values.has(name)
  }

  text(name: string): string | undefined {
    const value = this.#values.get(name)
    return typeof value === 'string' ? value : undefined
  }

  /** @throws UsageError unless the option is given and not empty */
  requiredText(name: string): string {
    const value = this.text(name)
    if (!value) throw new UsageError(`The option --${name} is required.`)
    return value
  }

  /** @throws UsageError unless the value is a whole number from min to max */
  integer(name: string, { min, max }: { min: number; max: number }): number | undefined {
    const value = this.text(name)
    if (value === undefined) return undefined
    const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN
    if (!(number >= min && number <= max)) {
      throw new UsageError(`--${name} must be a whole number from ${min} to ${max}.`)
    }
    return number
  }
}

export type Invocation =
  | { kind: 'run'; command: Command; args: string[]; options: Options }
  | { kind: 'help'; topic: string[] }
  | { kind: 'version' }

type Token = { name: string; rawName: string; value: string | undefined; isInline: boolean }

/**
 * Options may stand before and after the name of the command.
 * @throws UsageError with the nearest name for an unknown command or option
 */
export function readArguments(argv: string[], commands: readonly Command[]): Invocation {
  const { positionals, options: tokens } = tokenise(argv, commands)
  if (tokens.some(({ name }) => name === 'version')) return { kind: 'version' }
  const command = findCommand(positionals, commands)
  const wantsHelp = tokens.some(({ name }) => name === 'help')
  if (!command) {
    const isGroup = commands.some(({ name }) => name.split(' ')[0] === positionals[0])
    if (positionals.length === 0 || (isGroup && positionals.length === 1)) {
      checkTokens(tokens, GLOBAL_OPTIONS, 'try-on')
      return { kind: 'help', topic: positionals }
    }
    throw unknownCommand(positionals, commands)
  }
  if (wantsHelp) return { kind: 'help', topic: command.name.split(' ') }
  const permitted = [...(command.options ?? []), ...GLOBAL_OPTIONS]
  const options = checkTokens(tokens, permitted, `try-on ${command.name}`)
  const args = positionals.slice(command.name.split(' ').length)
  checkArgs(args, command)
  return { kind: 'run', command, args, options: new Options(options) }
}

/** @throws UsageError that names the nearest command */
export function unknownCommand(words: readonly string[], commands: readonly Command[]): UsageError {
  const names = commands.map(({ name }) => name)
  const group = names.filter((name) => name.startsWith(`${words[0]} `))
  const entered = words.slice(0, group.length > 0 ? 2 : 1).join(' ')
  const firstWords = [...new Set(names.map((name) => name.split(' ')[0] ?? name))]
  const suggestion = nearest(entered, group.length > 0 ? group : firstWords)
  return new UsageError(
    `Unknown command "${entered}".`,
    suggestion ? `Did you mean: try-on ${suggestion}` : 'See all commands: try-on help',
  )
}

function tokenise(argv: string[], commands: readonly Command[]) {
  // The command is known only after parsing, so that the parser gets the options of all commands.
  const all = [...GLOBAL_OPTIONS, ...commands.flatMap(({ options = [] }) => options)]
  const { tokens, positionals } = parseArgs({
    args: argv,
    strict: false,
    allowPositionals: true,
    tokens: true,
    options: Object.fromEntries(
      all.map(({ name, short, value }) => [
        name,
        { type: value ? 'string' : 'boolean', ...(short && { short }) } as const,
      ]),
    ),
  })
  const options = tokens.flatMap((token): Token[] =>
    token.kind === 'option'
      ? [
          {
            name: token.name,
            rawName: token.rawName,
            value: token.value,
            isInline: token.inlineValue ?? false,
          },
        ]
      : [],
  )
  return { positionals, options }
}

function findCommand(words: readonly string[], commands: readonly Command[]) {
  return commands.find(({ name }) => name.split(' ').every((word, index) => word === words[index]))
}

function checkTokens(tokens: Token[], specs: readonly OptionSpec[], command: string) {
  const values = new Map<string, string | true>()
  for (const { name, rawName, value, isInline } of tokens) {
    const spec = specs.find((candidate) => candidate.name === name)
    if (!spec) {
      const suggestion = nearest(
        name,
        specs.map((candidate) => candidate.name),
      )
      throw new UsageError(
        `Unknown option ${rawName} of ${command}.`,
        suggestion ? `Did you mean: --${suggestion}` : `See its options: ${command} --help`,
      )
    }
    if (spec.value && (value === undefined || (!isInline && /^-./.test(value)))) {
      throw new UsageError(`The option ${rawName} needs a value: ${rawName} ${spec.value}`)
    }
    if (!spec.value && value !== undefined) {
      throw new UsageError(`The option ${rawName} does not take a value.`)
    }
    checkChoice(rawName, value, spec.choices)
    values.set(name, value ?? true)
  }
  return values
}

function checkArgs(args: readonly string[], { name, args: specs = [] }: Command) {
  const usage = `See its arguments: try-on ${name} --help`
  const missing = specs.find(({ isOptional }, index) => !isOptional && !args[index])
  if (missing) throw new UsageError(`The argument <${missing.name}> is missing.`, usage)
  if (args.length > specs.length) {
    throw new UsageError(`Unexpected argument "${args[specs.length]}".`, usage)
  }
  for (const [index, spec] of specs.entries()) {
    checkChoice(`<${spec.name}>`, args[index], spec.choices)
  }
}

function checkChoice(name: string, value: string | undefined, choices?: readonly string[]) {
  if (value === undefined || !choices || choices.includes(value)) return
  const suggestion = nearest(value, choices)
  throw new UsageError(
    `${name} must be one of ${choices.join(', ')}.`,
    ...(suggestion ? [`Did you mean: ${suggestion}`] : []),
  )
}
