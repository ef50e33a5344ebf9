// When each key was last used, for the console. Uses are collected in memory, and the alarm writes
// them to D1, so that requests do not wait for the write.
import { and, eq } from 'drizzle-orm'
import { database } from '../platform/db/database.ts'
import { apiKeys } from '../platform/db/schema.ts'
import type { Credentials } from './api-key.ts'

/** Debounce: a use is not written when the previous write for the key is more recent than this. */
const PRECISION_MS = 5 * 60_000
/** An idle object loses its memory after 10 s. */
const FLUSH_AFTER_MS = 8_000

export class KeyUses {
  readonly #env: Env
  /** The latest use of each key, by hash, that was or will be written; ms since 1970. */
  readonly #recorded = new Map<string, number>()
  readonly #unwritten = new Map<string, { organisationId: string; at: number }>()

  constructor(env: Env) {
    this.#env = env
  }

  /** Records a use. @returns when to call `flush`, if there is something to write */
  record({ organisationId, keyHash }: Credentials, now: number): number | undefined {
    if (now - (this.#recorded.get(keyHash) ?? -Infinity) < PRECISION_MS) return undefined
    this.#recorded.set(keyHash, now)
    this.#unwritten.set(keyHash, { organisationId, at: now })
    return now + FLUSH_AFTER_MS
  }

  /** Writes the recorded uses. May be called again after a failure. */
  async flush(): Promise<void> {
    const db = database(this.#env)
    const uses = [...this.#unwritten]
    const [first, ...rest] = uses.map(([hash, { organisationId, at }]) =>
      db
        .update(apiKeys)
        .set({ lastUsedAt: new Date(at) })
        .where(and(eq(apiKeys.organisationId, organisationId), eq(apiKeys.hash, hash))),
    )
    if (!first) return
    await db.batch([first, ...rest])
    for (const [hash, use] of uses) {
      if (this.#unwritten.get(hash) === use) this.#unwritten.delete(hash)
    }
  }
}
