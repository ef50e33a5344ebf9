// What must hold for every organisation at every quiet moment. Pure: whoever asks gathers the facts
// (test/support/facts from inside the Worker, bench/soak from outside).
import { eventIdOf } from '../../src/ids.ts'
import type { LedgerEntry, Totals } from '../../src/organisation/ledger.ts'

/** All that is known of one organisation. */
export interface Facts {
  totals: Totals
  /** In any order. */
  entries: Pick<LedgerEntry, 'id' | 'kind' | 'amount' | 'jobId' | 'reference'>[]
  jobs: { id: string; mode: string; status: string; webhookUrl: string | null }[]
  events: { id: string; jobId: string; status: string }[]
  /** Event ids that a receiver was sent and accepted; undefined when no receiver was watched. */
  received?: string[]
}

const UNFINISHED = new Set(['pending', 'processing'])

/**
 * Whatever is wrong, each in one sentence; empty when every invariant holds.
 * @param facts of one organisation with no work in progress
 */
export function violations(facts: Facts): string[] {
  return [...ledgerFaults(facts), ...jobFaults(facts), ...eventFaults(facts)]
}

function ledgerFaults({ totals, entries, jobs }: Facts): string[] {
  const faults: string[] = []
  const { granted, balance, reserved, consumed } = totals
  if (granted !== balance + reserved + consumed || Math.min(balance, reserved, consumed) < 0) {
    faults.push(`the totals do not add up: ${JSON.stringify(totals)}`)
  }
  const sum = entries.reduce((rest, { amount }) => rest + amount, 0)
  if (sum !== balance) faults.push(`the entries add up to ${sum}, the balance is ${balance}`)

  const live = jobs.filter(({ mode }) => mode === 'live')
  const unfinished = live.filter(({ status }) => UNFINISHED.has(status)).length
  if (reserved !== unfinished) faults.push(`${reserved} reserved for ${unfinished} unfinished jobs`)
  const completed = live.filter(({ status }) => status === 'completed').length
  if (consumed !== completed) faults.push(`${consumed} consumed for ${completed} completed jobs`)

  const known = new Set(live.map(({ id }) => id))
  for (const [jobId, kinds] of kindsByJob(entries)) {
    // Exactly one reservation, and at most one of capture and release, in this order.
    if (!/^reserve(,capture|,release)?$/.test(kinds.join())) {
      faults.push(`${jobId} was settled more than once: ${kinds.join()}`)
    }
    if (kinds.includes('capture') && !known.has(jobId)) faults.push(`${jobId} was paid for nothing`)
  }
  const references = entries.flatMap(({ reference }) => reference ?? [])
  if (new Set(references).size < references.length) faults.push('a grant was made twice')
  return faults
}

function kindsByJob(entries: Facts['entries']): Map<string, string[]> {
  const kinds = new Map<string, string[]>()
  for (const { jobId, kind } of [...entries].sort((a, b) => a.id - b.id)) {
    if (jobId !== null) kinds.set(jobId, [...(kinds.get(jobId) ?? []), kind])
  }
  return kinds
}

const jobFaults = ({ jobs }: Facts): string[] =>
  jobs
    .filter(({ status }) => UNFINISHED.has(status))
    .map(({ id, status }) => `${id} is still ${status}`)

function eventFaults({ jobs, events, received }: Facts): string[] {
  const faults: string[] = []
  const expected = new Set(
    jobs.filter(({ webhookUrl }) => webhookUrl !== null).map(({ id }) => eventIdOf(id)),
  )
  const known = new Map(events.map(({ id, status }) => [id, status]))
  for (const id of expected) {
    if (!known.has(id)) faults.push(`${id} was never written`)
    else if (received && known.get(id) !== 'delivered') faults.push(`${id} is ${known.get(id)}`)
    if (received && !received.includes(id)) faults.push(`${id} never reached its receiver`)
  }
  for (const { id } of events) if (!expected.has(id)) faults.push(`${id} belongs to no job`)
  for (const id of received ?? []) {
    if (!expected.has(id)) faults.push(`${id} was delivered, and is nobody's`)
  }
  return faults
}
