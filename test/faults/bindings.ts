// The Worker's bindings with every call wrapped by an invocation, which counts it and can inject a
// fault. They use the real D1, R2 and Organisation, and the harness's queues.
import { env } from 'cloudflare:workers'
import { vi } from 'vitest'
import { jobsBindings } from '../../src/platform/db/database.ts'
import type { Queues } from './queues.ts'
import type { Invocation } from './fault-injector.ts'

type Caller = Pick<Invocation, 'call'>

/** The names of all D1 bindings. */
const DATABASES = ['DB', ...jobsBindings(env).map((_, shard) => `JOBS_DB_${shard}`)]
const bindingOf = (name: string): D1Database => Reflect.get(env, name)

/** The original methods of each database, before `interceptObject` replaces them. */
const originalMethods = new Map(
  DATABASES.map((name) => {
    const binding = bindingOf(name)
    return [binding, { prepare: binding.prepare.bind(binding), batch: binding.batch.bind(binding) }]
  }),
)

/** The environment of one invocation. */
export function bindingsFor(queues: Queues, invocation: Invocation): Env {
  const overrides: Partial<Env> & Record<string, unknown> = {
    // Long enough that no delivery uses up its schedule because of injected faults.
    WEBHOOK_RETRY_DELAYS: '1,1,2,5,5,5,5,5,5,5,5',
    ...Object.fromEntries(DATABASES.map((name) => [name, database(bindingOf(name), invocation)])),
    ORGANISATION: organisations(env.ORGANISATION, invocation),
    IMAGES: methods(env.IMAGES, 'IMAGES', ['get', 'put', 'delete', 'head', 'list'], invocation),
    JOBS: producer('tryon-jobs', queues, invocation),
    TEST_JOBS: producer('tryon-test-jobs', queues, invocation),
    WEBHOOKS: producer('tryon-webhooks', queues, invocation),
  }
  return new Proxy(env, {
    get: (target, key) => Reflect.get(key in overrides ? overrides : target, key),
  })
}

/** Wraps the Organisation's own calls of D1 with `caller`. It uses the Worker's binding. */
export function interceptObject(caller: Caller): void {
  for (const name of DATABASES) {
    const binding = bindingOf(name)
    const wrapped = database(binding, caller)
    vi.spyOn(binding, 'prepare').mockImplementation((sql) => wrapped.prepare(sql))
    vi.spyOn(binding, 'batch').mockImplementation((statements) => wrapped.batch(statements))
  }
}

type Method = (...args: unknown[]) => unknown

/** The methods of native objects require their `this`. */
const bound = (target: object, key: PropertyKey): unknown => {
  const value: unknown = Reflect.get(target, key)
  return typeof value === 'function' ? value.bind(target) : value
}

const invoke = (target: object, key: PropertyKey, args: unknown[]): unknown =>
  Reflect.apply(Reflect.get(target, key) as Method, target, args)

function methods<T extends object>(
  target: T,
  name: string,
  wrapped: readonly string[],
  invocation: Invocation,
): T {
  return new Proxy(target, {
    get: (_, key) =>
      wrapped.includes(String(key))
        ? (...args: unknown[]) =>
            invocation.call(`${name}.${String(key)}`, async () => invoke(target, key, args))
        : bound(target, key),
  })
}

/** A database whose calls are wrapped. The calls of all databases have the same names. */
function database(binding: D1Database, invocation: Caller): D1Database {
  const { prepare, batch } = originalMethods.get(binding) ?? binding
  const originals = new WeakMap<object, D1PreparedStatement>()
  const statement = (original: D1PreparedStatement, sql: string): D1PreparedStatement => {
    const wrapped = new Proxy(original, {
      get: (_, key) => {
        if (key === 'bind') {
          return (...values: unknown[]) => statement(original.bind(...values), sql)
        }
        if (!['all', 'first', 'raw', 'run'].includes(String(key))) return bound(original, key)
        return (...args: unknown[]) =>
          invocation.call(`DB.${commandOf(sql)}`, async () => invoke(original, key, args))
      },
    })
    originals.set(wrapped, original)
    return wrapped
  }
  return new Proxy(binding, {
    get: (_, key) => {
      if (key === 'prepare') return (sql: string) => statement(prepare(sql), sql)
      if (key === 'batch') {
        return (statements: D1PreparedStatement[]) =>
          invocation.call('DB.batch', () =>
            batch(statements.map((wrapped) => originals.get(wrapped) ?? wrapped)),
          )
      }
      return bound(binding, key)
    },
  })
}

const commandOf = (sql: string) => /^\s*(?:with\b.*?\)\s*)?(\w+)/is.exec(sql)?.[1]?.toLowerCase()

function organisations(
  namespace: Env['ORGANISATION'],
  invocation: Invocation,
): Env['ORGANISATION'] {
  return new Proxy(namespace, {
    get: (_, key) => {
      if (key !== 'getByName') return bound(namespace, key)
      return (name: string) => {
        const stub = namespace.getByName(name)
        return new Proxy(stub, {
          get:
            (_, method) =>
            (...args: unknown[]) =>
              // The request log is sent after the response and may be lost.
              method === 'logRequests'
                ? Promise.resolve()
                : invocation.call(`Organisation.${String(method)}`, async () =>
                    invoke(stub, method, args),
                  ),
        })
      }
    },
  })
}

function producer(name: string, queues: Queues, invocation: Invocation): Queue {
  const send = (body: unknown, options?: QueueSendOptions) =>
    invocation.call(`${name}.send`, async () => queues.put(name, [{ body, ...options }]))
  const sendBatch = (messages: Iterable<MessageSendRequest>) =>
    invocation.call(`${name}.sendBatch`, async () => queues.put(name, [...messages]))
  const metrics = () =>
    invocation.call(`${name}.metrics`, async () => ({
      backlogCount: queues.backlog(name),
      backlogBytes: 0,
    }))
  return { send, sendBatch, metrics } as unknown as Queue
}
