// Files that pages offer: exports as JSON, and lists as CSV.
import { csvHeaders, csvPages, type CsvCell } from '../http/csv.ts'
import { streamOf, recordExport } from '../privacy/export-file.ts'
import { scopeOf, type ConsoleContext } from './console-context.ts'

type Rows = readonly (readonly CsvCell[])[]

/** The pages of a list that one file contains, and the rows of each. */
const MAX_PAGES = 20
export const EXPORT_PAGE_SIZE = 500

/**
 * A file that is streamed page by page. The first page is read before the response, so that its errors have
 * their status.
 * @param name of the file, without its date and extension
 * @param list recorded in the audit log; the export of jobs records itself with its filter
 */
export async function csvResponse(
  c: ConsoleContext,
  { name, list }: { name: string; list?: Parameters<typeof recordExport>[0]['list'] },
  pages: AsyncGenerator<Rows>,
) {
  const first = await pages.next()
  if (list) await recordExport({ ...scopeOf(c), list })
  async function* all(): AsyncGenerator<Rows> {
    if (first.done) return
    yield first.value
    yield* pages
  }
  const date = new Date().toISOString().slice(0, 10)
  return c.body(streamOf(csvPages(all())), 200, csvHeaders(`try-on-${name}-${date}.csv`))
}

/**
 * The rows of a list that is read page by page, with their header. A last row says so if they are not all.
 * @param read returns a page, and the cursor of the next one
 * @param columns the cells of a row, by their names in the header
 */
export async function* rowsOf<Row, Cursor>(
  read: (cursor: Cursor | undefined) => Promise<{ rows: Row[]; next: Cursor | null | undefined }>,
  columns: Record<string, (row: Row) => CsvCell>,
): AsyncGenerator<Rows> {
  let cursor: Cursor | undefined
  for (let count = 0; count < MAX_PAGES; count++) {
    const { rows, next } = await read(cursor)
    const lines = rows.map((row) => Object.values(columns).map((cell) => cell(row)))
    yield count === 0 ? [Object.keys(columns), ...lines] : lines
    if (next === null || next === undefined) return
    cursor = next
  }
  yield [['There are more rows. Select fewer with the filters.']]
}

/** An export as a download. @param name of the file, without date and extension */
export function exportResponse(
  c: ConsoleContext,
  file: ReadableStream<Uint8Array> | string,
  name: string,
) {
  const date = new Date().toISOString().slice(0, 10)
  return c.body(file, 200, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Disposition': `attachment; filename="${name}-${date}.json"`,
  })
}
