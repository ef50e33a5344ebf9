// Streams a JSON document while it is created, so that only one page is in memory.
import { log } from '../platform/log.ts'
import { auditInsert } from '../organisations/audit-log.ts'
import { requireMember } from '../organisations/authorisation.ts'
import type { OrganisationRequest } from '../organisations/authorisation.ts'

/** Streams the parts of a document. Creates each part when the reader pulls it. */
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
        throw error // aborts the download, so that an incomplete file is noticed
      }
    },
    async cancel() {
      await parts.return(undefined)
    },
  })
}

/** `, "name": [rows]`, page by page. @param present what is exported of a row, by default all of it */
export async function* arrayOf<Row extends object>(
  name: string,
  pages: AsyncIterable<Row[]>,
  present: (row: Row) => object = (row) => row,
) {
  yield `,\n${JSON.stringify(name)}: [`
  let separator = '\n'
  for await (const page of pages) {
    const rows = page.map((row) => JSON.stringify(present(row))).join(',\n')
    if (rows) yield separator + rows
    separator = ',\n'
  }
  yield '\n]'
}

/**
 * All pages of a list with a cursor.
 * @param read reads the page after `last`, the last row of the previous page
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

/**
 * Records an export. For members; what the list contains requires its own permission.
 * @throws AppError not_found
 */
export async function recordExport({
  env,
  actor,
  organisationId,
  list,
}: OrganisationRequest & {
  list: 'ledger' | 'deliveries' | 'request log' | 'audit log'
}): Promise<void> {
  await requireMember({ env, actor, organisationId })
  await auditInsert(env, {
    organisationId,
    actor,
    ...(list === 'ledger'
      ? { action: 'ledger.exported' }
      : { action: 'list.exported', details: { list } }),
  })
}
