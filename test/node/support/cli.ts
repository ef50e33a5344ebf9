// Runs the command line as a child process for tests, with a configuration folder of its own.
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../../../scripts/wrangler.ts'
import { sharedService } from './service.ts'

export const CLI = join(ROOT, 'packages', 'client', 'src', 'cli', 'main.ts')

/** Node has no pseudo-terminals. */
const TERMINAL = 'import pty, os, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))'

export interface CliResult {
  code: number | null
  stdout: string
  stderr: string
}

export interface RunningCli {
  child: ChildProcessWithoutNullStreams
  /** Resolves when the output matches. @throws Error when the process ends before */
  untilPrinted(pattern: RegExp): Promise<RegExpExecArray>
  ended: Promise<CliResult>
}

export class CliHome {
  /** The home folder and working directory of the processes. */
  readonly folder = mkdtempSync(join(tmpdir(), 'try-on-cli-'))
  readonly #env: Record<string, string>
  readonly #children = new Set<ChildProcessWithoutNullStreams>()

  /** @param env variables of all processes, for example TRY_ON_API_KEY */
  constructor(env: Record<string, string> = {}) {
    this.#env = env
  }

  get configFile(): string {
    return join(this.folder, 'config', 'try-on', 'config.json')
  }

  path(name: string): string {
    return join(this.folder, name)
  }

  start(args: readonly string[], env: Record<string, string> = {}): RunningCli {
    return this.#spawn([process.execPath, CLI, ...args], env)
  }

  /** Its output, also that of stderr, is on stdout. Write what a user types to `child.stdin`. */
  startOnTerminal(args: readonly string[], env: Record<string, string> = {}): RunningCli {
    const command = ['python3', '-c', TERMINAL, process.execPath, CLI, ...args]
    return this.#spawn(command, { TERM: 'xterm', ...env })
  }

  #spawn([program = '', ...args]: string[], env: Record<string, string>): RunningCli {
    const child = spawn(program, args, {
      cwd: this.folder,
      env: {
        ...process.env,
        TRY_ON_API_KEY: undefined,
        TRY_ON_BASE_URL: undefined,
        TRY_ON_WEBHOOK_SECRET: undefined,
        NO_COLOR: undefined,
        HOME: this.folder,
        XDG_CONFIG_HOME: join(this.folder, 'config'),
        ...this.#env,
        ...env,
      },
    })
    this.#children.add(child)
    child.once('close', () => this.#children.delete(child))
    const result: CliResult = { code: null, stdout: '', stderr: '' }
    child.stdout.on('data', (chunk) => (result.stdout += chunk))
    child.stderr.on('data', (chunk) => (result.stderr += chunk))
    const ended = once(child, 'close').then(() => ({ ...result, code: child.exitCode }))
    const untilPrinted = (pattern: RegExp) =>
      new Promise<RegExpExecArray>((resolve, reject) => {
        const check = () => {
          const match = pattern.exec(result.stdout + result.stderr)
          if (match) resolve(match)
        }
        child.stdout.on('data', check)
        child.stderr.on('data', check)
        check()
        void ended.then(() => reject(new Error(`${pattern} was not printed: ${show(result)}`)))
      })
    return { child, untilPrinted, ended }
  }

  /** Runs a command to its end. @param input what it reads from standard input */
  run(args: readonly string[], env?: Record<string, string>, input = ''): Promise<CliResult> {
    const { child, ended } = this.start(args, env)
    child.stdin.end(input)
    return ended
  }

  /** Ends the processes that a failed test has left. */
  remove(): void {
    for (const child of this.#children) child.kill('SIGKILL')
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** A new organisation of the service, and a home whose processes use its test key. */
export async function newShop() {
  const service = sharedService()
  const organisation = await service.newOrganisation({ rate_limit_per_minute: 1000 })
  const home = new CliHome({
    TRY_ON_API_KEY: organisation.api_keys.test,
    TRY_ON_BASE_URL: service.url,
  })
  return { organisation, home }
}

const show = ({ stdout, stderr }: CliResult): string => `${stdout}\n${stderr}`
