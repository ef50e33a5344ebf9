// The response bodies that are stored for an event.
import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { eventIdOf } from '../../src/platform/ids.ts'
import { deliverEvent } from '../../src/webhooks/delivery/deliver.ts'
import { SYSTEM } from '../../src/domain/actor.ts'
import { resendEvent } from '../../src/webhooks/delivery/resend.ts'
import { endedJob, fakeClock, pass } from '../support/retention.ts'
import { fakeUpstream } from '../support/upstream.ts'
import { newOrganisation } from '../support/world.ts'
import { jobsDb } from '../support/jobs-database.ts'

const upstream = fakeUpstream()
fakeClock()

const HOOK = 'https://hooks.test/stored'
const bytesOf = (text: string | null) => new TextEncoder().encode(text ?? '').length

/** Delivers an event several times. @returns the stored attempts in order */
async function delivered(times: number, body: BodyInit) {
  const shop = await newOrganisation()
  upstream.on(HOOK, () => new Response(body))
  const eventId = eventIdOf(await endedJob(shop, 'test', { webhook_url: HOOK }))
  for (let attempt = 0; attempt < times; attempt++) {
    if (attempt > 0) await resendEvent({ env, actor: SYSTEM, organisationId: shop.orgId, eventId })
    await deliverEvent({ env, eventId })
    pass(1_000)
  }
  const { results } = await jobsDb(eventId)
    .prepare(
      'SELECT number, response_body AS body FROM webhook_attempts WHERE event_id = ? ORDER BY number',
    )
    .bind(eventId)
    .all<{ number: number; body: string | null }>()
  return results
}

describe('stored responses', () => {
  it.each([
    ['ASCII', 'x'.repeat(5_000), [128, 1_024]],
    ['characters of four bytes', '😀'.repeat(1_000), [128, 1_024]],
    ['invalid bytes', new Uint8Array(5_000).fill(0xff), [96, 1_023]],
  ])(
    'are truncated to 1 KiB for the latest attempt and to 128 bytes for earlier ones: %s',
    async (_, body, bytes) => {
      const attempts = await delivered(2, body)
      expect(attempts.map((attempt) => bytesOf(attempt.body))).toEqual(bytes)
    },
  )

  it('are stored for the ten latest attempts of an event', async () => {
    const attempts = await delivered(13, 'thanks')
    expect(attempts.map(({ number }) => number)).toEqual(
      Array.from({ length: 10 }, (_, n) => n + 4),
    )
    expect(attempts.every(({ body }) => body === 'thanks')).toBe(true)
  })
})
