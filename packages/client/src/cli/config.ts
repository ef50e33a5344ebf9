// The configuration file that `try-on login` writes. It contains an API key, so that only its owner may
// read it.
import { chmod, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import { CliError } from './errors.ts'

/** The variables of the process. */
export type Environment = Readonly<Record<string, string | undefined>>

export interface Config {
  baseUrl?: string
  apiKey?: string
  webhookSecret?: string
}

/** `problem` says why an existing file is ignored. */
export interface LoadedConfig extends Config {
  problem?: string
}

/** `$XDG_CONFIG_HOME/try-on/config.json`; the default of XDG_CONFIG_HOME is ~/.config. */
export function configPath(env: Environment): string {
  // The XDG specification requires that relative paths are ignored.
  const root = env.XDG_CONFIG_HOME
  const folder = root && isAbsolute(root) ? root : join(env.HOME || homedir(), '.config')
  return join(folder, 'try-on', 'config.json')
}

/** Empty without a file. A file that others can read, or that is not valid, is ignored. */
export async function readConfig(env: Environment): Promise<LoadedConfig> {
  const path = configPath(env)
  try {
    // Windows has no permission bits.
    const isOpen = process.platform !== 'win32' && ((await stat(path)).mode & 0o077) !== 0
    if (isOpen) {
      return {
        problem: `${path} is ignored: other users can read it. Run: chmod 600 ${path}`,
      }
    }
    return parse(await readFile(path, 'utf8')) ?? { problem: `${path} is ignored: not valid JSON.` }
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return {}
    return { problem: `${path} is ignored: ${codeOf(error)}` }
  }
}

/**
 * Replaces the file. Folder 0700, file 0600.
 * @throws CliError when the file cannot be written
 */
export async function writeConfig(env: Environment, config: Config): Promise<string> {
  const path = configPath(env)
  const folder = dirname(path)
  const temporary = join(folder, `config.${process.pid}.tmp`)
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    // mkdir does not change a folder that exists.
    await chmod(folder, 0o700)
    const { baseUrl: base_url, apiKey: api_key, webhookSecret: webhook_secret } = config
    const text = JSON.stringify({ base_url, api_key, webhook_secret }, null, 2)
    await rm(temporary, { force: true })
    await writeFile(temporary, `${text}\n`, { mode: 0o600, flag: 'wx' })
    await rename(temporary, path)
  } catch (error) {
    throw new CliError('file_error', `Cannot write ${path}: ${codeOf(error)}`)
  }
  return path
}

/** @returns whether there was a file */
export async function deleteConfig(env: Environment): Promise<boolean> {
  const path = configPath(env)
  try {
    await rm(path)
    return true
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false
    throw new CliError('file_error', `Cannot delete ${path}: ${codeOf(error)}`)
  }
}

function parse(text: string): Config | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (typeof value !== 'object' || value === null) return undefined
  const field = (name: string): string | undefined => {
    const content: unknown = Reflect.get(value, name)
    return typeof content === 'string' ? content : undefined
  }
  const baseUrl = field('base_url')
  const apiKey = field('api_key')
  const webhookSecret = field('webhook_secret')
  return {
    ...(baseUrl && { baseUrl }),
    ...(apiKey && { apiKey }),
    ...(webhookSecret && { webhookSecret }),
  }
}

/** The code of an error of node:fs, for example EACCES. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : String(error)
