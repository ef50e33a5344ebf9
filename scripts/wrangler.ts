// Runs wrangler commands and development servers for the other scripts.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const ROOT = join(import.meta.dirname, '..')

const WRANGLER = join(ROOT, 'node_modules', 'wrangler', 'bin', 'wrangler.js')

const ENV = {
  ...process.env,
  // Metrics and the Cf object need the network and are not needed locally.
  WRANGLER_SEND_METRICS: 'false',
  CLOUDFLARE_CF_FETCH_ENABLED: 'false',
  NO_UPDATE_NOTIFIER: '1',
}

/** Runs a wrangler command. @throws Error with its output when it fails */
export function wrangler(...args: string[]): string {
  const run = spawnSync(process.execPath, [WRANGLER, ...args], {
    cwd: ROOT,
    env: ENV,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  if (run.status !== 0) throw new Error(`wrangler ${args[0]} failed:\n${run.stdout}${run.stderr}`)
  return run.stdout
}

/**
 * Runs a wrangler command without blocking.
 * @param env additional environment variables
 * @param onOutput receives its output while it runs
 * @returns its output
 * @throws Error with its output when it fails
 */
export async function wranglerAsync(
  args: string[],
  {
    env,
    onOutput = () => {},
  }: { env?: Record<string, string> | undefined; onOutput?: (text: string) => void } = {},
): Promise<string> {
  const child = spawn(process.execPath, [WRANGLER, ...args], {
    cwd: ROOT,
    env: { ...ENV, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const listen = (chunk: Buffer) => {
    onOutput(chunk.toString())
    output += chunk.toString()
  }
  child.stdout.on('data', listen)
  child.stderr.on('data', listen)
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', resolve)
  })
  if (code !== 0) throw new Error(`wrangler ${args.slice(0, 3).join(' ')} failed:\n${output}`)
  return output
}

export interface DevServer {
  /** Without a trailing slash. */
  url: string
  /** Resolves with the exit code when the server has exited. */
  ended: Promise<number>
  stop(): Promise<void>
}

/**
 * Starts `wrangler dev` and waits until it accepts requests.
 * @param onOutput receives its output
 * @throws Error when it exits before it is ready
 */
export function startDevServer(
  args: string[],
  onOutput: (text: string) => void,
): Promise<DevServer> {
  const defaults = ['--show-interactive-dev-session=false']
  if (!hasOption(args, '--inspector-port')) defaults.push('--inspector-port', '0')
  const child = spawn(process.execPath, [WRANGLER, 'dev', ...defaults, ...args], {
    cwd: ROOT,
    env: ENV,
    // wrangler sends a message when it is ready. Its output depends on --log-level.
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  const ended = new Promise<number>((resolve) => child.on('exit', (code) => resolve(code ?? 1)))
  const stop = async () => {
    child.kill('SIGTERM')
    await ended
  }
  let output = ''
  const listen = (chunk: Buffer) => {
    const text = chunk.toString()
    onOutput(text)
    output = (output + text).slice(-10_000)
  }
  child.stdout?.on('data', listen)
  child.stderr?.on('data', listen)
  return new Promise((resolve, reject) => {
    child.on('message', (message) => {
      const { event, ip, port } = JSON.parse(String(message)) as Record<string, string>
      if (event !== 'DEV_SERVER_READY') return
      const host = ip === '0.0.0.0' ? 'localhost' : ip
      resolve({ url: `http://${host}:${port}`, ended, stop })
    })
    void ended.then((code) =>
      reject(new Error(`wrangler dev exited with ${code} before it was ready:\n${output}`)),
    )
  })
}

/** The value of an option given as `--name value` or `--name=value`. */
export function optionOf(args: string[], name: string): string | undefined {
  const at = args.indexOf(name)
  if (at >= 0) return args[at + 1]
  return args.find((arg) => arg.startsWith(`${name}=`))?.slice(name.length + 1)
}

const hasOption = (args: string[], name: string) => optionOf(args, name) !== undefined

/**
 * The arguments of the wrangler process that runs this build, which passes only its command to it.
 * Empty if no such process is found.
 */
export function wranglerArguments(): string[] {
  let pid = process.ppid
  // Between them are a shell and, on some systems, npm.
  for (let generation = 0; generation < 4 && pid > 1; generation++) {
    const { parent, args } = processOf(pid)
    const at = args.findIndex((arg) => /wrangler-dist[\\/]cli\.js$/.test(arg))
    if (at >= 0) return args.slice(at + 1)
    pid = parent
  }
  return []
}

function processOf(pid: number): { parent: number; args: string[] } {
  const file = `/proc/${pid}/cmdline`
  const ps = (field: string) =>
    spawnSync('ps', ['-ww', '-o', `${field}=`, '-p', `${pid}`], { encoding: 'utf8' }).stdout ?? ''
  // Slim images of Linux have no ps.
  if (!existsSync(file)) return { parent: Number(ps('ppid')), args: ps('args').trim().split(' ') }
  const [, parent] = /^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return { parent: Number(parent), args: readFileSync(file, 'utf8').split('\0') }
}
