// The command line against the service: webhook endpoints, deliveries and usage.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type {
  CreatedWebhookEndpoint,
  TestEvent,
  Usage,
  WebhookDelivery,
  WebhookEndpoint,
} from '../../packages/client/src/index.ts'
import { newShop, type CliHome } from './support/cli.ts'
import { sharedService } from './support/service.ts'

const service = sharedService()
let home: CliHome

before(async () => {
  ;({ home } = await newShop())
})

after(() => home?.remove())

/** The document on stdout. @throws AssertionError unless the command succeeds */
async function json<T>(...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await home.run([...args, '--json'])
  assert.equal(code, 0, stderr)
  return JSON.parse(stdout) as T
}

const endpoints = async () =>
  (await json<{ webhook_endpoints: WebhookEndpoint[] }>('webhooks', 'list')).webhook_endpoints

describe('webhooks', () => {
  it('creates, changes, tests and deletes an endpoint, and resends a delivery', async () => {
    assert.match((await home.run(['webhooks', 'list'])).stdout, /No webhook endpoints/)
    // The service is on this computer, and answers unknown paths with 404.
    const url = `${service.url}/nowhere`
    const text = await home.run(['webhooks', 'create', url, '--events', 'job.failed'])
    assert.match(text.stdout, /Events +job\.failed\n.*Secret +whsec_/s)
    const created = await json<CreatedWebhookEndpoint>(
      'webhooks',
      'create',
      url,
      '--name',
      'Orders',
    )
    assert.deepEqual([created.mode, created.name, created.events.length], ['test', 'Orders', 4])
    const { id } = created
    const secret = await home.run(['webhooks', 'rotate-secret', id])
    assert.match(secret.stdout, /^whsec_/)

    const sent = await json<TestEvent>('webhooks', 'test', id, '--event', 'job.failed')
    assert.equal(sent.type, 'job.failed')
    await json('jobs', 'wait', sent.job_id).catch(() => {})
    const query = ['deliveries', '--job', sent.job_id, '--endpoint', id]
    type List = { webhook_deliveries: WebhookDelivery[] }
    const { webhook_deliveries: found } = await json<List>('webhooks', ...query)
    assert.equal(found.length, 1)
    const eventId = found[0]?.event_id ?? ''
    assert.match((await home.run(['webhooks', 'delivery', eventId])).stdout, /Type +job\.failed/)
    assert.match((await home.run(['webhooks', 'deliveries'])).stdout, /^EVENT +TYPE +STATUS/)
    // Its first retry is due in seconds, or was just made.
    const { stdout, stderr } = await home.run(['webhooks', 'resend', eventId, '--json'])
    assert.match(stdout + stderr, /delivery_in_progress|"status": "retrying"/)

    const disabled = await json<WebhookEndpoint>('webhooks', 'update', id, '--status', 'disabled')
    assert.equal(disabled.status, 'disabled')
    await json('webhooks', 'delete', id)
    assert.deepEqual(
      (await endpoints()).map(({ events }) => events),
      [['job.failed']],
    )
  })

  it('rejects wrong options', async () => {
    const run = async (...args: string[]) => {
      const { code, stderr } = await home.run(['webhooks', ...args])
      return [code, stderr] as const
    }
    assert.match((await run('create', 'https://shop.example/', '--events', 'x'))[1], /must be some/)
    assert.match((await run('update', 'we_1'))[1], /Nothing to change/)
    assert.deepEqual((await run('update', 'we_1', '--mode', 'x'))[0], 2)
    assert.match((await run('delete', 'we_1'))[1], /not_found/)
  })
})

describe('usage', () => {
  it('prints the days with jobs and the total', async () => {
    const { total, mode } = await json<Usage>('usage')
    assert.equal(mode, 'test')
    const { stdout } = await home.run(['usage'])
    assert.match(stdout, /^DAY +COMPLETED +FAILED/)
    assert.match(stdout, new RegExp(`Total +${total.completed} +${total.failed}`))
    const byKey = await home.run(['usage', '--by-key'])
    assert.match(byKey.stdout, /^KEY +DAY +COMPLETED/)
    assert.match(byKey.stdout, / \(key_\w+\) +\d{4}-\d\d-\d\d +\d/)
    const { api_keys: keys } = await json<Usage>('usage', '--by-key')
    assert.deepEqual(
      keys?.map((key) => key.total),
      [total],
    )
  })
})
