// Packs the client packages into assets/downloads/. Developers install them from there, because a
// deployment does not depend on a package registry.
import { spawnSync } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildWhenChanged } from './build-when-changed.ts'

/** The files of try-on-python.tar.gz. Other files of the folder may be private, such as a `.env`. */
const PYTHON_FILES = [
  'client-python/{pyproject.toml,README.md}',
  'client-python/src/**/*.{py,typed}',
]

/**
 * Writes try-on-client.tgz for npm and try-on-python.tar.gz for pip when their sources have changed.
 * @throws Error with the output of npm or tar when it fails
 */
export async function writeDownloads(root: string, assets: string): Promise<void> {
  const folder = join(assets, 'downloads')
  const npmTarget = join(folder, 'try-on-client.tgz')
  const pythonTarget = join(folder, 'try-on-python.tar.gz')
  const inputs = [
    'scripts/downloads.ts',
    'packages/client/{package.json,README.md,tsconfig*.json}',
    'packages/client/src/**/*.ts',
    ...PYTHON_FILES.map((pattern) => `packages/${pattern}`),
  ]
  const stamp = join(assets, '.downloads-inputs')
  await buildWhenChanged({ root, stamp, inputs, outputs: [npmTarget, pythonTarget] }, () => {
    mkdirSync(folder, { recursive: true })
    packNpm(join(root, 'packages/client'), npmTarget)
    packPython(join(root, 'packages'), pythonTarget)
  })
}

function packNpm(folder: string, target: string): void {
  const temporary = mkdtempSync(join(tmpdir(), 'try-on-downloads-'))
  try {
    run('npm', ['pack', '--silent', '--pack-destination', temporary], folder)
    const [packed = ''] = globSync('*.tgz', { cwd: temporary })
    writeFileSync(target, readFileSync(join(temporary, packed)))
  } finally {
    rmSync(temporary, { recursive: true })
  }
}

function packPython(folder: string, target: string): void {
  const files = globSync(PYTHON_FILES, { cwd: folder }).sort()
  run('tar', ['-czf', target, ...withoutOwner(), ...files], folder)
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
