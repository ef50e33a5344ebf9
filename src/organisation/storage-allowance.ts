// Bounds how much one organisation can write to the database that all share: an allowance of bytes
// for each day (UTC), taken by each accepted submission. The numbers are derived in
// docs/performance.md and checked by test/organisation/storage-allowance.test.ts.
import { DAY_MS } from '../domain/limits.ts'

/** 60 requests a minute give 16.2 MB a day, 486 MB in 30 days. */
export const BYTES_PER_RATE = 270_000
/** A job's row without URLs. */
const JOB_BYTES = 260
/** Its index entries, and the audit entry that deleting its pictures leaves. */
const JOB_INDEX_BYTES = 500
const AUDIT_BYTES = 300
/** A webhook event's row without its URL, and its index entry. */
const EVENT_BYTES = 230
const EVENT_INDEX_BYTES = 100
/** Eight attempts: 1 KiB of the latest answer, which takes a page of its own, and 128 bytes of others. */
const ATTEMPTS_BYTES = 7_500
/** A page of the database, and the longest entry of which at least four fit on one. */
const PAGE_BYTES = 4_096
const SHORT_ROW_BYTES = 1_000

/** Under this name the bytes taken today are stored. */
const TAKEN = 'storage-taken'

/** What a submission will store: lengths in characters, all ASCII. */
export interface SubmissionSize {
  imageUrls: number
  webhookUrl: number | null
}

/** The bytes that a job can take in the database, an upper bound. */
export function storedBytes({ imageUrls, webhookUrl }: SubmissionSize): number {
  const job = JOB_BYTES + imageUrls + (webhookUrl ?? 0)
  const withoutWebhook = inPages(job) + JOB_INDEX_BYTES + AUDIT_BYTES
  if (webhookUrl === null) return withoutWebhook
  return withoutWebhook + ofEvent(EVENT_BYTES + webhookUrl) + EVENT_INDEX_BYTES + ATTEMPTS_BYTES
}

/** A page is closed when the next row does not fit: a short row wastes a quarter, a long one its size. */
const inPages = (row: number) => Math.ceil(row <= SHORT_ROW_BYTES ? (row * 4) / 3 : row * 2)

/** The table has no rowid, so a long row has a page of its own for what does not fit. */
const ofEvent = (row: number) =>
  row <= SHORT_ROW_BYTES ? Math.ceil(row * 1.5) : SHORT_ROW_BYTES + PAGE_BYTES

export const dailyAllowanceBytes = (rateLimitPerMinute: number): number =>
  rateLimitPerMinute * BYTES_PER_RATE

/** Whole seconds until the allowance is renewed, at least 1. */
export const secondsToMidnight = (now: number): number =>
  Math.ceil((DAY_MS - (now % DAY_MS)) / 1_000)

const dayOf = (now: number) => Math.floor(now / DAY_MS)

export class StorageAllowance {
  readonly #kv: SyncKvStorage

  constructor(kv: SyncKvStorage) {
    this.#kv = kv
  }

  /** Whether so many bytes are left of today's allowance. */
  has(bytes: number, rateLimitPerMinute: number, now: number): boolean {
    return this.#takenOn(dayOf(now)) + bytes <= dailyAllowanceBytes(rateLimitPerMinute)
  }

  take(bytes: number, now: number): void {
    const day = dayOf(now)
    this.#kv.put(TAKEN, { day, bytes: this.#takenOn(day) + bytes })
  }

  #takenOn(day: number): number {
    const stored = this.#kv.get<{ day: number; bytes: number }>(TAKEN)
    return stored?.day === day ? stored.bytes : 0
  }
}
