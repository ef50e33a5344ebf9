// Writes CSV (RFC 4180) and the responses that download it.

/** A date is written in ISO 8601, null as an empty cell. */
export type CsvCell = string | number | Date | null | undefined

/** A spreadsheet reads a text that starts with one of these as a formula. */
const FORMULA = /^[=+\-@\t\r]/

/**
 * One line with its line break. A text that a spreadsheet would read as a formula gets an apostrophe at
 * its start; numbers are written unchanged.
 */
export const csvLine = (cells: readonly CsvCell[]): string => `${cells.map(cellOf).join()}\r\n`

/** The lines of each page of rows, for a file that is streamed. */
export async function* csvPages(
  pages: AsyncIterable<readonly (readonly CsvCell[])[]>,
): AsyncGenerator<string> {
  for await (const rows of pages) yield rows.map(csvLine).join('')
}

function cellOf(value: CsvCell): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number') return String(value)
  if (value instanceof Date) return value.toISOString()
  const text = FORMULA.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/**
 * The headers of a downloaded CSV file.
 * @param filename without quotes and non-ASCII characters
 */
export const csvHeaders = (filename: string): Record<string, string> => ({
  'Content-Type': 'text/csv; charset=utf-8; header=present',
  'Content-Disposition': `attachment; filename="${filename}"`,
})
