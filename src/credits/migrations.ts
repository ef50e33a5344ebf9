// The schema of an Organisation's SQLite as numbered steps. To change the schema, append a step. Never
// change a deployed step, since objects have already run it.

/** The storage key of the number of steps that the object has run. */
const VERSION = 'schema-version'

export const SCHEMA_STEPS: readonly string[] = [
  // Objects that were created before the first version already have these tables.
  `CREATE TABLE IF NOT EXISTS ledger_entries (
     id INTEGER PRIMARY KEY,
     at INTEGER NOT NULL,
     kind TEXT NOT NULL,
     amount INTEGER NOT NULL,
     job_id TEXT,
     reference TEXT,
     reason TEXT,
     granted INTEGER NOT NULL,
     balance INTEGER NOT NULL,
     reserved INTEGER NOT NULL,
     consumed INTEGER NOT NULL
   );
   CREATE UNIQUE INDEX IF NOT EXISTS ledger_entries_by_reference
     ON ledger_entries (reference) WHERE reference IS NOT NULL;
   CREATE TABLE IF NOT EXISTS reservations (
     job_id TEXT PRIMARY KEY,
     state TEXT NOT NULL,
     checked_at INTEGER NOT NULL
   ) WITHOUT ROWID;
   CREATE INDEX IF NOT EXISTS reservations_open
     ON reservations (checked_at) WHERE state = 'reserved';
   CREATE TABLE IF NOT EXISTS accepted_submissions (
     mode TEXT NOT NULL,
     key TEXT NOT NULL,
     fingerprint TEXT NOT NULL,
     job_id TEXT NOT NULL,
     workspace_id TEXT NOT NULL,
     webhook_url TEXT,
     created_at INTEGER NOT NULL,
     PRIMARY KEY (mode, key)
   ) WITHOUT ROWID;
   CREATE INDEX IF NOT EXISTS accepted_submissions_by_age ON accepted_submissions (created_at);`,

  // For the Idempotency-Key of a job that was not stored.
  'CREATE INDEX accepted_submissions_by_job ON accepted_submissions (job_id);',

  // `length_to_here` is the length of this batch and of all before it, also of deleted ones.
  `CREATE TABLE request_log (
     id INTEGER PRIMARY KEY,
     length_to_here INTEGER NOT NULL,
     lines TEXT NOT NULL
   );`,

  // Open reservations are searched from the first open one, whose id is stored.
  'DROP INDEX IF EXISTS reservations_open;',

  // `credit_use.id` is the id of a key or a workspace with a monthly limit.
  `ALTER TABLE reservations ADD COLUMN key_count_id TEXT;
   ALTER TABLE reservations ADD COLUMN workspace_id TEXT;
   CREATE TABLE credit_use (
     id TEXT PRIMARY KEY,
     month TEXT NOT NULL,
     credits INTEGER NOT NULL,
     informed INTEGER NOT NULL
   ) WITHOUT ROWID;`,
]

/**
 * Runs the missing steps in one transaction.
 * @param steps only tests pass other steps
 */
export function migrate(storage: DurableObjectStorage, steps = SCHEMA_STEPS) {
  const version = storage.kv.get<number>(VERSION) ?? 0
  if (version >= steps.length) return
  storage.transactionSync(() => {
    for (const step of steps.slice(version)) storage.sql.exec(step)
    storage.kv.put(VERSION, steps.length)
  })
}
