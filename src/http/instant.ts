// Instants in requests.
import { z } from 'zod'

/** A query parameter: an ISO 8601 instant with a time zone, parsed to the millisecond. */
export const Instant = z.iso
  .datetime({
    offset: true,
    error: ({ code }) =>
      code === 'invalid_type'
        ? 'must not be repeated'
        : 'must be an ISO 8601 instant with a time zone, such as 2026-01-31T09:00:00Z (encode + as %2B)',
  })
  .transform(toDate)

/** Jobs are created at whole milliseconds, so a bound between two of them is the same as the later one. */
function toDate(text: string): Date {
  const roundUp = /\.\d{3}\d*[1-9]/.test(text) ? 1 : 0
  // Ids cannot express an instant before 1970.
  return new Date(Math.max(0, Date.parse(text) + roundUp))
}
