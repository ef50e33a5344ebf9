// A D1 database with one read replica, for tests. The local D1 has none. The replica is a copy that changes
// only in `replicate`.

export interface ReplicatedDatabase {
  binding: D1Database
  /** How many statements ran where; a batch counts once. */
  ran: { primary: number; replica: number }
  /** What the sessions were created with. */
  sessions: string[]
  /** Brings the replica up to date. */
  replicate(): Promise<void>
}

interface Text {
  sql: string
  values: unknown[]
}

/** The statements of all sessions: a batch may have statements of another session. */
const texts = new WeakMap<object, Text>()

/** @param copy a database of the pool that nothing else uses */
export function withReplica(primary: D1Database, copy: D1Database): ReplicatedDatabase {
  const ran = { primary: 0, replica: 0 }
  const sessions: string[] = []
  /** The number of writes, and how many of them the replica has. */
  let written = 0
  let replicated = 0

  function statement(text: Text, choose: (isWrite: boolean) => D1Database): D1PreparedStatement {
    const { sql, values } = text
    const wrapped = new Proxy(primary.prepare(sql), {
      get: (_, key) => {
        if (key === 'bind') {
          return (...bound: unknown[]) => statement({ sql, values: bound }, choose)
        }
        return (...args: unknown[]): unknown => {
          const database = choose(isWrite(sql))
          const real = database.prepare(sql).bind(...values)
          const method: unknown = Reflect.get(real, key)
          return typeof method === 'function' ? Reflect.apply(method, real, args) : undefined
        }
      },
    })
    texts.set(wrapped, text)
    return wrapped
  }

  const connect = (choose: (isWrite: boolean) => D1Database) => ({
    prepare: (sql: string) => statement({ sql, values: [] }, choose),
    batch<T>(list: D1PreparedStatement[]) {
      const batch = list.map((wrapped) => textOf(wrapped))
      const database = choose(batch.some(({ sql }) => isWrite(sql)))
      return database.batch<T>(
        batch.map(({ sql, values }) => database.prepare(sql).bind(...values)),
      )
    },
  })

  function runOnPrimary(isWrite: boolean): D1Database {
    ran.primary++
    if (isWrite) written++
    return primary
  }

  function withSession(from = 'first-unconstrained'): D1DatabaseSession {
    sessions.push(from)
    let bookmark: string | null = null
    const session = connect((isWrite) => {
      const required = bookmark ?? from
      const hasState =
        required === 'first-unconstrained' ||
        (required !== 'first-primary' && required <= bookmarkOf(replicated))
      // A replica that has not reached the bookmark would wait. Here the primary takes its place.
      const isNear = !isWrite && hasState
      if (isNear) ran.replica++
      const database = isNear ? copy : runOnPrimary(isWrite)
      bookmark = bookmarkOf(isNear ? replicated : written)
      return database
    })
    return { ...session, getBookmark: () => bookmark }
  }

  const direct = { ...connect(runOnPrimary), withSession }
  return {
    ran,
    sessions,
    binding: new Proxy(primary, {
      get: (target, key) => Reflect.get(key in direct ? direct : target, key) as unknown,
    }),
    async replicate() {
      await copyRows(primary, copy)
      replicated = written
    },
  }
}

function textOf(wrapped: object): Text {
  const found = texts.get(wrapped)
  if (!found) throw new Error('A batch has a statement that no session prepared')
  return found
}

const bookmarkOf = (version: number) => `bookmark-${String(version).padStart(8, '0')}`

const isWrite = (sql: string) => /\b(insert into|update|delete from)\b/i.test(sql)

async function copyRows(from: D1Database, to: D1Database): Promise<void> {
  const { results: tables } = await from
    .prepare(
      `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'
         AND name NOT LIKE '\\_cf%' ESCAPE '\\' AND name <> 'd1_migrations'`,
    )
    .all<{ name: string }>()
  const inserts = await Promise.all(
    tables.map(async ({ name }) => {
      const rows = await from.prepare(`SELECT * FROM "${name}"`).raw<unknown[]>()
      return rows.map((row) =>
        to.prepare(`INSERT INTO "${name}" VALUES (${row.map(() => '?').join()})`).bind(...row),
      )
    }),
  )
  await to.batch([
    to.prepare('PRAGMA defer_foreign_keys = on'),
    ...tables.map(({ name }) => to.prepare(`DELETE FROM "${name}"`)),
    ...inserts.flat(),
  ])
}
