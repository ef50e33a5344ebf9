// Instrumented bindings: count the operations that Cloudflare charges for.

/** Operations of a request or a job. They do not depend on the machine. */
const zero = () => ({
  organisationCalls: 0,
  d1Statements: 0,
  d1RoundTrips: 0,
  d1RowsRead: 0,
  d1RowsWritten: 0,
  objectRowsRead: 0,
  objectRowsWritten: 0,
  queueOperations: 0,
  r2Writes: 0,
  r2Reads: 0,
  fetches: 0,
})
export type Counts = ReturnType<typeof zero>

let counts = zero()
/** Cursors of the objects' SQLite. Their row counts are final only when they are exhausted. */
let cursors: Pick<SqlStorageCursor<never>, 'rowsRead' | 'rowsWritten'>[] = []

/** Adds to a count. */
export const count = (what: keyof Counts, by = 1): void => void (counts[what] += by)

/** Returns the counts since the last call and resets them. */
export function takeCounts(): Counts {
  const taken = counts
  for (const cursor of cursors) {
    taken.objectRowsRead += cursor.rowsRead
    taken.objectRowsWritten += cursor.rowsWritten
  }
  counts = zero()
  cursors = []
  return taken
}

const environments = new WeakMap<object, Env>()

/** Wraps the bindings of an environment. */
export function instrumentedEnv(env: Env): Env {
  let instrumented = environments.get(env)
  if (!instrumented) {
    const overrides: Partial<Env> = {
      ...databases(env),
      ORGANISATION: organisations(env.ORGANISATION),
      JOBS: producer(env.JOBS),
      TEST_JOBS: producer(env.TEST_JOBS),
      WEBHOOKS: producer(env.WEBHOOKS),
      IMAGES: bucket(env.IMAGES),
    }
    instrumented = new Proxy(env, {
      get: (target, key) => Reflect.get(key in overrides ? overrides : target, key),
    })
    environments.set(env, instrumented)
  }
  return instrumented
}

type Method = (...args: unknown[]) => unknown

const bound = (target: object, key: PropertyKey): unknown => {
  const value: unknown = Reflect.get(target, key)
  return typeof value === 'function' ? value.bind(target) : value
}

/** Wraps a binding; calls the hook of a method before the method. */
function withHooks<T extends object>(
  target: T,
  hooks: Record<string, (...args: unknown[]) => void>,
): T {
  return new Proxy(target, {
    get(_, key) {
      const hook = hooks[String(key)]
      if (!hook) return bound(target, key)
      return (...args: unknown[]) => {
        hook(...args)
        return Reflect.apply(Reflect.get(target, key) as Method, target, args)
      }
    },
  })
}

let dropMessages = false

/** While on, queue messages are counted but not sent, so that a job stays pending. */
export const setDropMessages = (on: boolean): void => void (dropMessages = on)

const DROPPED = { metadata: { metrics: { backlogCount: 0, backlogBytes: 0 } } }

function producer(queue: Queue): Queue {
  const send: Queue['send'] = async (...message) => {
    count('queueOperations')
    return dropMessages ? DROPPED : queue.send(...message)
  }
  const sendBatch: Queue['sendBatch'] = async (messages, options) => {
    count('queueOperations', [...messages].length)
    return dropMessages ? DROPPED : queue.sendBatch(messages, options)
  }
  return { send, sendBatch, metrics: () => queue.metrics() }
}

const bucket = (bucket: R2Bucket): R2Bucket =>
  withHooks(bucket, { put: () => count('r2Writes'), get: () => count('r2Reads') })

const organisations = (namespace: Env['ORGANISATION']): Env['ORGANISATION'] =>
  new Proxy(namespace, {
    get(_, key) {
      if (key !== 'getByName') return bound(namespace, key)
      return (name: string) => {
        const stub = namespace.getByName(name)
        return new Proxy(stub, {
          get:
            (_, method) =>
            (...args: unknown[]) => {
              count('organisationCalls')
              return Reflect.apply(Reflect.get(stub, method) as Method, stub, args)
            },
        })
      }
    },
  })

/** Every D1 database of an environment. */
function databases(env: Env): Record<string, D1Database> {
  const names = Object.keys(env).filter((name) => /^(DB|JOBS_DB_\d+)$/.test(name))
  return Object.fromEntries(names.map((name) => [name, database(Reflect.get(env, name))]))
}

function addRows({ meta }: D1Result): void {
  count('d1Statements')
  count('d1RowsRead', meta.rows_read)
  count('d1RowsWritten', meta.rows_written)
}

function database(db: D1Database): D1Database {
  const originals = new WeakMap<object, D1PreparedStatement>()
  const statement = (original: D1PreparedStatement): D1PreparedStatement => {
    const wrapped = new Proxy(original, {
      get(_, key) {
        if (key === 'bind') return (...values: unknown[]) => statement(original.bind(...values))
        if (key === 'run' || key === 'all') {
          return async () => {
            count('d1RoundTrips')
            const result = await original[key]()
            addRows(result)
            return result
          }
        }
        if (key !== 'raw') return bound(original, key)
        // `raw` returns no row counts. It is used for SELECTs only, which can run twice.
        return async () => {
          count('d1RoundTrips')
          addRows(await original.all())
          return original.raw()
        }
      },
    })
    originals.set(wrapped, original)
    return wrapped
  }
  return new Proxy(db, {
    get(_, key) {
      if (key === 'prepare') return (sql: string) => statement(db.prepare(sql))
      if (key !== 'batch') return bound(db, key)
      return async (statements: D1PreparedStatement[]) => {
        count('d1RoundTrips')
        const results = await db.batch(statements.map((each) => originals.get(each) ?? each))
        results.forEach(addRows)
        return results
      }
    },
  })
}

/** Wraps the storage of a Durable Object. */
export function instrumentStorage({ storage }: DurableObjectState): void {
  observe(storage.sql, 'exec', (cursor) => cursors.push(cursor as (typeof cursors)[number]))
  observe(storage.kv, 'put', () => count('objectRowsWritten'))
  observe(storage.kv, 'get', () => count('objectRowsRead'))
  observe(storage, 'setAlarm', () => count('objectRowsWritten')) // is charged as a written row
}

/** Calls a function with the result of each call of a method. */
function observe(target: object, name: string, onResult: (result: unknown) => void): void {
  const method = bound(target, name) as Method
  const value = (...args: unknown[]) => {
    const result = method(...args)
    onResult(result)
    return result
  }
  Object.defineProperty(target, name, { value })
}
