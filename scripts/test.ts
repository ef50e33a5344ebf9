// Runs the tests: `npm test [-- FOLDER…]`.
//   FOLDER        `jobs` for test/jobs, `compositor` for packages/compositor/test, `browser` for test/browser,
//                 or one file, such as `jobs/sweep`
//   --all         every case of the matrices of which `npm test` runs a sample
//   --only KIND   worker, node or browser
//   --shard I/N   the I-th of N parts of each kind
// The last line counts the tests of all kinds.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  existsSync,
  globSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statfsSync,
} from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { chromiumPath, launchOptions } from './chromium.ts'
import { ROOT } from './wrangler.ts'

interface Kind {
  name: string
  include: string[]
  exclude: string[]
  run: (files: readonly string[], shard: Shard, output: Output) => Promise<Result>
}

/** Kinds that wait more than they compute run beside those that compute: first the one, then the other. */
const LANES: Kind[][] = [
  [
    {
      name: 'worker',
      include: ['test/**/*.test.{ts,tsx}', 'packages/*/test/**/*.test.ts'],
      exclude: ['test/{node,browser}/**'],
      run: runVitest,
    },
  ],
  [
    { name: 'node', include: ['test/node/*.test.ts'], exclude: [], run: runNode },
    { name: 'browser', include: ['test/browser/*.test.ts'], exclude: [], run: runBrowser },
  ],
]

/** `I/N`: the I-th of N parts of the files. */
type Shard = string | undefined

/** Of a runner: this terminal, or a file, so that the outputs of two runners do not mix. */
type Output = 'inherit' | number

/** What a reporter writes to the file `TEST_RESULT`, or to its destination. */
export interface Result {
  passed: number
  skipped: number
  failures: Failure[]
}

export interface Failure {
  /** The name of the test, or the error outside of tests. */
  name: string
  /** An absolute path. Without it, any file may have caused the error. */
  file?: string | undefined
}

const { values: options, positionals: folders } = parseArgs({
  allowPositionals: true,
  options: {
    all: { type: 'boolean', default: false },
    only: { type: 'string' },
    shard: { type: 'string' },
  },
})

const isChosen = (file: string): boolean => {
  const name = file.replace(/^test\//, '').replace(/^packages\/([^/]+)\/test\//, '$1/')
  return folders.some((folder) =>
    [file, name].some((path) => path.startsWith(`${folder}/`) || path.startsWith(`${folder}.`)),
  )
}

type Chosen = Pick<Kind, 'name' | 'run'> & { files: string[] }

/** The files of a kind that the command names; all if it names none. */
function choose({ name, include, exclude, run }: Kind): Chosen {
  const all = globSync(include, { cwd: ROOT, exclude }).sort()
  const files = folders.length > 0 ? all.filter(isChosen) : all
  return { name, run, files: (options.only ?? name) === name ? files : [] }
}

/** Runs a program of Node and waits for it. @returns whether it succeeded */
async function runNodeProgram(
  args: readonly string[],
  output: Output = 'inherit',
  env: NodeJS.ProcessEnv = {},
): Promise<boolean> {
  const program = spawn(process.execPath, args, {
    cwd: ROOT,
    stdio: ['ignore', output, output],
    env: { ...process.env, ...env },
  })
  const [code] = await once(program, 'close')
  return code === 0
}

/** Linux's file system in memory. */
const MEMORY = '/dev/shm'
const MIN_MEMORY_BYTES = 1_024 ** 3
// The databases of the tests are there if enough is free: on a disk, a sixth of the time is for its synchronisation.
if (existsSync(MEMORY)) {
  const { bavail, bsize } = statfsSync(MEMORY)
  if (bavail * bsize > MIN_MEMORY_BYTES) process.env['TMPDIR'] ??= MEMORY
}

/** How many files of the other kinds run beside those of the Worker. More would only slow each other down. */
const FILES_BESIDE = Math.ceil(availableParallelism() / 4)

// Spares each file and each command the compilation of the modules that it shares with others.
process.env['NODE_COMPILE_CACHE'] ??= join(ROOT, 'node_modules', '.cache', 'compiled')
const folder = mkdtempSync(join(tmpdir(), 'try-on-tests-'))
const matrix = options.all ? 'all' : 'sample'

/** Reads and deletes what a runner has written. A runner that wrote nothing, or failed without a test, failed. */
function resultOf(file: string, succeeded: boolean): Result {
  try {
    const result: Result = JSON.parse(readFileSync(file, 'utf8'))
    rmSync(file)
    if (!succeeded && result.failures.length === 0)
      result.failures.push({ name: 'The runner failed.' })
    return result
  } catch (error) {
    return { passed: 0, skipped: 0, failures: [{ name: `The runner has not ended: ${error}` }] }
  }
}

async function runVitest(files: readonly string[], shard: Shard, output: Output): Promise<Result> {
  const args = ['run', ...(shard ? [`--shard=${shard}`] : []), ...files]
  const result = join(folder, 'worker')
  const env = { TEST_RESULT: result, TEST_MATRIX: matrix }
  return resultOf(
    result,
    await runNodeProgram(['node_modules/vitest/vitest.mjs', ...args], output, env),
  )
}

/** Settings of the service that the files of a kind share, and how many of them run at a time. */
interface Sharing {
  vars?: Record<string, string>
  env?: NodeJS.ProcessEnv
  filesAtATime?: number
}

async function runNode(
  files: readonly string[],
  shard: Shard,
  output: Output,
  { vars = {}, env = {}, filesAtATime = FILES_BESIDE }: Sharing = {},
): Promise<Result> {
  // Imported here, because loading Miniflare takes a second.
  const { prepareService, share, startService } = await import('./test-service.ts')
  await prepareService(join(folder, 'service'))
  const service = await startService(vars)
  const shared = await share(service)
  const result = join(folder, 'node')
  const args = [
    '--test',
    `--test-concurrency=${filesAtATime}`,
    ...(shard ? [`--test-shard=${shard}`] : []),
    '--test-reporter=spec',
    '--test-reporter-destination=stdout',
    '--test-reporter=./scripts/node-reporter.ts',
    `--test-reporter-destination=${result}`,
    ...files,
  ]
  try {
    const environment = { ...env, ...shared.env, TEST_MATRIX: matrix }
    return resultOf(result, await runNodeProgram(args, output, environment))
  } finally {
    shared.close()
    await service.close()
  }
}

async function runBrowser(files: readonly string[], shard: Shard, output: Output): Promise<Result> {
  if (!chromiumPath()) {
    console.error(`
  ${process.env['CI'] ? 'ERROR' : 'WARNING'}: Chromium was not found, so the browser tests did not run.
  Install it (Debian: apt-get install chromium-headless-shell) or set its path: CHROMIUM=/path/to/chromium npm test
`)
    const failures = process.env['CI'] ? [{ name: 'Chromium was not found.' }] : []
    return { passed: 0, skipped: 0, failures }
  }
  // Imported here, because other tests need no browser.
  const { chromium } = await import('playwright-core')
  const { SLOW_RETRIES } = await import('./test-service.ts')
  const browser = await chromium.launchServer(launchOptions())
  try {
    return await runNode(files, shard, output, {
      vars: SLOW_RETRIES,
      env: { TEST_BROWSER: browser.wsEndpoint() },
      // These wait more than they compute.
      filesAtATime: 2 * FILES_BESIDE,
    })
  } finally {
    await browser.close()
  }
}

/**
 * In CI, runs the files with a failed test once more, by themselves: all files after an error outside of tests.
 * A test that passes then depends on the load of the machine: the output names it, and the run succeeds.
 */
async function runReliably(
  run: Kind['run'],
  files: readonly string[],
  output: Output,
): Promise<Result> {
  const first = await run(files, options.shard, output)
  if (!process.env['CI'] || first.failures.length === 0) return first
  print('Failed, and run once more', first.failures)
  const failedFiles = [...new Set(first.failures.map(({ file }) => file))]
  const isKnown = (file?: string): file is string => file !== undefined
  const second = failedFiles.every(isKnown)
    ? await run(failedFiles, undefined, output)
    : await run(files, options.shard, output)
  if (second.failures.length === 0) print('UNRELIABLE: passed only when repeated', first.failures)
  const passed = Math.max(
    second.passed,
    first.passed + first.failures.length - second.failures.length,
  )
  return { ...first, passed, failures: second.failures }
}

function print(title: string, failures: readonly Failure[]): void {
  console.error(`\n${title}:`)
  for (const { name, file } of failures) console.error(`  ${file ?? 'outside of tests'}: ${name}`)
}

if (!(await runNodeProgram(['scripts/assets.ts']))) process.exit(1)
const total: Result = { passed: 0, skipped: 0, failures: [] }
const parts: string[] = []

/** Runs the kinds of a lane, one after the other. */
async function runLane(lane: readonly Chosen[], output: Output): Promise<void> {
  for (const { name, run, files } of lane) {
    const startedAt = Date.now()
    const result = await runReliably(run, files, output)
    total.passed += result.passed
    total.skipped += result.skipped
    total.failures.push(...result.failures)
    const seconds = Math.round((Date.now() - startedAt) / 1_000)
    parts.push(`${name}: ${result.passed} passed, ${result.failures.length} failed in ${seconds} s`)
  }
}

const [lane = [], other = []] = LANES.map((kinds) =>
  kinds.map(choose).filter(({ files }) => files.length > 0),
).filter((chosen) => chosen.length > 0)
const outputFile = join(folder, 'output')
const output = openSync(outputFile, 'w')
if (other.length > 0) console.log('Other tests run beside these. Their output follows at the end.')
await Promise.all([runLane(lane, 'inherit'), runLane(other, output)])
closeSync(output)
process.stdout.write(readFileSync(outputFile))
if (parts.length === 0) {
  console.error(`There are no tests in ${folders.join(', ')}.`)
  process.exit(1)
}
if (total.failures.length > 0) print('Failed', total.failures)
console.log(`\n${parts.join('\n')}`)
const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : ''
console.log(`${total.passed} passed, ${total.failures.length} failed${skipped}`)
rmSync(folder, { recursive: true })
process.exitCode = total.failures.length === 0 ? 0 : 1
