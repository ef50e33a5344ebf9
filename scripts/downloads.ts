// Packs the client packages into assets/downloads/. Developers install them from there, because a
// deployment does not depend on a package registry.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const STAMP = '.downloads-inputs'

/** The files of try-on-python.tar.gz. Other files of the folder may be private, such as a `.env`. */
const PYTHON_FILES = [
  'client-python/{pyproject.toml,README.md}',
  'client-python/src/**/*.{py,typed}',
]

/**
 * Writes try-on-client.tgz for npm and try-on-python.tar.gz for pip, unless their sources are those of
 * the last call and both files exist.
 * @throws Error with the output of npm or tar when it fails
 */
export function writeDownloads(root: string, assets: string): void {
  const stamp = hashOf(root)
  const stampFile = join(assets, STAMP)
  const folder = join(assets, 'downloads')
  const npmTarget = join(folder, 'try-on-client.tgz')
  const pythonTarget = join(folder, 'try-on-python.tar.gz')
  if ([stampFile, npmTarget, pythonTarget].every((file) => existsSync(file))) {
    if (readFileSync(stampFile, 'utf8') === stamp) return
  }

  mkdirSync(folder, { recursive: true })
  const temporary = mkdtempSync(join(tmpdir(), 'try-on-downloads-'))
  try {
    run('npm', ['pack', '--silent', '--pack-destination', temporary], join(root, 'packages/client'))
    const [packed = ''] = globSync('*.tgz', { cwd: temporary })
    writeFileSync(npmTarget, readFileSync(join(temporary, packed)))
    const packages = join(root, 'packages')
    const files = globSync(PYTHON_FILES, { cwd: packages }).sort()
    run('tar', ['-czf', pythonTarget, ...withoutOwner(), ...files], packages)
  } finally {
    rmSync(temporary, { recursive: true })
  }
  writeFileSync(stampFile, stamp)
}

function hashOf(root: string): string {
  const hash = createHash('sha256')
  const sources = [
    'scripts/downloads.ts',
    'packages/client/{package.json,README.md,tsconfig*.json}',
    'packages/client/src/**/*.ts',
    ...PYTHON_FILES.map((pattern) => `packages/${pattern}`),
  ]
  for (const file of globSync(sources, { cwd: root }).sort()) {
    hash.update(`${file}\n`).update(readFileSync(join(root, file)))
  }
  return hash.digest('hex')
}

/** The options of tar that omit the name of the user who runs the build. macOS has no GNU tar. */
function withoutOwner(): string[] {
  const { stdout } = spawnSync('tar', ['--version'], { encoding: 'utf8' })
  return stdout.includes('GNU tar')
    ? ['--owner=0', '--group=0', '--numeric-owner']
    : ['--uid=0', '--gid=0', '--uname=', '--gname=']
}

function run(command: string, args: string[], cwd: string): void {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ${args[0]} failed:\n${stdout}${stderr}`)
}
