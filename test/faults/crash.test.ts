// Every scenario, once for each of its calls and each way in which that call can go wrong.
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { SCENARIOS } from './scenarios.ts'
import type { Scenario } from './scenarios.ts'
import { FAULTS, OBJECT, FaultInjector } from './fault-injector.ts'
import type { Fault } from './fault-injector.ts'
import { Stage } from './harness.ts'

beforeAll(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterAll(() => void vi.useRealTimers())

/** Plays a scenario to its quiet end. @returns the calls of its act, and what is wrong afterwards */
async function play(scenario: Scenario, fault?: { at: number; fault: Fault }) {
  const stage = await Stage.open()
  const faultInjector = new FaultInjector((at) => (at === fault?.at ? fault.fault : undefined))
  const prepared = (await scenario.prepare?.(stage)) ?? ''
  const reply = await stage.withObjectSpoilt(faultInjector, () =>
    scenario.act(stage, faultInjector, prepared),
  )
  await stage.quiet()
  const wrong = (await scenario.afterwards?.(stage, reply ?? undefined, prepared)) ?? []
  await stage.quiet()
  wrong.push(...(await stage.violations()))
  return { calls: faultInjector.calls, starts: stage.mostStarts, wrong }
}

function faultsAt(call: string): readonly Fault[] {
  // Saying done or retry to the queue answers nothing, and nothing comes after.
  if (call.startsWith('message.')) return ['lost']
  return call.startsWith(OBJECT) ? ['lost', 'unanswered'] : FAULTS
}

const CRASHES = new Set<Fault>(['lost', 'unanswered', 'died'])

const learnt = await learn()
const total = learnt.reduce((sum, { cases }) => sum + cases.length, 0)

async function learn() {
  vi.useFakeTimers({ toFake: ['Date'] })
  const all = []
  for (const scenario of SCENARIOS) {
    const { calls, starts, wrong } = await play(scenario)
    const cases = calls.flatMap((call, at) => faultsAt(call).map((fault) => ({ at, call, fault })))
    all.push({ scenario, starts, wrong, cases })
  }
  return all
}

describe(`${total} crashes`, () => {
  describe.each(learnt)('$scenario.name', ({ scenario, starts, wrong, cases }) => {
    it('leaves nothing behind when nothing goes wrong', () => expect(wrong).toEqual([]))

    it.each(cases)('call $at, $call: $fault', async ({ at, fault }) => {
      const end = await play(scenario, { at, fault })
      expect(end.wrong).toEqual([])
      // A crash may cost a second picture, a message that comes twice may not.
      expect(end.starts).toBeLessThanOrEqual(CRASHES.has(fault) ? starts + 1 : starts)
    })
  })
})
