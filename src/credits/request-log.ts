// The request log in an Organisation's SQLite: one row per batch of requests, one line per request. A
// batch costs one row written. Contains no query values and no IP addresses; of bodies only the redacted ones of
// rejected submissions.
import type { Mode } from '../domain/job.ts'
import { DAY_MS, HOUR_MS, RETENTION_DAYS } from '../domain/limits.ts'
import { firstRow } from './first-row.ts'

/** The maximum length of all lines, in UTF-16 code units. Older batches are deleted. */
const MAX_LENGTH = 64_000_000
/** The maximum number of requests with unknown keys that are logged per hour. */
const MAX_UNKNOWN_PER_HOUR = 100
/** The maximum number of batches that one call deletes. */
const DELETION_BATCH = 500
/** The bounds of one call of `read`, which blocks the object: a few milliseconds. */
const MAX_READ_LENGTH = 1_000_000
const MAX_READ_BATCHES = 4_000
/** The storage key of the number of requests with unknown keys in the current hour. */
const UNKNOWN_KEYS = 'unknown-keys-logged'
/** Ids of batches are instants in this unit, so that they can be deleted by age through the primary key. */
const IDS_PER_MS = 1_000

/** A request as the Worker sends it. */
export interface LoggedRequest {
  /** When the request arrived, ms since 1970. */
  at: number
  mode: Mode
  /** SHA-256 of the API key, hexadecimal. */
  keyHash: string
  method: string
  /** The pattern of the route, such as `/v1/jobs/{jobId}`; empty for a path that does not exist. */
  route: string
  status: number
  /** The error code of the response. */
  code: string | null
  ms: number
  requestId: string
  /** The job in the path, or the one that was created. */
  jobId: string | null
  /** Of the error; null for a success, and for an unknown key. */
  message: string | null
  /** The redacted body of a rejected submission; null if there is none, and for an unknown key. */
  body: string | null
}

/** A request in the log. */
export interface RequestEntry extends Omit<LoggedRequest, 'keyHash'> {
  position: string
  /** The result of `keyReference`; null for a key that the organisation does not have. */
  key: string | null
}

export interface RequestFilter {
  mode?: Mode | undefined
  /** 2, 4 or 5: the first digit of the status. */
  statusClass?: number | undefined
  code?: string | undefined
  /** The result of `keyReference`. */
  key?: string | undefined
  /** Method and pattern, such as `GET /v1/jobs`. */
  route?: string | undefined
  /** A request ID or a job ID. */
  id?: string | undefined
}

export interface RequestQuery {
  filter: RequestFilter
  limit: number
  /** Requests before or after a position, by default the newest. They are in this order. */
  direction: 'older' | 'newer'
  from?: string | undefined
}

export interface RequestScan {
  entries: RequestEntry[]
  /** Where the next call continues; undefined at the end of the log. */
  continueFrom: string | undefined
}

/** The part of a key's hash that the log stores. */
export const keyReference = (keyHash: string): string => keyHash.slice(0, 16)

export class RequestLog {
  readonly #sql: SqlStorage
  readonly #kv: SyncKvStorage

  constructor({ sql, kv }: Pick<DurableObjectStorage, 'sql' | 'kv'>) {
    this.#sql = sql
    this.#kv = kv
  }

  /**
   * Adds a batch. Requests with unknown keys are limited, since anyone can send them.
   * @param isKnown whether the organisation has a key with this hash
   * @returns when to call `deleteExpired`, ms since 1970
   */
  append(requests: LoggedRequest[], isKnown: (keyHash: string) => boolean, now: number): number {
    const unknown = requests.filter(({ keyHash }) => !isKnown(keyHash))
    const logged = new Set(this.#limitUnknown(unknown, now))
    const lines = requests
      .filter((request) => isKnown(request.keyHash) || logged.has(request))
      .map((request) => lineOf(request, isKnown(request.keyHash)))
      .join('\n')
    if (lines !== '') {
      const last = this.#edge('DESC')
      this.#sql.exec(
        'INSERT INTO request_log (id, length_to_here, lines) VALUES (?, ?, ?)',
        Math.max(now * IDS_PER_MS, (last?.id ?? 0) + 1),
        (last?.lengthToHere ?? 0) + lines.length,
        lines,
      )
      this.#deleteExcess()
    }
    return now + LIFETIME_MS
  }

  #limitUnknown(requests: LoggedRequest[], now: number): LoggedRequest[] {
    if (requests.length === 0) return []
    const hour = Math.floor(now / HOUR_MS)
    const stored = this.#kv.get<{ hour: number; count: number }>(UNKNOWN_KEYS)
    const count = stored?.hour === hour ? stored.count : 0
    const logged = requests.slice(0, Math.max(0, MAX_UNKNOWN_PER_HOUR - count))
    if (logged.length > 0) this.#kv.put(UNKNOWN_KEYS, { hour, count: count + logged.length })
    return logged
  }

  /** Reads a part of the log of bounded length. Requests are in the order of their responses. */
  read({ filter, limit, direction, from }: RequestQuery): RequestScan {
    const isOlder = direction === 'older'
    const start = from === undefined ? undefined : readPosition(from)
    const batches = this.#sql.exec<{ id: number; lines: string }>(
      isOlder
        ? 'SELECT id, lines FROM request_log WHERE id <= ? ORDER BY id DESC'
        : 'SELECT id, lines FROM request_log WHERE id >= ? ORDER BY id',
      start?.batch ?? (isOlder ? Number.MAX_SAFE_INTEGER : 0),
    )
    const entries: RequestEntry[] = []
    let length = 0
    let count = 0
    let continueFrom: string | undefined
    for (const { id, lines } of batches) {
      if (length >= MAX_READ_LENGTH || count >= MAX_READ_BATCHES) return { entries, continueFrom }
      length += lines.length
      count++
      const isSearched = filter.id === undefined || lines.includes(filter.id)
      const found = isSearched ? [...parseBatch(id, lines).entries()] : []
      for (const [index, entry] of isOlder ? found.reverse() : found) {
        const isBeyond = isOlder ? index < (start?.index ?? 0) : index > (start?.index ?? 0)
        if (id === start?.batch && !isBeyond) continue
        if (!matches(entry, filter)) continue
        entries.push(entry)
        if (entries.length === limit) return { entries, continueFrom: entry.position }
      }
      // Before the first or after the last line of the batch.
      continueFrom = positionOf(id, isOlder ? 0 : lines.length)
    }
    return { entries, continueFrom: undefined }
  }

  /** @returns undefined for a position that is not in the log */
  entryAt(position: string): RequestEntry | undefined {
    const { batch, index } = readPosition(position)
    const query = 'SELECT lines FROM request_log WHERE id = ?'
    const row = firstRow<{ lines: string }>(this.#sql, query, batch)
    return row && parseBatch(batch, row.lines)[index]
  }

  /** Deletes entries after 7 days. @returns when to call it again, ms since 1970 */
  deleteExpired(now: number): number {
    const expired = (now - LIFETIME_MS) * IDS_PER_MS
    this.#sql.exec(
      'DELETE FROM request_log WHERE id IN (SELECT id FROM request_log WHERE id <= ? ORDER BY id LIMIT ?)',
      expired,
      DELETION_BATCH,
    )
    const first = this.#edge('ASC')
    return first ? first.id / IDS_PER_MS + LIFETIME_MS : Infinity
  }

  /** Deletes the oldest batches while the log is too long. */
  #deleteExcess(): void {
    const first = this.#edge('ASC')
    const last = this.#edge('DESC')
    if (!first || !last || last.lengthToHere - first.lengthToHere <= MAX_LENGTH) return
    this.#sql.exec(
      `DELETE FROM request_log WHERE id IN (
         SELECT id FROM (SELECT id, length_to_here FROM request_log ORDER BY id LIMIT ?)
         WHERE length_to_here <= ?)`,
      DELETION_BATCH,
      last.lengthToHere - MAX_LENGTH,
    )
  }

  #edge(order: 'ASC' | 'DESC') {
    return firstRow<{ id: number; lengthToHere: number }>(
      this.#sql,
      `SELECT id, length_to_here AS lengthToHere FROM request_log ORDER BY id ${order} LIMIT 1`,
    )
  }
}

const LIFETIME_MS = RETENTION_DAYS.requestLog * DAY_MS

function matches(entry: RequestEntry, filter: RequestFilter): boolean {
  const { mode, statusClass, code, key, route, id } = filter
  return (
    (mode === undefined || entry.mode === mode) &&
    (statusClass === undefined || Math.floor(entry.status / 100) === statusClass) &&
    (code === undefined || entry.code === code) &&
    (key === undefined || entry.key === key) &&
    (route === undefined || `${entry.method} ${entry.route}` === route) &&
    (id === undefined || entry.requestId === id || entry.jobId === id)
  )
}

const positionOf = (batch: number, index: number): string => `${batch}.${index}`

/** A malformed position refers to no entry. */
function readPosition(position: string): { batch: number; index: number } {
  const [, batch, index] = /^(\d{1,16})\.(\d{1,6})$/.exec(position) ?? []
  return { batch: Number(batch ?? 0), index: Number(index ?? 0) }
}

/**
 * The fields contain no tabs or line breaks: all are tokens, ids, numbers or JSON. Of a request with an unknown key,
 * which anyone can send, no text is stored.
 */
const lineOf = (request: LoggedRequest, isKnown: boolean): string =>
  [
    request.at,
    request.mode,
    isKnown ? keyReference(request.keyHash) : '',
    request.method,
    request.route,
    request.status,
    request.code ?? '',
    request.ms,
    request.requestId,
    request.jobId ?? '',
    isKnown && request.message !== null ? JSON.stringify([request.message, request.body]) : '',
  ].join('\t')

const parseBatch = (id: number, lines: string): RequestEntry[] =>
  lines.split('\n').map((line, index) => {
    const [at, mode, key, method, route, status, code, ms, requestId, jobId, texts] =
      line.split('\t')
    // Lines of earlier releases have no texts.
    const [message, body] = texts
      ? (JSON.parse(texts) as [message: string, body: string | null])
      : [null, null]
    return {
      position: positionOf(id, index),
      at: Number(at),
      mode: mode === 'live' ? 'live' : 'test',
      key: key || null,
      method: method ?? '',
      route: route ?? '',
      status: Number(status),
      code: code || null,
      ms: Number(ms),
      requestId: requestId ?? '',
      jobId: jobId || null,
      message,
      body,
    }
  })
