// `node scripts/restore-drill.ts [export.sql]`: rehearses the restore of a D1 database on this computer.
// Restores an export into an empty database, exports it again and compares both. Without an argument,
// the export is that of a small local database; docs/deployment.md exports a deployed one.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { ROOT, wranglerAsync } from './wrangler.ts'

/** Texts that a careless export would damage. */
const SAMPLE = `
  INSERT INTO organisations (id, name, plan, region_code, rate_limit_per_minute, rate_limit_overridden,
    webhook_secret, created_at)
    VALUES ('org_00000000000000000000000009', 'Drill ''quoted'' "ü" ; --', 'starter', 'GLOBAL', 600,
      true, 'whsec_drill', 1795170609000);
  INSERT INTO workspaces (id, organisation_id, name, created_at)
    VALUES ('ws_00000000000000000000000009', 'org_00000000000000000000000009', 'Line 1' || char(10)
      || 'line 2', 1795170609000);`

interface Drill {
  /** The export that was restored. */
  source: string
  /** The export of the restored database. Equal to the source when nothing was lost. */
  restored: string
}

/**
 * Runs the drill.
 * @param folder an empty folder for its files
 * @param file an export; undefined for a sample
 * @throws Error with wrangler's output
 */
export async function restoreDrill(folder: string, file?: string): Promise<Drill> {
  const migrations = relative(folder, join(ROOT, 'migrations'))
  const database = (binding: string) =>
    `[[d1_databases]]\nbinding = "${binding}"\ndatabase_name = "${binding}"\nmigrations_dir = "${migrations}"\n`
  // `wrangler d1 export` has no --persist-to, so the drill has a configuration of its own.
  writeFileSync(
    join(folder, 'wrangler.toml'),
    `name = "drill"\n${database('SOURCE')}${database('RESTORED')}`,
  )
  const d1 = (...args: string[]) => wranglerAsync(['d1', ...args, '--local', '--cwd', folder])
  const exportOf = async (binding: string, name: string) => {
    await d1('export', binding, '--output', join(folder, name), '--skip-confirmation')
    return join(folder, name)
  }
  let source = file
  if (!source) {
    await d1('migrations', 'apply', 'SOURCE')
    await d1('execute', 'SOURCE', '--command', SAMPLE)
    source = await exportOf('SOURCE', 'source.sql')
  }
  await d1('execute', 'RESTORED', '--file', resolve(source))
  const restored = await exportOf('RESTORED', 'restored.sql')
  return { source: readFileSync(source, 'utf8'), restored: readFileSync(restored, 'utf8') }
}

if (import.meta.main) {
  const folder = mkdtempSync(join(tmpdir(), 'try-on-drill-'))
  try {
    const { source, restored } = await restoreDrill(folder, process.argv[2])
    const rows = source.match(/^INSERT INTO/gm)?.length ?? 0
    if (source === restored) console.log(`Restored ${rows} rows without a difference.`)
    else {
      console.error('The restored database differs from the export.')
      process.exitCode = 1
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
