// Runs the tests: `npm test [-- FOLDER…]`.
//   FOLDER        `jobs` for test/jobs, `compositor` for packages/compositor/test, `browser` for test/browser,
//                 or one file, such as `jobs/sweep`
//   --all         every case of the matrices of which `npm test` runs a sample
//   --only KIND   worker, node or browser
//   --shard I/N   the I-th of N parts of each kind
// The last line counts the tests of all kinds.
import { spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { chromiumPath } from './chromium.ts'
import { ROOT } from './wrangler.ts'

const KINDS = {
  worker: {
    include: ['test/**/*.test.{ts,tsx}', 'packages/*/test/**/*.test.ts'],
    exclude: ['test/{node,browser}/**'],
    run: runVitest,
  },
  node: { include: ['test/node/*.test.ts'], exclude: [], run: runNode },
  browser: { include: ['test/browser/*.test.ts'], exclude: [], run: runBrowser },
}

/** `I/N`: the I-th of N parts of the files. */
type Shard = string | undefined

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

/** Runs a program of Node and waits for it. @returns whether it succeeded */
function runNodeProgram(args: readonly string[], env: NodeJS.ProcessEnv = {}): boolean {
  const options = { cwd: ROOT, stdio: 'inherit', env: { ...process.env, ...env } } as const
  return spawnSync(process.execPath, args, options).status === 0
}

const resultFolder = mkdtempSync(join(tmpdir(), 'try-on-tests-'))
const resultFile = join(resultFolder, 'result')
const matrix = options.all ? 'all' : 'sample'

/** Reads what a runner has written. A runner that wrote nothing, or failed without a test, failed. */
function resultOf(succeeded: boolean): Result {
  try {
    const result: Result = JSON.parse(readFileSync(resultFile, 'utf8'))
    rmSync(resultFile)
    if (!succeeded && result.failures.length === 0)
      result.failures.push({ name: 'The runner failed.' })
    return result
  } catch (error) {
    return { passed: 0, skipped: 0, failures: [{ name: `The runner has not ended: ${error}` }] }
  }
}

function runVitest(files: readonly string[], shard: Shard): Result {
  const args = ['run', ...(shard ? [`--shard=${shard}`] : []), ...files]
  const succeeded = runNodeProgram(['node_modules/vitest/vitest.mjs', ...args], {
    TEST_RESULT: resultFile,
    TEST_MATRIX: matrix,
  })
  return resultOf(succeeded)
}

function runNode(files: readonly string[], shard: Shard): Result {
  const args = [
    '--test',
    // These tests wait more than they compute, so two files at a time also suit two cores.
    '--test-concurrency=2',
    ...(shard ? [`--test-shard=${shard}`] : []),
    '--test-reporter=spec',
    '--test-reporter-destination=stdout',
    '--test-reporter=./scripts/node-reporter.ts',
    `--test-reporter-destination=${resultFile}`,
    ...files,
  ]
  return resultOf(runNodeProgram(args, { TEST_MATRIX: matrix }))
}

function runBrowser(files: readonly string[], shard: Shard): Result {
  if (chromiumPath()) return runNode(files, shard)
  console.error(`
  ${process.env['CI'] ? 'ERROR' : 'WARNING'}: Chromium was not found, so the browser tests did not run.
  Install it (Debian: apt-get install chromium) or set its path: CHROMIUM=/path/to/chromium npm test
`)
  const failures = process.env['CI'] ? [{ name: 'Chromium was not found.' }] : []
  return { passed: 0, skipped: 0, failures }
}

/**
 * In CI, runs the files with a failed test once more, by themselves: all files after an error outside of tests.
 * A test that passes then depends on the load of the machine: the output names it, and the run succeeds.
 */
function runReliably(run: typeof runVitest, files: readonly string[]): Result {
  const first = run(files, options.shard)
  if (!process.env['CI'] || first.failures.length === 0) return first
  print('Failed, and run once more', first.failures)
  const failedFiles = [...new Set(first.failures.map(({ file }) => file))]
  const isKnown = (file?: string): file is string => file !== undefined
  const second = failedFiles.every(isKnown)
    ? run(failedFiles, undefined)
    : run(files, options.shard)
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

if (!runNodeProgram(['scripts/assets.ts'])) process.exit(1)
const total: Result = { passed: 0, skipped: 0, failures: [] }
const parts: string[] = []
for (const [kind, { include, exclude, run }] of Object.entries(KINDS)) {
  const all = globSync(include, { cwd: ROOT, exclude }).sort()
  const files = folders.length > 0 ? all.filter(isChosen) : all
  if (files.length === 0 || (options.only ?? kind) !== kind) continue
  const startedAt = Date.now()
  const result = runReliably(run, files)
  total.passed += result.passed
  total.skipped += result.skipped
  total.failures.push(...result.failures)
  const seconds = Math.round((Date.now() - startedAt) / 1_000)
  parts.push(`${kind}: ${result.passed} passed, ${result.failures.length} failed in ${seconds} s`)
}
if (parts.length === 0) {
  console.error(`There are no tests in ${folders.join(', ')}.`)
  process.exit(1)
}
if (total.failures.length > 0) print('Failed', total.failures)
console.log(`\n${parts.join('\n')}`)
const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : ''
console.log(`${total.passed} passed, ${total.failures.length} failed${skipped}`)
rmSync(resultFolder, { recursive: true })
process.exitCode = total.failures.length === 0 ? 0 : 1
