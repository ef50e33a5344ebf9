// Attempts whose record is written after their lease has expired or their event was deleted.
import { env } from 'cloudflare:workers'
import { afterEach, expect, it, vi } from 'vitest'
import { eventIdOf } from '../../src/platform/ids.ts'
import { deliverEvent } from '../../src/webhooks/delivery/deliver.ts'
import { deleteEvents } from '../../src/webhooks/event-store.ts'
import { cellsWith } from '../support/traces.ts'
import { fakeUpstream } from '../support/upstream.ts'
import { finished, newOrganisation, readJob, submit } from '../support/world.ts'
import { jobsDb } from '../support/jobs-database.ts'

const upstream = fakeUpstream()
const HOOK = 'https://hooks.test/try-on'
afterEach(() => void vi.useRealTimers())

it.each([
  [410, 'failed'],
  [200, 'delivered'],
])('does not reopen an event that a response of %i has ended', async (last, status) => {
  vi.spyOn(env.WEBHOOKS, 'send').mockRejectedValue(new Error('the queue is unavailable'))
  const shop = await newOrganisation()
  const { job_id: jobId } = await submit(shop.test, { webhook_url: HOOK })
  await finished(shop.test, jobId)
  const eventId = eventIdOf(jobId)
  const replies = [503, last, 503]
  upstream.on(HOOK, () => new Response(null, { status: replies.shift() ?? 500 }))

  vi.useFakeTimers({ toFake: ['Date'] })
  vi.setSystemTime(Date.now() + 5_000)
  const db = jobsDb(eventId)
  const batch = db.batch.bind(db)
  let calls = 0
  vi.spyOn(db, 'batch').mockImplementation(async <T>(statements: D1PreparedStatement[]) => {
    if (++calls === 2) {
      // The lease expires before the first attempt is recorded, and a second attempt is made.
      vi.setSystemTime(Date.now() + 61_000)
      await deliverEvent({ env, eventId })
    }
    return batch<T>(statements)
  })
  await deliverEvent({ env, eventId })
  vi.setSystemTime(Date.now() + 60_000)
  await deliverEvent({ env, eventId })
  expect(upstream.seen(HOOK)).toHaveLength(2)
  expect(await readJob(shop.test, jobId)).toMatchObject({ webhook_status: status })
})

it('stores nothing for an event that was deleted during the attempt', async () => {
  vi.spyOn(env.WEBHOOKS, 'send').mockRejectedValue(new Error('the queue is unavailable'))
  const shop = await newOrganisation()
  const { job_id: jobId } = await submit(shop.test, { webhook_url: HOOK })
  await finished(shop.test, jobId)
  upstream.on(HOOK, async () => {
    await deleteEvents(env, shop.orgId)
    return new Response('thanks')
  })
  await deliverEvent({ env, eventId: eventIdOf(jobId) })
  expect(upstream.seen(HOOK)).toHaveLength(1)
  expect(await cellsWith(eventIdOf(jobId))).toEqual([])
})
