import type { ConsoleContext } from '../console-context.ts'

/**
 * An export as a download.
 * @param name of the file, without date and extension
 */
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
