// Every scenario, once for each of its calls and each fault of that call.
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { SCENARIOS } from './scenarios.ts'
import type { Scenario } from './scenarios.ts'
import { FAULTS, OBJECT, FaultInjector } from './fault-injector.ts'
import type { Fault } from './fault-injector.ts'
import { Harness } from './harness.ts'

beforeAll(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterAll(() => void vi.useRealTimers())

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

function faultsAt(call: string): readonly Fault[] {
  // Settling a message has no result and is the last call.
  if (call.startsWith('message.')) return ['request lost']
  return call.startsWith(OBJECT) ? ['request lost', 'response lost'] : FAULTS
}

const CRASHES = new Set<Fault>(['request lost', 'response lost', 'killed'])

const recorded = await recordCalls()
const total = recorded.reduce((sum, { cases }) => sum + cases.length, 0)

async function recordCalls() {
  vi.useFakeTimers({ toFake: ['Date'] })
  const all = []
  for (const scenario of SCENARIOS) {
    const { calls, starts, problems } = await runScenario(scenario)
    const cases = calls.flatMap((call, at) => faultsAt(call).map((fault) => ({ at, call, fault })))
    all.push({ scenario, starts, problems, cases })
  }
  return all
}

describe(`${total} injected faults`, () => {
  describe.each(recorded)('$scenario.name', ({ scenario, starts, problems, cases }) => {
    it('violates no invariant without a fault', () => expect(problems).toEqual([]))

    it.each(cases)('call $at, $call: $fault', async ({ at, fault }) => {
      const result = await runScenario(scenario, { at, fault })
      expect(result.problems).toEqual([])
      // A crash may cause a second start. A duplicate message must not.
      expect(result.starts).toBeLessThanOrEqual(CRASHES.has(fault) ? starts + 1 : starts)
    })
  })
})
