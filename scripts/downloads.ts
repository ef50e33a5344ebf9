// The archives of the client packages, which developers install from /downloads of a deployment. Lock files contain
// the address and the hash of an archive, so an archive never changes and never disappears: `releases/` has those of
// all versions, and `npm run release:clients` adds those of the present one.
import { spawnSync } from 'node:child_process'
import {
  copyFileSync,
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
import { CLIENT_ARCHIVE, PYTHON_ARCHIVE } from '../src/domain/docs.ts'
import { ROOT } from './wrangler.ts'

/** The files of the Python archive. Other files of the folder may be private, such as a `.env`. */
const PYTHON_FILES = ['pyproject.toml', 'README.md', 'src/**/*.{py,typed}']

/** The pages that name an archive. */
const PAGES = ['docs/guides/*.md', 'packages/client*/README.md']

/**
 * Packs both clients into a folder, under the names of their versions.
 * @param root the folder of the repository
 * @throws Error with the output of npm or tar when it fails
 */
export function packClients(root: string, folder: string): void {
  mkdirSync(folder, { recursive: true })
  run('npm', ['pack', '--silent', '--pack-destination', folder], join(root, 'packages/client'))
  const [packed = ''] = globSync('try-on-client-*.tgz', { cwd: folder })
  if (packed !== CLIENT_ARCHIVE) {
    throw new Error(`npm packed ${packed}; src/domain/docs.ts names ${CLIENT_ARCHIVE}.`)
  }
  packPython(join(root, 'packages/client-python'), join(folder, PYTHON_ARCHIVE))
}

/** Two runs write the same bytes: owners and times are fixed. Requires GNU tar. */
function packPython(source: string, target: string): void {
  const files = globSync(PYTHON_FILES, { cwd: source }).sort()
  const name = PYTHON_ARCHIVE.replace('.tar.gz', '')
  const fixed = ['--owner=0', '--group=0', '--numeric-owner', '--mode=644', '--mtime=2026-01-01Z']
  const options = ['--format=ustar', ...fixed, `--transform=s,^,${name}/,`, '-I', 'gzip -n']
  run('tar', ['-cf', target, ...options, ...files], source)
}

function run(command: string, args: string[], cwd: string): void {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ${args[0]} failed:\n${stdout}${stderr}`)
}

/**
 * Adds the archives of the present version to `releases/`, and names them in the guides.
 * @throws Error if an archive of this version exists
 */
function releaseClients(): void {
  // First, because the archives contain their READMEs.
  for (const path of globSync(PAGES, { cwd: ROOT })) {
    const text = readFileSync(join(ROOT, path), 'utf8')
    const renamed = text
      .replace(/try-on-client-[\d.]+\.tgz/g, CLIENT_ARCHIVE)
      .replace(/try_on-[\d.]+\.tar\.gz/g, PYTHON_ARCHIVE)
    if (renamed !== text) writeFileSync(join(ROOT, path), renamed)
  }
  const temporary = mkdtempSync(join(tmpdir(), 'try-on-downloads-'))
  try {
    packClients(ROOT, temporary)
    for (const name of [CLIENT_ARCHIVE, PYTHON_ARCHIVE]) {
      const target = join(ROOT, 'releases', name)
      if (existsSync(target)) {
        console.log(
          `releases/${name} exists and was not changed. For changed code, raise its version.`,
        )
      } else {
        copyFileSync(join(temporary, name), target)
        console.log(`Added releases/${name}. Commit it.`)
      }
    }
  } finally {
    rmSync(temporary, { recursive: true })
  }
}

if (import.meta.main) releaseClients()
