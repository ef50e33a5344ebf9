// Runs scenarios once for each of their calls and each fault of that call: all of these cases with
// `npm run test:all`, a pairwise sample of them with `npm test`.
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest'
import type { Scenario } from './scenarios.ts'
import { FAULTS, OBJECT, FaultInjector, type Fault } from './fault-injector.ts'
import { Harness } from './harness.ts'
import { pairwise } from './pairwise.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Which cases of a large matrix run: all (`npm run test:all`) or a sample (`npm test`). */
    matrix: 'sample' | 'all'
  }
}

/** Runs a scenario until no work is left. @returns the calls of its run, and the problems */
async function runScenario(scenario: Scenario, fault?: { at: number; fault: Fault }) {
  const harness = await Harness.open()
  const faultInjector = new FaultInjector((at) => (at === fault?.at ? fault.fault : undefined))
  const prepared = (await scenario.prepare?.(harness)) ?? ''
  const reply = await harness.withObjectFaults(faultInjector, () =>
    scenario.run(harness, faultInjector, prepared),
  )
  await harness.finishAllWork()
  const problems = (await scenario.afterwards?.(harness, reply ?? undefined, prepared)) ?? []
  await harness.finishAllWork()
  problems.push(...(await harness.violations()))
  return { calls: faultInjector.calls, starts: harness.mostStarts, problems }
}

/** Chooses the faults to inject at a call, which follows the call `before`. */
export type FaultsAt = (call: string, before?: string) => readonly Fault[]

/** Calls without an effect. */
const READ = /DB\.select$|^IMAGES\.(get|head|list)$|\.metrics$|provider\.(find|read|events)/

const isOrganisation = (call: string) => call.startsWith('Organisation.') || call.startsWith(OBJECT)

/**
 * Without faults that equal one of another call. A lost response of a read equals a lost request, and a crash after it one
 * after the call before it. An eviction of the Organisation equals every other between the same two calls of it.
 */
const faultsAt: FaultsAt = (call, before = '') => {
  // Settling a message has no result and is the last call.
  if (call.startsWith('message.')) return ['request lost']
  const isRead = READ.test(call)
  if (call.startsWith(OBJECT)) return isRead ? ['request lost'] : ['request lost', 'response lost']
  return FAULTS.filter(
    (fault) =>
      (!isRead || (fault !== 'response lost' && fault !== 'killed')) &&
      (fault !== 'evicted' || isOrganisation(call) || isOrganisation(before)),
  )
}

/** Without the faults of reads, except a second invocation before them, and a lost request to the provider. */
export const faultsOfEffectsAt: FaultsAt = (call) => {
  const isObject = call.startsWith(OBJECT)
  if (call.endsWith('DB.select')) return isObject ? [] : ['overtaken']
  return faultsAt(call).filter((fault) => fault !== 'concurrent' || !READ.test(call))
}

interface Case {
  scenario: string
  at: number
  call: string
  fault: Fault
}

/** The cases to run: each pair of scenario, call and fault, or all cases. */
export const chosen = <T extends Omit<Case, 'at'>>(cases: readonly T[]): readonly T[] =>
  inject('matrix') === 'all'
    ? cases
    : pairwise(cases, ({ scenario, call, fault }) => ({ scenario, call, fault }))

const CRASHES = new Set<Fault>(['request lost', 'response lost', 'killed'])

async function recordCalls(scenarios: readonly Scenario[], faultsOf: FaultsAt) {
  vi.useFakeTimers({ toFake: ['Date'] })
  const recorded = []
  for (const scenario of scenarios) recorded.push({ scenario, ...(await runScenario(scenario)) })
  const cases = chosen(
    recorded.flatMap(({ scenario: { name }, calls }) =>
      calls.flatMap((call, at) =>
        faultsOf(call, calls[at - 1]).map((fault): Case => ({ scenario: name, at, call, fault })),
      ),
    ),
  )
  return recorded.map((one) => ({
    ...one,
    cases: cases.filter(({ scenario }) => scenario === one.scenario.name),
  }))
}

/** Defines the tests of the scenarios. Call this in a test file, which must await it. */
export async function testFaults(
  scenarios: readonly Scenario[],
  faultsOf: FaultsAt = faultsAt,
): Promise<void> {
  beforeAll(() => void vi.useFakeTimers({ toFake: ['Date'] }))
  afterAll(() => void vi.useRealTimers())

  const recorded = await recordCalls(scenarios, faultsOf)
  const total = recorded.reduce((sum, { cases }) => sum + cases.length, 0)

  describe(`${total} injected faults`, () => {
    describe.each(recorded)('$scenario.name', ({ scenario, starts, problems, cases }) => {
      it('violates no invariant without a fault', () => expect(problems).toEqual([]))

      // The emulator rarely stalls the eviction of an object beyond the time limit of a test, and the stalled
      // scenario disturbs the next one. A failure of the service repeats.
      it.each(cases)('call $at, $call: $fault', { retry: 1 }, async ({ at, fault }) => {
        const result = await runScenario(scenario, { at, fault })
        expect(result.problems).toEqual([])
        // A crash may cause a second start. A duplicate message must not.
        expect(result.starts).toBeLessThanOrEqual(CRASHES.has(fault) ? starts + 1 : starts)
      })
    })
  })
}
