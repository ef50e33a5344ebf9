// The state of alerts between two runs of cron: a row in `DB`. While it cannot be written, the memory of the isolate
// has the state, so that an alert on that database is not sent each minute.
import { eq } from 'drizzle-orm'
import { database } from '../../platform/db/database.ts'
import { alertState, type AlertEntries } from '../../platform/db/monitoring-schema.ts'
import { log } from '../../platform/log.ts'
import { perEnv } from '../../platform/settings.ts'

const ID = 'latest'

interface State {
  entries: AlertEntries
  /** Undefined before the first evaluation. */
  evaluatedAt: Date | undefined
}

const memoryOf = perEnv((): { unsaved?: AlertEntries } => ({}))

/** The state in the database. @throws when it cannot be read */
export async function readState(env: Env): Promise<State> {
  const [row] = await database(env).select().from(alertState).where(eq(alertState.id, ID))
  return row ?? { entries: {}, evaluatedAt: undefined }
}

/** The entries of the latest evaluation. Does not throw: without the database, those of this isolate. */
export async function loadEntries(env: Env): Promise<AlertEntries> {
  const { unsaved } = memoryOf(env)
  if (unsaved) return unsaved
  try {
    return (await readState(env)).entries
  } catch (error) {
    log.error('alert state not read', error)
    return {}
  }
}

/** Stores the entries, in memory if the database fails. @throws in that case */
export async function saveEntries(env: Env, entries: AlertEntries): Promise<void> {
  const memory = memoryOf(env)
  memory.unsaved = entries
  const row = { evaluatedAt: new Date(), entries }
  await database(env)
    .insert(alertState)
    .values({ id: ID, ...row })
    .onConflictDoUpdate({ target: alertState.id, set: row })
  delete memory.unsaved
}
