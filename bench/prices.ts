// The price of a million jobs on Workers Paid, beyond the included amounts.
import type { Counts } from './instrumented.ts'

/** When the prices below were last compared with Cloudflare's price list. */
export const PRICES_AS_OF = '2026-11-21'

/** US dollars per million. */
const PRICES = {
  'Worker requests': 0.3,
  'object requests': 0.15,
  'D1 rows read': 0.001,
  'D1 rows written': 1,
  'object rows read': 0.001,
  'object rows written': 1,
  'queue operations': 0.4,
  'R2 writes (class A)': 4.5,
  'R2 reads (class B)': 0.36,
} as const

/** The price of a million jobs by item, without CPU time, storage and the engine. */
export function priceOfAMillion(counts: Counts, workerRequests: number): Record<string, number> {
  const units: Record<keyof typeof PRICES, number> = {
    'Worker requests': workerRequests,
    'object requests': counts.organisationCalls,
    'D1 rows read': counts.d1RowsRead,
    'D1 rows written': counts.d1RowsWritten,
    'object rows read': counts.objectRowsRead,
    'object rows written': counts.objectRowsWritten,
    'queue operations': counts.queueOperations,
    'R2 writes (class A)': counts.r2Writes,
    'R2 reads (class B)': counts.r2Reads,
  }
  const items = Object.entries(PRICES).map(([name, price]) => [
    name,
    Number((units[name as keyof typeof PRICES] * price).toFixed(3)),
  ])
  const total = items.reduce((sum, [, price]) => sum + Number(price), 0)
  return { ...Object.fromEntries(items), total: Number(total.toFixed(2)) }
}
