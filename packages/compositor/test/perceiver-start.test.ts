// Alone: it starts the models, which an isolate does once.
import { expect, it, vi } from 'vitest'
import { createPerceiver } from '../src/perception.ts'
import { perceptionModules } from '../src/worker-modules.ts'
import { figure } from './files.ts'

it('is tried again after a failure, and then happens once', async () => {
  const damaged = { ...perceptionModules.selfie, weights: new ArrayBuffer(8) }
  const fail = vi.fn(async () => ({ ...perceptionModules, selfie: damaged }))
  await expect(createPerceiver(fail)).rejects.toThrow(Error)
  const unreachable = async () => Promise.reject(new Error('the files are missing'))
  await expect(createPerceiver(unreachable)).rejects.toThrow('the files are missing')

  const u2netp = { ...perceptionModules.u2netp, weights: new ArrayBuffer(8) }
  const half = await createPerceiver(async () => ({ ...perceptionModules, u2netp }))
  await expect(half.salience(figure())).rejects.toThrow(Error)

  const load = vi.fn(async () => perceptionModules)
  const [one, other] = await Promise.all([createPerceiver(load), createPerceiver(load)])
  expect(one).toBe(other)
  expect(await createPerceiver(load)).toBe(one)
  expect(load).toHaveBeenCalledOnce()
  expect((await one.perceive(figure())).pose.nose.score).toBeGreaterThan(0.3)
})
