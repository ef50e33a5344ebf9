// The completion scripts for bash, zsh and fish, generated from the definitions of the commands.
import { GLOBAL_OPTIONS } from './command.ts'
import type { Command, OptionSpec } from './command.ts'

export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

/** A word that can follow, with its description. */
type Word = readonly [word: string, summary: string]

/** The script. It completes commands, options, values with fixed choices, and files. */
export function completionScript(shell: Shell, commands: readonly Command[]): string {
  return { bash, zsh, fish }[shell](commands)
}

function bash(commands: readonly Command[]): string {
  const reply = (words: readonly Word[]) =>
    `COMPREPLY=($(compgen -W ${quote(names(words))} -- "$current"))`
  return `# bash completion of try-on. Load it with: source <(try-on completion bash)
_try_on() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]}
  local positional=() index word
  for ((index = 1; index < COMP_CWORD; index++)); do
    word=\${COMP_WORDS[index]}
    case $word in
      ${valueOptions(commands)}) ((index++)) ;;
      -*) ;;
      *) positional+=("$word") ;;
    esac
  done
  COMPREPLY=()
  case $previous in
${valueCases(commands, reply, 'compopt -o default')}
  esac
  local line=\${positional[*]}
  if [[ $current == -* ]]; then
    case "$line " in
${optionCases(commands, reply)}
    esac
    return
  fi
  case $line in
${positionCases(commands, reply, 'compopt -o default')}
  esac
}
complete -F _try_on try-on
`
}

function zsh(commands: readonly Command[]): string {
  const reply = (words: readonly Word[]) => {
    const described = words.map(([word, summary]) =>
      quote(`${word.replaceAll(':', String.raw`\:`)}${summary ? `:${summary}` : ''}`),
    )
    return `candidates=(${described.join(' ')}); _describe -V try-on candidates`
  }
  return `#compdef try-on
# zsh completion of try-on. Load it with: source <(try-on completion zsh)
_try_on() {
  local -a positional candidates
  local index word line
  for ((index = 2; index < CURRENT; index++)); do
    word=$words[index]
    case $word in
      (${valueOptions(commands)}) ((index++)) ;;
      (-*) ;;
      (*) positional+=("$word") ;;
    esac
  done
  case $words[CURRENT-1] in
${valueCases(commands, reply, '_files')}
  esac
  line="$positional"
  if [[ $words[CURRENT] == -* ]]; then
    case "$line " in
${optionCases(commands, reply)}
    esac
    return
  fi
  case $line in
${positionCases(commands, reply, '_files')}
  esac
}
# Loaded from a folder of $fpath, the script is the function; sourced, it registers the function.
if [[ $funcstack[1] == _try-on ]]; then _try_on "$@"; else compdef _try_on try-on; fi
`
}

function fish(commands: readonly Command[]): string {
  const lines = ['# fish completion of try-on. Load it with: try-on completion fish | source']
  const add = (condition: string, rest: string) =>
    lines.push(`complete -c try-on${condition && ` -n ${fishQuote(condition)}`} ${rest}`)
  const option = ({ name, short, value, choices, isFile, summary }: OptionSpec) =>
    [
      ...(short ? [`-s ${short}`] : []),
      `-l ${name}`,
      ...(value ? [isFile ? '-r -F' : '-x'] : []),
      ...(choices ? [`-a ${fishQuote(choices.join(' '))}`] : []),
      `-d ${fishQuote(summary)}`,
    ].join(' ')
  lines.push('complete -c try-on -f')
  for (const spec of GLOBAL_OPTIONS) add('', option(spec))
  for (const [word, summary] of firstWords(commands)) {
    add('__fish_use_subcommand', `-a ${word} -d ${fishQuote(summary)}`)
  }
  for (const { name, summary, args = [], options = [] } of commands) {
    const [first = '', second] = name.split(' ')
    const seen = (word: string) => `__fish_seen_subcommand_from ${word}`
    if (second) {
      const members = namesInGroup(commands, first)
      add(`${seen(first)}; and not ${seen(members)}`, `-a ${second} -d ${fishQuote(summary)}`)
    }
    const condition = second ? `${seen(first)}; and ${seen(second)}` : seen(first)
    for (const spec of options) add(condition, option(spec))
    if (args.some(({ isFile }) => isFile)) add(condition, '-F')
    const [choices] = args.flatMap((arg) => (arg.choices ? [arg.choices] : []))
    if (choices) add(condition, `-a ${fishQuote(choices.join(' '))}`)
  }
  add('__fish_seen_subcommand_from help', `-a ${fishQuote(names(firstWords(commands)))}`)
  return `${lines.join('\n')}\n`
}

/** The pattern of all options that take a value. */
const valueOptions = (commands: readonly Command[]): string =>
  optionsOf(commands)
    .filter(({ value }) => value)
    .map(flags)
    .join('|')

type Reply = (words: readonly Word[]) => string

/** What follows an option that takes a value. */
function valueCases(commands: readonly Command[], reply: Reply, files: string): string {
  const cases = optionsOf(commands)
    .filter(({ value }) => value)
    .map((option) => {
      const action = option.isFile ? files : option.choices ? reply(plain(option.choices)) : ':'
      return `    (${flags(option)}) ${action}; return ;;`
    })
  return cases.join('\n')
}

/** The options of a command. Its name is the start of the line. */
function optionCases(commands: readonly Command[], reply: Reply): string {
  const words = (options: readonly OptionSpec[]) =>
    options.map(({ name, summary }): Word => [`--${name}`, summary])
  const cases = commands.map(
    ({ name, options = [] }) =>
      `      (${quote(`${name} `)}*) ${reply(words([...options, ...GLOBAL_OPTIONS]))} ;;`,
  )
  return [...cases, `      (*) ${reply(words(GLOBAL_OPTIONS))} ;;`].join('\n')
}

/** The next word after the words of the line. */
function positionCases(commands: readonly Command[], reply: Reply, files: string): string {
  const groups = [...new Set(commands.map(({ name }) => name.split(' ')))].flatMap(
    ([first, second]) => (first && second ? [first] : []),
  )
  const cases = [`    ('') ${reply(firstWords(commands))} ;;`]
  for (const group of new Set(groups)) {
    const members = commands.filter(({ name }) => name.startsWith(`${group} `))
    const words = members.map(({ name, summary }): Word => [name.split(' ')[1] ?? '', summary])
    cases.push(`    (${quote(group)}|${quote(`help ${group}`)}) ${reply(words)} ;;`)
  }
  for (const { name, args = [] } of commands) {
    const [choices] = args.flatMap((arg) => (arg.choices ? [arg.choices] : []))
    if (choices) cases.push(`    (${quote(name)}) ${reply(plain(choices))} ;;`)
    if (args.some(({ isFile }) => isFile)) {
      cases.push(`    (${quote(name)}|${quote(`${name} `)}*) ${files} ;;`)
    }
  }
  cases.push(`    (help) ${reply(firstWords(commands))} ;;`)
  return cases.join('\n')
}

/** All options, each name once. Options of the same name take values in all commands or in none. */
function optionsOf(commands: readonly Command[]): OptionSpec[] {
  const all = [...GLOBAL_OPTIONS, ...commands.flatMap(({ options = [] }) => options)]
  return [...new Map(all.map((option) => [option.name, option])).values()]
}

/** The commands and groups. */
function firstWords(commands: readonly Command[]): Word[] {
  const words = new Map<string, string>()
  for (const { name, summary } of commands) {
    const [first = '', second] = name.split(' ')
    words.set(first, second ? `Commands: ${namesInGroup(commands, first)}` : summary)
  }
  return [...words]
}

const namesInGroup = (commands: readonly Command[], group: string): string =>
  commands
    .filter(({ name }) => name.startsWith(`${group} `))
    .map(({ name }) => name.split(' ')[1])
    .join(' ')

const flags = ({ name, short }: OptionSpec): string => `${short ? `-${short}|` : ''}--${name}`

const plain = (words: readonly string[]): Word[] => words.map((word) => [word, ''])

const names = (words: readonly Word[]): string => words.map(([word]) => word).join(' ')

const quote = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

const fishQuote = (text: string): string => `'${text.replaceAll(/['\\]/g, String.raw`\$&`)}'`
