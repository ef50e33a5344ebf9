// A JSON document that is written while it is downloaded, so that no more than a page of it is in
// memory.
import { log } from '../log.ts'

/** Turns the parts of a document into a stream; a part is created when the reader wants it. */
export function streamOf(parts: AsyncGenerator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await parts.next()
        if (done) controller.close()
        else controller.enqueue(encoder.encode(value))
      } catch (error) {
        log.error('export failed', error)
        throw error // aborts the download, so that the file is not mistaken for a complete one
      }
    },
    async cancel() {
      await parts.return(undefined)
    },
  })
}

/** `"name": [rows]`, page by page. */
export async function* arrayOf(name: string, pages: AsyncIterable<object[]>) {
  yield `${JSON.stringify(name)}: [`
  let separator = '\n'
  for await (const page of pages) {
    const rows = page.map((row) => JSON.stringify(row)).join(',\n')
    if (rows) yield separator + rows
    separator = ',\n'
  }
  yield '\n]'
}

/**
 * Every page of a list that is read by cursor.
 * @param read reads the page after `last`, the last row of the page before
 */
export async function* pagesOf<Row>(
  limit: number,
  read: (last: Row | undefined) => Promise<Row[]>,
): AsyncGenerator<Row[]> {
  let last: Row | undefined
  for (;;) {
    const page = await read(last)
    if (page.length > 0) yield page
    if (page.length < limit) return
    last = page.at(-1)
  }
}
