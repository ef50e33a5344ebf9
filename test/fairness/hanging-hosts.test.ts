// Isolation: the hanging servers of one organisation do not delay another one. Uses the real queues,
// with one batch in flight per queue. bench/fairness measures the same under `wrangler dev`.
import { expect, inject, it, vi } from 'vitest'
import { picture, scripted, useEngines } from '../support/fake-engines.ts'
import { jpeg, png } from '../support/picture.ts'
import { drip, fakeUpstream, hang } from '../support/upstream.ts'
import { finished, ledgerOf, newOrganisation, readJob, submit } from '../support/world.ts'

const upstream = fakeUpstream()

const SLOW = {
  model_image_url: 'https://slow.test/model',
  garment_image_url: 'https://slow.test/garment',
}
const FAST = {
  model_image_url: 'https://fast.test/model',
  garment_image_url: 'https://fast.test/garment',
}
const JOBS = 8

// Each waits for the timeouts of requests.
const HOSTS = [
  ['never responds', hang],
  ['never ends its response', drip],
] as const

it.each(inject('matrix') === 'all' ? HOSTS : HOSTS.slice(0, 1))(
  'an image host that %s does not delay other organisations',
  async (_, garment) => {
    useEngines(scripted('engine', { start: [picture], paid: false }))
    upstream
      .on(SLOW.model_image_url, hang)
      .on(SLOW.garment_image_url, garment)
      .on(FAST.model_image_url, () => new Response(jpeg()))
      .on(FAST.garment_image_url, () => new Response(png()))
      .on('https://slow.test/hook', hang)
      .on('https://fast.test/hook', () => new Response())
    const [slow, fast] = [await newOrganisation(), await newOrganisation()]
    for (let n = 0; n < JOBS; n++)
      await submit(slow.test, { webhook_url: 'https://slow.test/hook' })
    await vi.waitUntil(() => upstream.seen('https://slow.test/hook').length > 0)
    const ids: string[] = []
    while (ids.length < JOBS) ids.push((await submit(slow.live, SLOW)).job_id)

    const test = await submit(fast.test, { webhook_url: 'https://fast.test/hook' })
    const live = await submit(fast.live, FAST)
    await Promise.all([
      finished(fast.test, test.job_id),
      finished(fast.live, live.job_id),
      vi.waitUntil(() => upstream.seen('https://fast.test/hook').length === 1),
    ])
    for (const id of ids) {
      expect(['pending', 'processing']).toContain((await readJob(slow.live, id)).status)
    }

    // After the first timeouts, the host gets no more requests.
    for (const id of ids) {
      const job = await vi.waitUntil(
        async () => {
          const { status, error_code } = await (
            await slow.live.get(`/v1/jobs/${id}`)
          ).json<{
            status: string
            error_code: string
          }>()
          return status === 'failed' && error_code
        },
        { interval: 100 },
      )
      expect(job).toBe('model_image_unreachable')
    }
    expect(upstream.seen(SLOW.model_image_url).length).toBeLessThan(JOBS)
    expect(await ledgerOf(slow)).toMatchObject({ balance: 100, reserved: 0 })
  },
  60_000,
)
