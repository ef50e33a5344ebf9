// The invariants of an organisation without work in progress. Pure: the caller collects the facts
// (test/support/facts inside the Worker, bench/soak outside).
import { addedEventIdOf, eventIdOf } from '../../src/platform/ids.ts'
import type { LedgerEntry, Totals } from '../../src/credits/ledger.ts'

/** The facts about one organisation. */
export interface Facts {
  totals: Totals
  /** In any order. */
  entries: Omit<LedgerEntry, 'at' | 'reason'>[]
  /** `cleared` once the pictures and URLs of the job are deleted. */
  jobs: {
    id: string
    mode: string
    status: string
    webhookUrl: string | null
    cleared?: boolean
  }[]
  /** Completed live jobs that retention has deleted. */
  deletedCompleted?: number
  events: { id: string; jobId: string; status: string }[]
  /** The event ids that a receiver accepted; undefined when there was no receiver. */
  received?: string[]
  /** The endpoints that were added before all jobs, and receive the events of all of them. */
  addedEndpointIds?: string[]
}

const UNFINISHED = new Set(['pending', 'processing'])

/** Describes each violated invariant in one sentence. */
export function violations(facts: Facts): string[] {
  return [...ledgerViolations(facts), ...jobViolations(facts), ...eventViolations(facts)]
}

function ledgerViolations({ totals, entries, jobs, deletedCompleted = 0 }: Facts): string[] {
  const found = entryViolations(entries)
  const { granted, balance, reserved, consumed } = totals
  // Only taking credits back after they were used makes the balance negative.
  const minBalance = entries.some(({ kind }) => kind === 'reversal') ? -Infinity : 0
  const isNegative = balance < minBalance || Math.min(granted, reserved, consumed) < 0
  if (granted !== balance + reserved + consumed || isNegative) {
    found.push(`the totals do not add up: ${JSON.stringify(totals)}`)
  }
  const sum = entries.reduce((rest, { amount }) => rest + amount, 0)
  if (sum !== balance) found.push(`the entries add up to ${sum}, the balance is ${balance}`)

  const live = jobs.filter(({ mode }) => mode === 'live')
  const unfinished = live.filter(({ status }) => UNFINISHED.has(status)).length
  if (reserved !== unfinished) found.push(`${reserved} reserved for ${unfinished} unfinished jobs`)
  const completed = live.filter(({ status }) => status === 'completed').length
  if (consumed !== completed + deletedCompleted) {
    found.push(`${consumed} consumed for ${completed} completed jobs`)
  }

  const known = new Set(live.map(({ id }) => id))
  const isRolledUp = entries.some(({ kind }) => kind === 'rollup')
  for (const [jobId, kinds] of kindsByJob(entries)) {
    // Exactly one reservation, then at most one capture or release. The reservation of a job that spans
    // midnight may be rolled up.
    const allowed = isRolledUp
      ? /^(reserve(,capture|,release)?|capture|release)$/
      : /^reserve(,capture|,release)?$/
    if (!allowed.test(kinds.join())) {
      found.push(`${jobId} was settled more than once: ${kinds.join()}`)
    }
    if (kinds.includes('capture') && !known.has(jobId) && deletedCompleted === 0) {
      found.push(`${jobId} was captured without a job`)
    }
  }
  found.push(...reversalViolations(entries))
  const references = entries.flatMap(({ reference }) => reference ?? [])
  if (new Set(references).size < references.length) found.push('a grant was recorded twice')
  return found
}

/** No more is taken back than its grant has added. */
function reversalViolations(entries: Facts['entries']): string[] {
  const rest = new Map<string, number>()
  for (const { kind, amount, reference } of [...entries].sort((a, b) => a.id - b.id)) {
    if (reference === null) continue
    const grant = kind === 'reversal' ? reference.replace(/:reversed:\d+$/, '') : reference
    rest.set(grant, (rest.get(grant) ?? 0) + amount)
  }
  return [...rest]
    .filter(([, amount]) => amount < 0)
    .map(([reference, amount]) => `${-amount} credits too many were taken back from ${reference}`)
}

/** The totals of every entry add up and follow from the entry before it. */
function entryViolations(entries: Facts['entries']): string[] {
  let before = 0
  return [...entries]
    .sort((a, b) => a.id - b.id)
    .flatMap(({ id, kind, amount, granted, balance, reserved, consumed }) => {
      const found: string[] = []
      if (kind === 'reserve' && balance < 0)
        found.push(`entry ${id} reserved more than the balance`)
      if (granted !== balance + reserved + consumed) found.push(`entry ${id} does not add up`)
      if (balance !== before + amount)
        found.push(`entry ${id} does not follow from the previous entry`)
      before = balance
      return found
    })
}

function kindsByJob(entries: Facts['entries']): Map<string, string[]> {
  const kinds = new Map<string, string[]>()
  for (const { jobId, kind } of [...entries].sort((a, b) => a.id - b.id)) {
    if (jobId !== null) kinds.set(jobId, [...(kinds.get(jobId) ?? []), kind])
  }
  return kinds
}

const jobViolations = ({ jobs }: Facts): string[] =>
  jobs
    .filter(({ status }) => UNFINISHED.has(status))
    .map(({ id, status }) => `${id} is still ${status}`)

function eventViolations({ jobs, events, received, addedEndpointIds = [] }: Facts): string[] {
  const found: string[] = []
  const addedIdsOf = ({ id }: { id: string }) =>
    addedEndpointIds.map((endpointId) => addedEventIdOf(id, endpointId))
  const expected = new Set(
    jobs.flatMap((job) => [
      ...(job.webhookUrl === null ? [] : [eventIdOf(job.id)]),
      ...addedIdsOf(job),
    ]),
  )
  const known = new Map(events.map(({ id, status }) => [id, status]))
  for (const id of expected) {
    if (!known.has(id)) found.push(`${id} was not written`)
    else if (received && known.get(id) !== 'delivered') found.push(`${id} is ${known.get(id)}`)
    if (received && !received.includes(id)) found.push(`${id} was not received`)
  }
  // A job whose URLs are deleted may have had a webhook.
  const possible = new Set(jobs.filter(({ cleared }) => cleared).map(({ id }) => eventIdOf(id)))
  const isKnown = (id: string) => expected.has(id) || possible.has(id)
  for (const { id } of events) if (!isKnown(id)) found.push(`${id} belongs to no job`)
  for (const id of received ?? []) {
    if (!isKnown(id)) found.push(`${id} was received but has no job`)
  }
  return found
}
