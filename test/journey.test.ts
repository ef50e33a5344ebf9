// A live job from end to end: submission, picture, webhook and charge.
import { Webhook } from 'standardwebhooks'
import { describe, expect, it, vi } from 'vitest'
import { request } from './support/client.ts'
import { fakeUpstream } from './support/upstream.ts'
import { finished, ledgerOf, newOrganisation, readJob, submit } from './support/world.ts'
import garment from '../samples/garment.png'
import model from '../samples/model.jpg'
import { loadCompositor } from './support/compositor.ts'

await loadCompositor()

const upstream = fakeUpstream()

describe('a live job', () => {
  it('generates a picture, sends the webhook event and charges one credit', async () => {
    const shop = await newOrganisation({ default_webhook_url: 'https://hooks.test/try-on' })
    upstream
      .on('https://cdn.test/model', () => new Response(model))
      .on('https://cdn.test/garment', () => new Response(garment))
      .on('https://hooks.test/try-on', () => new Response('thanks'))

    const submitted = await submit(shop.live, {
      model_image_url: 'https://cdn.test/model',
      garment_image_url: 'https://cdn.test/garment',
    })
    expect(submitted).toEqual({
      job_id: expect.stringMatching(/^job_[0-9a-z]{26}$/),
      status: 'pending',
      mode: 'live',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    })

    const job = await finished(shop.live, submitted.job_id)
    expect(job).toMatchObject({ status: 'completed', credits_consumed: 1, error_code: null })
    const picture = await request(String(job['output_url']).replace('https://try-on.test', ''))
    expect(picture.status).toBe(200)
    expect(picture.headers.get('Content-Type')).toBe('image/jpeg')

    await vi.waitUntil(
      async () => (await readJob(shop.live, job.job_id))['webhook_status'] === 'delivered',
    )
    const [delivery] = upstream.seen('https://hooks.test/try-on')
    const body = new Webhook(shop.webhookSecret).verify(
      delivery!.body,
      Object.fromEntries(delivery!.headers),
    )
    expect(body).toMatchObject({ type: 'job.completed', data: { job_id: job.job_id } })
    expect(await ledgerOf(shop)).toEqual({ granted: 100, balance: 99, reserved: 0, consumed: 1 })
  })
})
