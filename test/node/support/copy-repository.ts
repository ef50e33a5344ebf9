// A copy of this repository as a new clone has it, with the changes that are not committed.
import { execFileSync } from 'node:child_process'
import { appendFileSync, cpSync, existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../../../scripts/wrangler.ts'

export interface Copy {
  folder: string
  /** Runs git in the copy. @returns its output */
  git(...args: string[]): string
  remove(): void
}

/** Packages are linked, as installing them takes long. The built assets are copied. */
export function copyRepository(): Copy {
  const folder = mkdtempSync(join(tmpdir(), 'try-on-copy-'))
  const gitIn = (cwd: string, ...args: string[]) =>
    execFileSync('git', args, { cwd, encoding: 'utf8' })
  const files = gitIn(ROOT, 'ls-files', '-z', '--cached', '--others', '--exclude-standard')
  for (const file of [...files.split('\0').filter(Boolean), 'assets']) {
    const source = join(ROOT, file)
    // A deleted file stays in the list until the deletion is committed.
    if (existsSync(source)) cpSync(source, join(folder, file), { recursive: true })
  }
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  gitIn(folder, 'init', '--quiet')
  // .gitignore names folders, and this is a link.
  appendFileSync(join(folder, '.git/info/exclude'), 'node_modules\n')
  gitIn(folder, 'add', '--all')
  gitIn(
    folder,
    '-c',
    'user.name=Test',
    '-c',
    'user.email=',
    'commit',
    '--quiet',
    '-m',
    'test: copy',
  )
  return {
    folder,
    git: (...args) => gitIn(folder, ...args),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
