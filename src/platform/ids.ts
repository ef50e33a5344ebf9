// Identifiers: TypeIDs (https://github.com/jetify-com/typeid, specification 0.3), a prefix and a
// UUIDv7 in base32, so that ids of one kind sort by creation time.
import { TypeID, typeid } from 'typeid-js'

export type Prefix =
  'job' | 'org' | 'ws' | 'key' | 'evt' | 'usr' | 'inv' | 'upl' | 'aud' | 'pay' | 'we'

/** Creates an id, such as `job_01jd3z7v9hf0pb0d2q4k3m5n6p`. */
export const newId = (prefix: Prefix): string => typeid(prefix).toString()

const SUFFIX_LENGTH = 26

/** The highest number of a shard: one byte of an id carries it. */
export const MAX_SHARD = 255
/** The byte of a UUIDv7 with its version and the first bits of `rand_a`, and the bit that marks a shard. */
const MARK_BYTE = 6
const MARK = 0x08
const SHARD_BYTE = 15
/** The character of the suffix whose last bit is the mark. */
const MARK_CHARACTER = 10

/**
 * Creates an id that carries the number of a shard of the jobs databases (platform/db/database) in its last byte.
 * `newId` never sets the first bit of `rand_a`, so the marked ids are distinguished from ids that are
 * older than the shards. Both are valid UUIDv7 (RFC 9562, section 5.7) and sort by creation time.
 */
export function newShardedId(prefix: Prefix, shard: number): string {
  const bytes = typeid(prefix).toUUIDBytes()
  bytes[MARK_BYTE] = (bytes[MARK_BYTE] ?? 0) | MARK
  bytes[SHARD_BYTE] = shard
  return TypeID.fromUUIDBytes(prefix, bytes).toString()
}

/**
 * The shard of an organisation, a job or an event, by its id. Ids without a mark, and texts
 * that are no ids, belong to shard 0.
 */
export function shardOf(id: string): number {
  const suffix = suffixOf(id).slice(0, SUFFIX_LENGTH)
  if (!SUFFIX.test(suffix)) return 0
  // Each statement needs the shard, so it is read without decoding the id: the last bit of this
  // character is the mark, and the last two characters contain the last byte.
  if (!(digitAt(suffix, MARK_CHARACTER) & 1)) return 0
  return (digitAt(suffix, SUFFIX_LENGTH - 2) * 32 + digitAt(suffix, SUFFIX_LENGTH - 1)) & MAX_SHARD
}

const BASE32 = '0123456789abcdefghjkmnpqrstvwxyz'
const digitAt = (suffix: string, at: number): number => BASE32.indexOf(suffix.charAt(at))

/** 128 bits in base32. The first character carries three bits instead of five. */
const SUFFIX = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/

/** Whether a text is a well-formed id of that kind. */
export const isId = (prefix: Prefix, text: string): boolean =>
  text.startsWith(`${prefix}_`) && SUFFIX.test(text.slice(prefix.length + 1))

/** A lower bound for the ids of that kind that are created at `at` (ms since 1970) or later. */
export function firstIdSince(prefix: Prefix, at: number): string {
  const time = at.toString(16).padStart(12, '0')
  const uuid = `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`
  return TypeID.fromUUID(prefix, uuid).toString()
}

/** The 26 characters after the prefix. */
export const suffixOf = (id: string): string => id.slice(id.indexOf('_') + 1)

/**
 * The id of the event of a job's end. It is derived from the job's id, so that receivers can detect a
 * repeated event.
 */
export const eventIdOf = (jobId: string): string => `evt_${suffixOf(jobId)}`

/** The characters that distinguish an event of an added endpoint from the job's own event. */
export const ENDPOINT_SUFFIX_LENGTH = 8

/**
 * The id of the event of a job's end for an added endpoint: the job's own event and the last characters
 * of the endpoint's id. It sorts directly after the job's own event.
 */
export const addedEventIdOf = (jobId: string, endpointId: string): string =>
  `${eventIdOf(jobId)}_${endpointId.slice(-ENDPOINT_SUFFIX_LENGTH)}`

const EVENT_ID = /^evt_[0-7][0-9a-hjkmnp-tv-z]{25}(_[0-9a-hjkmnp-tv-z]{8})?$/

/** Whether a text is a well-formed id of an event, also of an added endpoint. */
export const isEventId = (text: string): boolean => EVENT_ID.test(text)

/** The characters of the suffix that carry the time: two unused bits and the 48 bits of a UUIDv7. */
const TIME_LENGTH = 10

/**
 * When an id was created, ms since 1970. Reads the time of every well-formed id, also of one that is no UUIDv7:
 * clients can send any text of that form.
 */
export const createdAtOf = (id: string): number =>
  Array.from(suffixOf(id).slice(0, TIME_LENGTH)).reduce(
    (time, character) => time * 32 + BASE32.indexOf(character),
    0,
  )
