// The page size of lists, and the link from a page to the next.
import { z } from 'zod'
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../domain/limits.ts'
import type { Page } from '../domain/page.ts'

const PAGE_LIMIT = `must be a whole number from 1 to ${MAX_PAGE_SIZE}`

/** The `limit` query parameter of every list. */
export const PageLimit = z
  .string('must not be repeated')
  .regex(/^\d{1,3}$/, PAGE_LIMIT)
  .transform(Number)
  .pipe(z.int().min(1, PAGE_LIMIT).max(MAX_PAGE_SIZE, PAGE_LIMIT))
  .default(DEFAULT_PAGE_SIZE)
  .meta({
    description: 'The maximum number of items on the page.',
    // A query string has texts only; the document describes their meaning.
    override: ({ jsonSchema }) => {
      delete jsonSchema.pattern
      Object.assign(jsonSchema, {
        type: 'integer',
        minimum: 1,
        maximum: MAX_PAGE_SIZE,
        default: DEFAULT_PAGE_SIZE,
      })
    },
  })

/** How a page refers to the next one. @param cursorOf the cursor after a row; by default its id */
export function nextPage<Row extends { id: string }>(
  { rows, hasMore }: Page<Row>,
  cursorOf = (last: Row) => last.id,
) {
  const last = rows.at(-1)
  return { next_cursor: hasMore && last ? cursorOf(last) : null, has_more: hasMore }
}
