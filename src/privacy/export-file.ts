// Files that members export: streams a JSON document while it is created, so that only one page is in memory, and
// records exports of lists, other than that of jobs, which has its filter.
import { snakeCase } from '../domain/text.ts'
import { auditInsert, type AuditEntry } from '../organisations/audit-log.ts'
import { requireMember, type OrganisationRequest } from '../organisations/authorisation.ts'
import { log } from '../platform/log.ts'

/** Fields of a row under their names on the wire. JSON writes the dates in ISO 8601. */
export const fieldsOf = <Row extends object>(row: Row, ...names: (keyof Row & string)[]) =>
  Object.fromEntries(names.map((name) => [snakeCase(name), row[name]]))

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

const ROWS_PER_PAGE = 1_000

/**
 * `, "name": [rows]`, page by page.
 * @param list.limit the rows of a page, by default `ROWS_PER_PAGE`
 * @param list.read reads a page, newest first, after the last row of the page before
 * @param list.present what is exported of the rows of a page
 */
export async function* arrayOf<Row extends { id: string | number }>(
  name: string,
  list: {
    limit?: number
    read: (page: { limit: number; beforeId: Row['id'] | undefined }) => Promise<Row[]>
    present: (rows: Row[]) => object[] | Promise<object[]>
  },
) {
  const { limit = ROWS_PER_PAGE } = list
  yield `,\n${JSON.stringify(name)}: [`
  let last: Row | undefined
  for (;;) {
    const page = await list.read({ limit, beforeId: last?.id })
    const rows = await list.present(page)
    if (rows.length > 0) {
      yield (last ? ',\n' : '\n') + rows.map((row) => JSON.stringify(row)).join(',\n')
    }
    if (page.length < limit) break
    last = page.at(-1)
  }
  yield '\n]'
}

/**
 * Records an export. For members; what the list contains requires its own permission.
 * @throws AppError not_found
 */
export async function recordExport({
  list,
  ...request
}: OrganisationRequest & {
  list: 'ledger' | 'deliveries' | 'request log' | 'audit log'
}): Promise<void> {
  await requireMember(request)
  const entry: Pick<AuditEntry, 'action' | 'details'> =
    list === 'ledger'
      ? { action: 'ledger.exported' }
      : { action: 'list.exported', details: { list } }
  await auditInsert({ ...request, ...entry })
}
