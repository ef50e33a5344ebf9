// What help, completion and error messages need to know about the commands.
import { Help, type CommandUnknownOpts, type Option } from '@commander-js/extra-typings'

/** The commands and groups directly below `command`. */
export const childrenOf = (command: CommandUnknownOpts): CommandUnknownOpts[] =>
  new Help().visibleCommands(command)

/** The commands below `command` that run something: `jobs list`, not the group `jobs`. */
export const leafCommands = (command: CommandUnknownOpts): CommandUnknownOpts[] =>
  childrenOf(command).flatMap((child) =>
    child.commands.length > 0 ? leafCommands(child) : [child],
  )

/** The words after `try-on`, for example `jobs list`. */
export const nameOf = (command: CommandUnknownOpts): string =>
  command.parent ? `${nameOf(command.parent)} ${command.name()}`.trim() : ''

/** The options of a command, and those of every command. */
export function optionsOf(command: CommandUnknownOpts): Option[] {
  const help = command.createHelp()
  return [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)]
}
