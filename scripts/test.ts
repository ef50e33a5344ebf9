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
  failed: number
  skipped: number
  /** Absolute paths. Empty if the run failed for something else than its tests. */
  failedFiles: string[]
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
  let result: Result = { passed: 0, failed: 0, skipped: 0, failedFiles: [] }
  try {
    result = JSON.parse(readFileSync(resultFile, 'utf8'))
    rmSync(resultFile)
  } catch (error) {
    console.error('The runner has not ended:', error)
    succeeded = false
  }
  return succeeded ? result : { ...result, failed: Math.max(1, result.failed) }
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
  return { passed: 0, failed: process.env['CI'] ? 1 : 0, skipped: 0, failedFiles: [] }
}

/**
 * In CI, runs the files with a failed test once more, by themselves. A test that passes then depends on the
 * load of the machine: the output names its file, and the run succeeds.
 */
function runReliably(run: typeof runVitest, files: readonly string[]): Result {
  const first = run(files, options.shard)
  const { failedFiles } = first
  if (!process.env['CI'] || failedFiles.length === 0) return first
  console.error(`\n${first.failed} failed. Their files run once more:`, failedFiles)
  if (run(failedFiles, undefined).failed > 0) return first
  console.error('\nUNRELIABLE: passed only when repeated:', failedFiles)
  return { ...first, passed: first.passed + first.failed, failed: 0 }
}

if (!runNodeProgram(['scripts/assets.ts'])) process.exit(1)
const total = { passed: 0, failed: 0, skipped: 0 }
const parts: string[] = []
for (const [kind, { include, exclude, run }] of Object.entries(KINDS)) {
  const all = globSync(include, { cwd: ROOT, exclude }).sort()
  const files = folders.length > 0 ? all.filter(isChosen) : all
  if (files.length === 0 || (options.only ?? kind) !== kind) continue
  const startedAt = Date.now()
  const result = runReliably(run, files)
  total.passed += result.passed
  total.failed += result.failed
  total.skipped += result.skipped
  const seconds = Math.round((Date.now() - startedAt) / 1_000)
  parts.push(`${kind}: ${result.passed} passed, ${result.failed} failed in ${seconds} s`)
}
if (parts.length === 0) {
  console.error(`There are no tests in ${folders.join(', ')}.`)
  process.exit(1)
}
console.log(`\n${parts.join('\n')}`)
const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : ''
console.log(`${total.passed} passed, ${total.failed} failed${skipped}`)
rmSync(resultFolder, { recursive: true })
process.exitCode = total.failed === 0 ? 0 : 1
