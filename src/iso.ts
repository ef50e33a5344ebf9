// Instants as ISO 8601 writes them, in UTC.
const DAY_MS = 24 * 60 * 60_000
const TWO_DIGITS = Array.from({ length: 60 }, (_, n) => String(n).padStart(2, '0'))

let knownDay = NaN
let date = ''

/**
 * What `toISOString` says, in a quarter of its time: a page of a list has up to two hundred instants,
 * which would take as much CPU as signing its links. The date is the platform's, kept for its day.
 * @throws RangeError for an invalid date
 */
export function isoOf(instant: Date): string {
  const ms = instant.getTime()
  const day = Math.floor(ms / DAY_MS)
  if (day !== knownDay) {
    date = instant.toISOString().slice(0, -'HH:MM:SS.mmmZ'.length)
    knownDay = day
  }
  const ofDay = ms - day * DAY_MS
  const seconds = Math.floor(ofDay / 1_000)
  const minutes = Math.floor(seconds / 60)
  const time = [Math.floor(minutes / 60), minutes % 60, seconds % 60]
  return `${date}${time.map((part) => TWO_DIGITS[part]).join(':')}.${String(ofDay % 1_000).padStart(3, '0')}Z`
}
