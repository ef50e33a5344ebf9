// The price of a million jobs on Workers Paid, beyond the included amounts.
import type { Counts } from './instrumented.ts'

/** When the prices below were last compared with Cloudflare's price list. */
export const PRICES_AS_OF = '2026-11-21'

/** US dollars per million, and what is counted. */
const PRICES: Record<string, [number, keyof Counts | 'workerRequests']> = {
  'Worker requests': [0.3, 'workerRequests'],
  'object requests': [0.15, 'organisationCalls'],
  'D1 rows read': [0.001, 'd1RowsRead'],
  'D1 rows written': [1, 'd1RowsWritten'],
  'object rows read': [0.001, 'objectRowsRead'],
  'object rows written': [1, 'objectRowsWritten'],
  'queue operations': [0.4, 'queueOperations'],
  'R2 writes (class A)': [4.5, 'r2Writes'],
  'R2 reads (class B)': [0.36, 'r2Reads'],
}

/** The price of a million jobs by item, without CPU time, storage and the engine. */
export function priceOfAMillion(counts: Counts, workerRequests: number): Record<string, number> {
  const units = { ...counts, workerRequests }
  const items = Object.entries(PRICES).map(
    ([name, [price, unit]]) => [name, Number((units[unit] * price).toFixed(3))] as const,
  )
  const total = items.reduce((sum, [, price]) => sum + price, 0)
  return { ...Object.fromEntries(items), total: Number(total.toFixed(2)) }
}
