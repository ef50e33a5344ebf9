// try-on completion, and try-on complete: what the shells call for each Tab.
import {
  Argument,
  Command,
  type CommandUnknownOpts,
  type Option,
} from '@commander-js/extra-typings'
import { childrenOf, optionsOf } from './command-tree.ts'
import type { Context } from './context.ts'
import { examples } from './help.ts'

type Shell = 'bash' | 'zsh' | 'fish'
type Candidate = { word: string; summary: string }

/** Printed instead of candidates where the shell completes names of files. */
const FILES = ':files'
/** The arguments and values that are files. */
const FILE_NAMES = new Set(['FILE', 'file', 'model', 'garment'])

/** The script of a shell. It calls `try-on complete` with the words up to the cursor. */
const SCRIPTS: Record<Shell, string> = {
  bash: `# bash completion of try-on. Load it with: source <(try-on completion bash)
_try_on() {
  local IFS=$'\\n'
  COMPREPLY=($(try-on complete bash -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
  if [[ \${COMPREPLY[0]-} == ${FILES} ]]; then COMPREPLY=(); compopt -o default; fi
}
complete -F _try_on try-on`,
  zsh: `#compdef try-on
# zsh completion of try-on. Load it with: source <(try-on completion zsh)
_try_on() {
  local -a candidates
  candidates=(\${(f)"$(try-on complete zsh -- "\${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if [[ $candidates[1] == ${FILES} ]]; then _files; else _describe -V try-on candidates; fi
}
# Loaded from a folder of $fpath, the script is the function; sourced, it registers the function.
if [[ $funcstack[1] == _try-on ]]; then _try_on "$@"; else compdef _try_on try-on; fi`,
  fish: `# fish completion of try-on. Load it with: try-on completion fish | source
function __try_on
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  set -l candidates (try-on complete fish -- $words[2..-1] "$current" 2>/dev/null)
  if test "$candidates" = ${FILES}
    __fish_complete_path "$current"
  else
    printf '%s\\n' $candidates
  end
end
complete -c try-on -f -a '(__try_on)'`,
}

/** How a shell reads a candidate. */
const FORMATS: Record<Shell, (candidate: Candidate) => string> = {
  bash: ({ word }) => word,
  zsh: ({ word, summary }) => `${word.replaceAll(':', String.raw`\:`)}:${summary}`,
  fish: ({ word, summary }) => `${word}\t${summary}`,
}

const shell = () => new Argument('<shell>', 'Your shell.').choices(['bash', 'zsh', 'fish'])

export const completion = ({ output }: Context) =>
  new Command('completion')
    .description('Print a script that completes commands and options in your shell.')
    .addArgument(shell())
    .addHelpText(
      'after',
      examples(
        'source <(try-on completion bash)',
        'source <(try-on completion zsh)',
        'try-on completion fish | source',
      ),
    )
    .action((name) => output.text(SCRIPTS[name]))

export const complete = (program: CommandUnknownOpts, { output }: Context) =>
  new Command('complete')
    .addArgument(shell())
    .argument('[words...]')
    .action((name, words) => {
      const found = candidates(program, words)
      const lines = found === FILES ? [FILES] : found.map(FORMATS[name])
      if (lines.length > 0) output.text(lines.join('\n'))
    })

/** What can stand in the place of the last word. */
function candidates(
  program: CommandUnknownOpts,
  words: readonly string[],
): Candidate[] | typeof FILES {
  const current = words.at(-1) ?? ''
  const { command, args, option } = readWords(program, words.slice(0, -1))
  if (command.name() === 'help') return candidates(program, [...args, current])

  const matching = (all: Candidate[]) => all.filter(({ word }) => word.startsWith(current))
  const values = (name: string, choices: readonly string[] = []) =>
    FILE_NAMES.has(name) ? FILES : matching(choices.map((word) => ({ word, summary: '' })))
  if (option) return values(/<(.*)>/.exec(option.flags)?.[1] ?? '', option.argChoices)
  if (current.startsWith('-')) return matching(optionsOf(command).map(optionCandidate))
  if (command.commands.length > 0) {
    return matching(childrenOf(command).map(commandCandidate))
  }
  const argument = command.registeredArguments[args.length]
  return argument ? values(argument.name(), argument.argChoices) : []
}

/** The command that the words name, its arguments, and the option whose value comes next. */
function readWords(program: CommandUnknownOpts, words: readonly string[]) {
  let command = program
  let option: Option | undefined
  const args: string[] = []
  for (const word of words) {
    const child = command.commands.find((candidate) => candidate.name() === word)
    if (option) option = undefined
    else if (word.startsWith('-')) {
      option = optionsOf(command).find(
        ({ required, short, long }) => required && [short, long].includes(word),
      )
    } else if (child) command = child
    else args.push(word)
  }
  return { command, args, option }
}

const optionCandidate = ({ long, description }: Option): Candidate => ({
  word: long ?? '',
  summary: description,
})

const commandCandidate = (command: CommandUnknownOpts): Candidate => ({
  word: command.name(),
  summary: command.summary() || command.description(),
})
