// Encryption of stored secrets: bound to one organisation each, with a key that can be rotated.
import { createExecutionContext, createScheduledController } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { Webhook } from 'standardwebhooks'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { reencryptWebhookSecrets } from '../../src/webhooks/endpoints/reencrypt-secrets.ts'
import { jobsBindings } from '../../src/platform/db/database.ts'
import { encrypt } from '../../src/platform/db/encryption.ts'
import { eventIdOf, newId, shardOf } from '../../src/platform/ids.ts'
import worker from '../../src/index.ts'
import { deliverEvent } from '../../src/webhooks/delivery/deliver.ts'
import { BASE } from '../support/client.ts'
import { fakeUpstream } from '../support/upstream.ts'
import { newOwner } from '../support/browser.ts'
import {
  finished,
  newOrganisation,
  operator,
  submit,
  type TestOrganisation,
} from '../support/world.ts'
import { jobsDb } from '../support/jobs-database.ts'

const HOOK = 'https://hooks.test/encrypted'
const PLAIN = /whsec_[\w+/=]{20}/

const upstream = fakeUpstream()
beforeEach(() => void upstream.on(HOOK, () => new Response()))

const withKeys = (keys: { ENCRYPTION_KEY?: string; ENCRYPTION_KEY_PREVIOUS?: string }): Env =>
  Object.assign({ ...env }, { ENCRYPTION_KEY: '', ...keys })

const newKey = () => `${newId('org')} of this test`

const stored = async (orgId: string) => {
  const row = await jobsDb(orgId)
    .prepare(
      `SELECT secret AS current, secret_previous AS previous FROM added_webhook_endpoints
       WHERE organisation_id = ? AND id = 'default'`,
    )
    .bind(orgId)
    .first<{ current: string; previous: string | null }>()
  return row ?? { current: '', previous: null }
}

/** All rows of all databases, as text. */
async function dump(): Promise<string> {
  const dumps = [env.DB, ...jobsBindings(env)].map(async (db) => {
    const { results } = await db
      .prepare(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_%' ESCAPE '\\' AND name NOT LIKE 'sqlite%'",
      )
      .all<{ name: string }>()
    const tables = await Promise.all(
      results.map(({ name }) => db.prepare(`SELECT * FROM "${name}"`).all()),
    )
    return tables.map((table) => table.results)
  })
  return JSON.stringify(await Promise.all(dumps))
}

const request = (bindings: Env, path: string) =>
  worker.fetch(
    new Request(`${BASE}${path}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${env.OPERATOR_TOKEN}` },
    }),
    bindings,
    createExecutionContext(),
  )

const rotate = async (bindings: Env, { orgId }: TestOrganisation) => {
  const response = await request(bindings, `/operator/organisations/${orgId}/webhook-secret/rotate`)
  return (await response.json<{ webhook_secret: string }>()).webhook_secret
}

const cron = (bindings: Env) =>
  worker.scheduled(createScheduledController({ cron: '* * * * *' }), bindings)

/** Delivers one event with these settings. @returns those of `secrets` that verify the delivery */
async function verifyingSecrets(bindings: Env, shop: TestOrganisation, secrets: string[]) {
  vi.spyOn(env.WEBHOOKS, 'send').mockRejectedValue(new Error('the queue is unavailable'))
  const { job_id } = await submit(shop.test, { webhook_url: HOOK })
  await finished(shop.test, job_id)
  const before = upstream.seen(HOOK).length
  await deliverEvent({ env: bindings, eventId: eventIdOf(job_id) })
  const delivery = upstream.seen(HOOK)[before]!
  return secrets.filter((secret) => {
    try {
      new Webhook(secret).verify(delivery.body, Object.fromEntries(delivery.headers))
      return true
    } catch {
      return false
    }
  })
}

describe('with ENCRYPTION_KEY set', () => {
  it('stores no secret in plain text, and signs deliveries', async () => {
    const shop = await newOrganisation()
    const { browser, organisationId } = await newOwner()
    await browser.post('/console/settings/webhooks/rotate')
    const next = await rotate(env, shop)
    expect(next).not.toBe(shop.webhookSecret)
    const { current, previous } = await stored(organisationId)
    expect(current).toMatch(/^enc:v1:[0-9a-f]{8}:[\w-]{16}:[\w-]+$/)
    expect(previous).toMatch(/^enc:v1:/)
    expect(previous).not.toBe(current)
    expect(await dump()).not.toMatch(PLAIN)
    expect(await verifyingSecrets(env, shop, [shop.webhookSecret, next])).toHaveLength(2)
  })

  it('does not decrypt a value that was moved to another organisation', async () => {
    const [from, to] = [await newOrganisation(), await newOrganisation()]
    await jobsDb(to.orgId)
      .prepare('UPDATE added_webhook_endpoints SET secret = ? WHERE organisation_id = ?')
      .bind((await stored(from.orgId)).current, to.orgId)
      .run()
    vi.spyOn(env.WEBHOOKS, 'send').mockRejectedValue(new Error('the queue is unavailable'))
    const { job_id } = await submit(to.test, { webhook_url: HOOK })
    await finished(to.test, job_id)
    await expect(deliverEvent({ env, eventId: eventIdOf(job_id) })).rejects.toThrow()
    expect(upstream.seen(HOOK)).toHaveLength(0)
    // No attempt is recorded, because the receiver did not fail.
    const attempts = await jobsDb(eventIdOf(job_id))
      .prepare('SELECT * FROM webhook_attempts WHERE event_id = ?')
      .bind(eventIdOf(job_id))
      .all()
    expect(attempts.results).toHaveLength(0)
  })

  it('does not decrypt a modified value', async () => {
    const { browser, organisationId } = await newOwner()
    await browser.get('/console/settings/webhooks')
    await jobsDb(organisationId)
      .prepare('UPDATE added_webhook_endpoints SET secret = ? WHERE organisation_id = ?')
      .bind(`${(await stored(organisationId)).current.slice(0, -4)}AAAA`, organisationId)
      .run()
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const page = await browser.post('/console/settings/webhooks/reveal')
    expect(page.status).toBe(500)
    expect(page.html).not.toContain('whsec_')
  })

  it('requires 32 characters for both keys', async () => {
    const errors = vi.spyOn(console, 'error').mockImplementation(() => {})
    for (const name of ['ENCRYPTION_KEY', 'ENCRYPTION_KEY_PREVIOUS']) {
      const response = await request(withKeys({ [name]: 'short' }), '/operator/organisations')
      expect(response.status).toBe(500)
      expect(errors.mock.calls.join()).toContain(`${name} must have at least 32 characters`)
    }
  })
})

describe('without ENCRYPTION_KEY', () => {
  it('stores secrets in plain text and logs one warning', async () => {
    const warnings = vi.spyOn(console, 'warn').mockImplementation(() => {})
    const unset = withKeys({})
    expect(await encrypt(unset, { context: 'context', text: 'whsec_x' })).toBe('whsec_x')
    await encrypt(unset, { context: 'context', text: 'whsec_y' })
    expect(warnings.mock.calls.join()).toContain('ENCRYPTION_KEY is not set')
    expect(warnings).toHaveBeenCalledTimes(1)
  })

  it('signs with plain secrets, and cron encrypts them once a key is set', async () => {
    const shop = await newOrganisation()
    const unset = withKeys({ ENCRYPTION_KEY_PREVIOUS: env.ENCRYPTION_KEY })
    const plain = await rotate(unset, shop)
    expect((await stored(shop.orgId)).current).toBe(plain)
    expect(await verifyingSecrets(unset, shop, [plain])).toHaveLength(1)
    const set = withKeys({
      ENCRYPTION_KEY: newKey(),
      ENCRYPTION_KEY_PREVIOUS: env.ENCRYPTION_KEY,
    })
    expect(await verifyingSecrets(set, shop, [plain])).toHaveLength(1)
    await cron(set)
    expect((await stored(shop.orgId)).current).toMatch(/^enc:v1:/)
    expect(await dump()).not.toMatch(PLAIN)
    expect(await verifyingSecrets(set, shop, [plain, shop.webhookSecret])).toHaveLength(2)
  })
})

describe('rotation of ENCRYPTION_KEY', () => {
  it('re-encrypts all secrets, after which the previous key is not needed', async () => {
    const shop = await newOrganisation()
    const next = newKey()
    const rotating = withKeys({
      ENCRYPTION_KEY: next,
      ENCRYPTION_KEY_PREVIOUS: env.ENCRYPTION_KEY,
    })
    const { current: before } = await stored(shop.orgId)
    expect(await verifyingSecrets(rotating, shop, [shop.webhookSecret])).toHaveLength(1)
    await cron(rotating)
    const { current: after } = await stored(shop.orgId)
    expect(after.split(':')[2]).not.toBe(before.split(':')[2])
    const ended = withKeys({ ENCRYPTION_KEY: next })
    expect(await verifyingSecrets(ended, shop, [shop.webhookSecret])).toHaveLength(1)
    await expect(verifyingSecrets(env, shop, [])).rejects.toThrow(
      /The encryption key \w+ is not set/,
    )
  })

  it('re-encrypts a limited number at a time until all are done', async () => {
    // The limit is that of a shard. Three of nine organisations share one of four shards.
    const all = await Promise.all(Array.from({ length: 9 }, () => newOrganisation()))
    const shards = Map.groupBy(all, ({ orgId }) => shardOf(orgId)).values()
    const shops = [...shards].find(({ length }) => length >= 3) ?? []
    const [first, second] = [newKey(), newKey()]
    // Both keys belong to this test, so that no other value uses them.
    const begun = withKeys({ ENCRYPTION_KEY: first, ENCRYPTION_KEY_PREVIOUS: env.ENCRYPTION_KEY })
    await reencryptWebhookSecrets(begun, 1_000)
    const rotating = withKeys({ ENCRYPTION_KEY: second, ENCRYPTION_KEY_PREVIOUS: first })
    const keyIds = async () =>
      Promise.all(shops.map(async ({ orgId }) => (await stored(orgId)).current.split(':')[2]))
    const [old] = await keyIds()
    const left = async () => (await keyIds()).filter((id) => id === old).length
    for (let call = 0; (await left()) > 0 && call < 100; call++) {
      const before = await left()
      await reencryptWebhookSecrets(rotating, 1)
      expect(before - (await left())).toBeLessThanOrEqual(1)
    }
    expect(await left()).toBe(0)
  })

  it('does not overwrite a secret that is rotated concurrently', async () => {
    const shop = await newOrganisation()
    const keys = { ENCRYPTION_KEY: newKey(), ENCRYPTION_KEY_PREVIOUS: env.ENCRYPTION_KEY }
    const [, next] = await Promise.all([cron(withKeys(keys)), rotate(withKeys(keys), shop)])
    await cron(withKeys(keys))
    expect(await verifyingSecrets(withKeys(keys), shop, [next, shop.webhookSecret])).toHaveLength(2)
  })
})

it('the operator API returns 404 for the secret of an unknown organisation', async () => {
  const path = `/operator/organisations/${newId('org')}/webhook-secret/rotate`
  expect((await operator.post(path)).status).toBe(404)
})
