// Limits how many bytes one organisation stores per UTC day: rows in the shared database and uploads in
// R2, each with a separate allowance. Each accepted submission or upload takes its bytes from it, except
// live jobs of organisations with paid credits, which are never refused for it.
// docs/performance.md derives the numbers, and test/credits/storage-allowance.test.ts checks them.
import { DAY_MS, MAX_FAILURE_REASON_BYTES } from '../domain/limits.ts'

/** A job's row without URLs and without the reason of its failure. */
const JOB_BYTES = 260
/** The index entries of a job, and the audit entry of the deletion of its pictures. */
const JOB_INDEX_BYTES = 500
const AUDIT_BYTES = 300
/** A webhook event's row without its URL, and its index entry. */
const EVENT_BYTES = 230
const EVENT_INDEX_BYTES = 100
/** Eight attempts: 1 KiB of the latest response, in a separate page, and 128 bytes of each other. */
const ATTEMPTS_BYTES = 7_500
/** The size of a database page, and the longest row of which four fit on a page. */
const PAGE_BYTES = 4_096
const SHORT_ROW_BYTES = 1_000

/**
 * The daily bytes of each allowance for each request per minute of the rate limit. The name is the
 * storage key of the bytes taken today.
 */
const BYTES_PER_RATE = {
  /** A rate limit of 60 per minute allows 16.2 MB per day, 486 MB in 30 days. */
  'storage-taken': 270_000,
  /** A rate limit of 60 per minute allows 6 GB per day, which are stored for about a day. */
  'uploads-taken': 100_000_000,
} as const
export type AllowanceName = keyof typeof BYTES_PER_RATE

/**
 * An upper bound of the bytes that a job takes in the database.
 * @param size the lengths of its URLs and of its request id, characters; all are ASCII
 */
export function storedBytes(size: {
  imageUrlsLength: number
  requestIdLength: number
  webhookUrlLength: number | null
  /** The URLs of the added endpoints that receive the end of the job. */
  addedUrlLengths?: readonly number[]
}): number {
  const { imageUrlsLength, requestIdLength, webhookUrlLength, addedUrlLengths = [] } = size
  const job =
    JOB_BYTES +
    MAX_FAILURE_REASON_BYTES +
    imageUrlsLength +
    requestIdLength +
    (webhookUrlLength ?? 0)
  const withoutWebhook = jobRowBytes(job) + JOB_INDEX_BYTES + AUDIT_BYTES
  const urls = webhookUrlLength === null ? addedUrlLengths : [webhookUrlLength, ...addedUrlLengths]
  return urls.reduce((bytes, url) => bytes + deliveryBytes(url), withoutWebhook)
}

/** An event and its attempts. */
const deliveryBytes = (url: number) =>
  eventRowBytes(EVENT_BYTES + url) + EVENT_INDEX_BYTES + ATTEMPTS_BYTES

/** Includes the unused bytes of a page: a quarter for a short row, the row's size for a long one. */
const jobRowBytes = (row: number) => Math.ceil(row <= SHORT_ROW_BYTES ? (row * 4) / 3 : row * 2)

/** The table of events has no rowid, so a long row uses an overflow page. */
const eventRowBytes = (row: number) =>
  row <= SHORT_ROW_BYTES ? Math.ceil(row * 1.5) : SHORT_ROW_BYTES + PAGE_BYTES

/** The bytes that an organisation may take of an allowance in a UTC day. */
export const dailyBytes = (name: AllowanceName, rateLimitPerMinute: number): number =>
  rateLimitPerMinute * BYTES_PER_RATE[name]

const dayOf = (now: number) => Math.floor(now / DAY_MS)

export class StorageAllowance {
  readonly #kv: SyncKvStorage
  readonly #name: AllowanceName

  constructor(kv: SyncKvStorage, name: AllowanceName) {
    this.#kv = kv
    this.#name = name
  }

  /** Whether `bytes` are left of today's allowance. */
  has(bytes: number, rateLimitPerMinute: number, now: number): boolean {
    return this.#takenOn(dayOf(now)) + bytes <= dailyBytes(this.#name, rateLimitPerMinute)
  }

  take(bytes: number, now: number): void {
    const day = dayOf(now)
    this.#kv.put(this.#name, { day, bytes: this.#takenOn(day) + bytes })
  }

  #takenOn(day: number): number {
    const taken = this.#kv.get<{ day: number; bytes: number }>(this.#name)
    return taken?.day === day ? taken.bytes : 0
  }
}
