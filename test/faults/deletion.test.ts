// The deletion of an organisation after its grace period, once for each of its calls and each fault of
// that call. The next runs must complete it.
import { env } from 'cloudflare:workers'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { runDeletions } from '../../src/privacy/run-deletions.ts'
import { PAST_GRACE_MS } from '../support/deletion.ts'
import { cellsWith, NOTHING_STORED, picturesWith, storedIn } from '../support/traces.ts'
import { CDN, HOOK, Harness } from './harness.ts'
import { FAULTS, FaultInjector, type Fault } from './fault-injector.ts'
import { chosen } from './test-faults.ts'

beforeAll(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterAll(() => void vi.useRealTimers())

const operate = (harness: Harness, method: string, rest = '') =>
  harness.request(
    new FaultInjector(),
    env.OPERATOR_TOKEN,
    method,
    `/operator/organisations/${harness.shop.orgId}${rest}`,
  )

/** An organisation with a completed job and a failed one, whose grace period is over. */
async function pastGracePeriod(): Promise<{ harness: Harness; jobIds: string[] }> {
  const harness = await Harness.open()
  const jobIds: string[] = []
  for (const garment of ['garment', 'missing']) {
    const body = {
      model_image_url: `${CDN}/model`,
      garment_image_url: `${CDN}/${garment}`,
      webhook_url: HOOK,
    }
    const key = harness.shop.keys.live
    const reply = await harness.request(new FaultInjector(), key, 'POST', '/v1/tryon', { body })
    jobIds.push(String(reply?.body['job_id']))
  }
  await harness.finishAllWork()
  await operate(harness, 'DELETE')
  harness.advance(PAST_GRACE_MS)
  return { harness, jobIds }
}

/** Deletes the organisation. @returns the calls of the first run, and the problems after the next */
async function runDeletion(fault?: { at: number; fault: Fault }) {
  const { harness, jobIds } = await pastGracePeriod()
  const { orgId } = harness.shop
  const faultInjector = new FaultInjector((at) => (at === fault?.at ? fault.fault : undefined))
  await harness.invoke(faultInjector, (bindings) => runDeletions(bindings))
  const problems: string[] = []
  if ((await operate(harness, 'POST', '/restore'))?.status !== 404)
    problems.push('it could be restored')
  for (let minute = 0; minute < 3; minute++) {
    harness.advance(60_000)
    await harness.sweep()
    await harness.invoke(new FaultInjector(), (bindings) => runDeletions(bindings))
    await harness.drain()
    await harness.alarm()
  }
  for (const cell of await cellsWith(orgId)) {
    if (cell !== 'closed_organisations.id') problems.push(`${cell} contains its id`)
  }
  for (const jobId of jobIds) problems.push(...(await cellsWith(jobId)))
  problems.push(...(await picturesWith(...jobIds)))
  expect(await storedIn(orgId)).toEqual(NOTHING_STORED)
  const closed = await env.DB.prepare(
    'SELECT granted, consumed, json_array_length(grants) AS grants FROM closed_organisations WHERE id = ?',
  )
    .bind(orgId)
    .first()
  expect(closed).toEqual({ granted: 100, consumed: 1, grants: 1 })
  return { calls: faultInjector.calls, problems }
}

vi.useFakeTimers({ toFake: ['Date'] })
const { calls, problems } = await runDeletion()
const cases = chosen(
  calls.flatMap((call, at) => FAULTS.map((fault) => ({ scenario: 'deletion', at, call, fault }))),
)

describe('the deletion of an organisation', () => {
  it('leaves only the closing record when nothing fails', () => {
    expect(problems).toEqual([])
    expect(calls).toEqual(
      expect.arrayContaining([
        'IMAGES.delete',
        'Organisation.closingRecord',
        'Organisation.destroy',
        'DB.batch',
      ]),
    )
  })

  it.each(cases)('call $at, $call: $fault', async ({ at, fault }) => {
    expect((await runDeletion({ at, fault })).problems).toEqual([])
  })
})
