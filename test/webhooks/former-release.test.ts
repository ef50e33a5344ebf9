// Endpoints and secrets of the release before the default endpoints, which stored the default URL and its
// secrets in `organisations`, and failing origins in `webhook_endpoints`.
import { applyD1Migrations } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { Webhook } from 'standardwebhooks'
import { beforeEach, expect, it, vi } from 'vitest'
import { hashKey, createKey } from '../../src/credits/api-key.ts'
import { SYSTEM } from '../../src/domain/actor.ts'
import { DEFAULT_ENDPOINT } from '../../src/domain/webhook.ts'
import { addedEventIdOf, eventIdOf, newId } from '../../src/platform/ids.ts'
import { runRetention } from '../../src/privacy/run-retention.ts'
import { deliverEvent } from '../../src/webhooks/delivery/deliver.ts'
import { encryptWebhookSecret, newWebhookSecret } from '../../src/webhooks/endpoints/secrets.ts'
import { readEndpoint, revealSecret, rotateSecret } from '../../src/webhooks/endpoints/endpoints.ts'
import { clientOf } from '../support/client.ts'
import { migrateToBefore } from '../support/migrate-to-before.ts'
import { fakeUpstream } from '../support/upstream.ts'
import { operator, submit } from '../support/world.ts'

const DEFAULT_URL = 'https://default.test/hook'
const ADDED_URL = 'https://added.test/hook'
const DISABLED = 'https://disabled.test'

const accounts = env.DB
/** Ids without a mark belong to shard 0. */
const shard = env.JOBS_DB_0
const upstream = fakeUpstream()
beforeEach(() => {
  upstream.on(DEFAULT_URL, () => new Response())
  upstream.on(ADDED_URL, () => new Response())
  vi.spyOn(env.WEBHOOKS, 'send').mockRejectedValue(new Error('the queue is unavailable'))
})

const insert = (db: D1Database, table: string, row: Record<string, unknown>) =>
  db
    .prepare(
      `INSERT INTO ${table} (${Object.keys(row).join()}) VALUES (${Object.keys(row).map(() => '?')})`,
    )
    .bind(...Object.values(row))
    .run()

/** An organisation, as the release before stored it. */
async function formerOrganisation() {
  const organisationId = newId('org')
  const secrets = { current: newWebhookSecret(), previous: newWebhookSecret() }
  const stored = (secret: string) => encryptWebhookSecret(env, { organisationId, secret })
  await insert(accounts, 'organisations', {
    id: organisationId,
    name: 'Shop',
    plan: 'starter',
    region_code: 'EU',
    rate_limit_per_minute: 60,
    default_webhook_url: DEFAULT_URL,
    webhook_secret: await stored(secrets.current),
    webhook_secret_previous: await stored(secrets.previous),
    webhook_secret_previous_until: Date.now() + 60_000,
    created_at: 1,
  })
  const workspace = { id: newId('ws'), organisation_id: organisationId, name: 'Default' }
  await insert(accounts, 'workspaces', { ...workspace, created_at: 1 })
  const key = createKey(organisationId, 'test')
  await insert(accounts, 'api_keys', {
    id: newId('key'),
    organisation_id: organisationId,
    mode: 'test',
    name: 'Test',
    hash: hashKey(key),
    last_four: key.slice(-4),
    created_at: 1,
  })
  const endpoint = { id: newId('we'), secret: newWebhookSecret() }
  await insert(shard, 'added_webhook_endpoints', {
    organisation_id: organisationId,
    id: endpoint.id,
    name: 'Order system',
    url: ADDED_URL,
    types: '["job.completed"]',
    secret: await stored(endpoint.secret),
    created_at: 1,
  })
  return { organisationId, workspaceId: workspace.id, key, secrets, endpoint }
}

type Former = Awaited<ReturnType<typeof formerOrganisation>>

/** A job that the release before ended, with an event for a URL. */
async function undelivered(shop: Former, url: string, endpointId: string | null = null) {
  const { organisationId, workspaceId } = shop
  const jobId = newId('job')
  await insert(shard, 'jobs', {
    id: jobId,
    organisation_id: organisationId,
    workspace_id: workspaceId,
    mode: 'test',
    status: 'completed',
    base_url: 'https://try-on.test',
    created_at: Date.now(),
    due_at: 1,
  })
  const id = endpointId === null ? eventIdOf(jobId) : addedEventIdOf(jobId, endpointId)
  await insert(shard, 'webhook_events', {
    id,
    organisation_id: organisationId,
    job_id: jobId,
    type: 'job.completed',
    url,
    due_at: 1,
    created_at: Date.now(),
    added_endpoint_id: endpointId,
  })
  return id
}

/** Delivers an event. @returns whether each of the secrets verifies it */
async function verified(eventId: string, url: string, secrets: string[]) {
  await deliverEvent({ env, eventId })
  const { body, headers } = upstream.seen(url).at(-1)!
  return secrets.map((secret) => {
    try {
      return Boolean(new Webhook(secret).verify(body, Object.fromEntries(headers)))
    } catch {
      return false
    }
  })
}

const migrate = () =>
  Promise.all([accounts, shard].map((db) => applyD1Migrations(db, env.TEST_MIGRATIONS)))

const defaultRows = async () => {
  const { results } = await shard
    .prepare(
      "SELECT organisation_id, url, secret FROM added_webhook_endpoints WHERE id = 'default'",
    )
    .all()
  return results
}

beforeEach(async () => {
  await migrateToBefore(accounts, 'failing_origins')
  await migrateToBefore(shard, 'failing_origins')
})

it('delivers the events in flight, signed with the secrets of before', async () => {
  const shop = await formerOrganisation()
  const { secrets, endpoint } = shop
  const own = await undelivered(shop, DEFAULT_URL)
  const added = await undelivered(shop, ADDED_URL, endpoint.id)
  const failing = await undelivered(shop, `${DISABLED}/hook`)
  await insert(shard, 'webhook_endpoints', {
    organisation_id: shop.organisationId,
    origin: DISABLED,
    failing_since: 1,
    failures: 9,
    timed_out: 0,
    disabled_at: 2,
  })
  await migrate()
  const { current, previous } = secrets
  const all = [current, previous, endpoint.secret]
  expect(await verified(own, DEFAULT_URL, all)).toEqual([true, true, false])
  expect(await verified(added, ADDED_URL, all)).toEqual([false, false, true])
  await deliverEvent({ env, eventId: failing })
  expect(upstream.seen(`${DISABLED}/hook`)).toHaveLength(0)
})

it('sends the events of new jobs to the default URL', async () => {
  const { key } = await formerOrganisation()
  await migrate()
  const { job_id } = await submit(clientOf(key))
  const eventOf = () =>
    shard
      .prepare('SELECT url FROM webhook_events WHERE id = ?')
      .bind(eventIdOf(job_id))
      .first<{ url: string }>()
  await vi.waitUntil(eventOf)
  expect(await eventOf()).toEqual({ url: DEFAULT_URL })
})

it('keeps changes that are made before the rest is copied', async () => {
  const shop = await formerOrganisation()
  const { organisationId, secrets } = shop
  await migrate()
  const path = `/operator/organisations/${organisationId}`
  expect(await (await operator.get(path)).json()).toMatchObject({
    default_webhook_url: DEFAULT_URL,
  })
  const changed = await operator.patch(path, { default_webhook_url: null })
  expect(await changed.json()).toMatchObject({ default_webhook_url: null })
  const request = { env, actor: SYSTEM, organisationId, endpointId: DEFAULT_ENDPOINT }
  const secret = await rotateSecret(request)
  await runRetention(env)
  expect(await readEndpoint(request)).toMatchObject({ url: '' })
  const event = await undelivered(shop, DEFAULT_URL)
  const all = [secret, secrets.current, secrets.previous]
  expect(await verified(event, DEFAULT_URL, all)).toEqual([true, true, false])
})

it('copies the endpoints that are not used, once', async () => {
  const shops = [await formerOrganisation(), await formerOrganisation()]
  await migrate()
  expect(await defaultRows()).toEqual([])
  await runRetention(env)
  const copied = await defaultRows()
  const { results } = await accounts
    .prepare('SELECT id, webhook_secret FROM organisations ORDER BY id')
    .all()
  expect(copied).toEqual(
    results.map(({ id, webhook_secret }) => ({
      organisation_id: id,
      url: DEFAULT_URL,
      secret: webhook_secret,
    })),
  )
  expect(copied).toHaveLength(shops.length)
  await accounts.prepare('UPDATE organisations SET retention_due_at = 0').run()
  await runRetention(env)
  expect(await defaultRows()).toEqual(copied)
})

it('is created once by concurrent requests', async () => {
  const { organisationId } = await formerOrganisation()
  await migrate()
  const request = { env, actor: SYSTEM, organisationId, endpointId: DEFAULT_ENDPOINT }
  await accounts.prepare("UPDATE organisations SET webhook_secret = 'enc:v1:none'").run()
  const secrets = await Promise.all([1, 2, 3].map(() => revealSecret(request)))
  expect(new Set([...secrets, await revealSecret(request)]).size).toBe(1)
})

it('does not send the events of the release before to the default endpoint twice', async () => {
  const { organisationId } = await formerOrganisation()
  await migrate()
  await readEndpoint({ env, actor: SYSTEM, organisationId, endpointId: DEFAULT_ENDPOINT })
  // That release sends an event to each row with its type.
  const { results } = await shard
    .prepare(
      `SELECT id FROM added_webhook_endpoints
       WHERE organisation_id = ? AND instr(types, 'job.') = 0`,
    )
    .bind(organisationId)
    .all()
  expect(results).toEqual([{ id: DEFAULT_ENDPOINT }])
})
