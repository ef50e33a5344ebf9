// When keys were last used, for people to see: kept in memory and written to D1 now and then, from
// the alarm, so that no request pays for it.
import { and, eq } from 'drizzle-orm'
import { database } from '../db/client.ts'
import { apiKeys } from '../db/schema.ts'
import type { Credentials } from './api-key.ts'

/** A use this soon after another of the same key is not worth a write. */
const PRECISION_MS = 5 * 60_000
/** Sooner than the 10 s after which an idle object sleeps, and forgets what it remembers. */
const FLUSH_AFTER_MS = 8_000

export class KeyUses {
  readonly #env: Env
  /** Key hash → instant (ms) of the latest use that was or will be written. */
  readonly #noted = new Map<string, number>()
  #unwritten = new Map<string, { organisationId: string; at: number }>()

  constructor(env: Env) {
    this.#env = env
  }

  /** Remembers a use. @returns by when to call `flush`, if there is something new to write */
  note({ organisationId, keyHash }: Credentials, now: number): number | undefined {
    if (now - (this.#noted.get(keyHash) ?? -Infinity) < PRECISION_MS) return undefined
    this.#noted.set(keyHash, now)
    this.#unwritten.set(keyHash, { organisationId, at: now })
    return now + FLUSH_AFTER_MS
  }

  /** Writes what is not yet written. After a failure it may be called again. */
  async flush(): Promise<void> {
    const db = database(this.#env)
    const [first, ...rest] = [...this.#unwritten].map(([hash, { organisationId, at }]) =>
      db
        .update(apiKeys)
        .set({ lastUsedAt: new Date(at) })
        .where(and(eq(apiKeys.organisationId, organisationId), eq(apiKeys.hash, hash))),
    )
    if (!first) return
    const written = this.#unwritten
    this.#unwritten = new Map()
    try {
      await db.batch([first, ...rest])
    } catch (error) {
      this.#unwritten = new Map([...written, ...this.#unwritten])
      throw error
    }
  }
}
