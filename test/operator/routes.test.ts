// Organisations, credits, API keys and workspaces through /operator.
import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { newId } from '../../src/platform/ids.ts'
import { BASE, clientOf, codeOf, request } from '../support/client.ts'
import {
  failJobQueues,
  ledgerOf,
  newOrganisation,
  operator,
  readJob,
  submit,
} from '../support/world.ts'

const path = (orgId: string, rest = '') => `/operator/organisations/${orgId}${rest}`

describe('POST /operator/organisations', () => {
  it('creates an organisation with its keys, workspace and webhook secret', async () => {
    const response = await operator.post('/operator/organisations', { name: 'Boutique' })
    expect(response.status).toBe(201)
    const body = await response.json<Record<string, unknown>>()
    expect(body).toEqual({
      org_id: expect.stringMatching(/^org_[0-9a-z]{26}$/),
      name: 'Boutique',
      plan: 'starter',
      region_code: 'GLOBAL',
      currency_code: 'USD',
      status: 'active',
      credits: 100,
      rate_limit_per_minute: 60,
      default_webhook_url: null,
      auto_reload_enabled: false,
      output_retention_days: 30,
      delete_after: null,
      webhook_secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/=]{32}$/),
      workspaces: [
        {
          id: expect.stringMatching(/^ws_/),
          name: 'Default',
          status: 'active',
          created_at: expect.stringMatching(/Z$/),
        },
      ],
      api_keys: {
        test: expect.stringMatching(/^svc_test_sk_[0-9a-z]{26}[0-9A-Za-z]{38}$/),
        live: expect.stringMatching(/^svc_live_sk_[0-9a-z]{26}[0-9A-Za-z]{38}$/),
      },
    })
  })

  it.each([
    ['IN', 'INR'],
    ['US', 'USD'],
    ['EU', 'EUR'],
    ['GLOBAL', 'USD'],
  ])('bills region %s in %s', async (region_code, currency_code) => {
    const shop = await newOrganisation({ region_code })
    expect(await (await operator.get(path(shop.orgId))).json()).toMatchObject({ currency_code })
  })

  it.each([
    {},
    { name: '' },
    { name: '  ' },
    { name: 'x'.repeat(101) },
    { name: 'a\u0000b' },
    { name: 5 },
    { name: 'a', region_code: 'XX' },
    { name: 'a', plan: 'free' },
    { name: 'a', credits: -1 },
    { name: 'a', credits: 1.5 },
    { name: 'a', credits: '5' },
    { name: 'a', rate_limit_per_minute: 0 },
    { name: 'a', default_webhook_url: 'nonsense' },
    { name: 'a', default_webhook_url: 'http://10.0.0.1/' },
    { name: 'a', workspace_name: '' },
    { name: 'a', creditz: 5 },
  ])('rejects %j', async (body) => {
    const response = await operator.post('/operator/organisations', body)
    expect(response.status).toBe(422)
    expect(await codeOf(response)).toBe('validation_error')
  })
})

describe('GET /operator/organisations', () => {
  it('returns an organisation with its ledger, without keys and secret', async () => {
    const shop = await newOrganisation({ credits: 7 })
    const body = await (await operator.get(path(shop.orgId))).json<Record<string, unknown>>()
    expect(body).toMatchObject({
      org_id: shop.orgId,
      credits: 7,
      ledger: { granted: 7, balance: 7, reserved: 0, consumed: 0 },
      workspaces: [{ id: shop.workspaceId }],
    })
    expect(body).not.toHaveProperty('api_keys')
    expect(body).not.toHaveProperty('webhook_secret')
  })

  it('lists all organisations in pages', async () => {
    const created = [await newOrganisation(), await newOrganisation(), await newOrganisation()]
    const seen: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const query: string = cursor === '' ? '?limit=2' : `?limit=2&cursor=${cursor}`
      const page: { organisations: { org_id: string }[]; next_cursor: string | null } = await (
        await operator.get(`/operator/organisations${query}`)
      ).json()
      expect(page.organisations.length).toBeLessThanOrEqual(2)
      seen.push(...page.organisations.map(({ org_id }) => org_id))
      cursor = page.next_cursor
    }
    expect(new Set(seen).size).toBe(seen.length)
    expect(seen).toEqual(expect.arrayContaining(created.map(({ orgId }) => orgId)))
  })

  it.each(['limit=0', 'limit=x', 'cursor=x', 'limit=1&limit=2'])('rejects %s', async (query) => {
    expect((await operator.get(`/operator/organisations?${query}`)).status).toBe(422)
  })

  it.each([
    ['GET', ''],
    ['PATCH', ''],
    ['POST', '/credits'],
    ['POST', '/api-keys'],
    ['POST', '/workspaces'],
    ['POST', '/webhook-secret/rotate'],
    ['GET', '/audit-log'],
    ['PATCH', '/workspaces/ws_x'],
    ['DELETE', '/api-keys/key_x'],
  ])('returns 404 for an unknown organisation: %s %s', async (method, rest) => {
    const bodies: Record<string, object> = {
      '/credits': { amount: 1, reason: 'r', reference: 'r' },
      '/api-keys': { mode: 'live' },
      '/workspaces': { name: 'n' },
    }
    const response = await request(path(newId('org'), rest), {
      method,
      headers: { Authorization: `Bearer ${env.OPERATOR_TOKEN}` },
      ...(['POST', 'PATCH'].includes(method) && { body: JSON.stringify(bodies[rest] ?? {}) }),
    })
    expect(response.status).toBe(404)
    expect(await codeOf(response)).toBe('not_found')
  })
})

describe('PATCH /operator/organisations/{org_id}', () => {
  it('changes any subset of fields, effective for the next request', async () => {
    const shop = await newOrganisation()
    await shop.test.get('/v1/account')
    const response = await operator.patch(path(shop.orgId), {
      plan: 'scale',
      rate_limit_per_minute: 7,
      auto_reload_enabled: true,
      default_webhook_url: 'https://hooks.test/new',
      output_retention_days: 7,
    })
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({
      plan: 'scale',
      auto_reload_enabled: true,
      output_retention_days: 7,
    })
    const shown = await operator.get(path(shop.orgId))
    expect(await shown.json()).toMatchObject({ output_retention_days: 7 })
    const account = await shop.test.get('/v1/account')
    expect(account.headers.get('RateLimit-Policy')).toBe('"default";q=7;w=60')
    expect(await account.json()).toMatchObject({ plan: 'scale', auto_reload_enabled: true })
    expect(await readJob(shop.test, (await submit(shop.test)).job_id)).toMatchObject({
      webhook_url: 'https://hooks.test/new',
    })
    const cleared = await operator.patch(path(shop.orgId), { default_webhook_url: null })
    expect(await cleared.json()).toMatchObject({ default_webhook_url: null, plan: 'scale' })
    expect((await operator.patch(path(shop.orgId), {})).status).toBe(200)
  })

  it('withdraws the pending jobs when it suspends an organisation', async () => {
    const shop = await newOrganisation({ credits: 3 })
    failJobQueues()
    const jobs = [await submit(shop.live), await submit(shop.live), await submit(shop.test)]
    await operator.patch(path(shop.orgId), { status: 'suspended' })
    const list = await (
      await shop.test.get('/v1/jobs?status=cancelled')
    ).json<{ jobs: unknown[] }>()
    expect(list.jobs).toHaveLength(jobs.length)
    expect(await ledgerOf(shop)).toEqual({ granted: 3, balance: 3, reserved: 0, consumed: 0 })
  })

  it.each([
    { status: 'closed' },
    { plan: 'free' },
    { region_code: 'EU' },
    { name: 'Other' },
    { rate_limit_per_minute: 0 },
    { auto_reload_enabled: 'yes' },
    { output_retention_days: 0 },
    { output_retention_days: 366 },
    { output_retention_days: 1.5 },
    { output_retention_days: null },
    { default_webhook_url: `${BASE}/hook` },
    { default_webhook_url: `${BASE}:8443/hook` },
  ])('rejects %j', async (change) => {
    const shop = await newOrganisation()
    expect((await operator.patch(path(shop.orgId), change)).status).toBe(422)
  })
})

describe('POST /operator/organisations/{org_id}/credits', () => {
  it('adds credits once for each reference', async () => {
    const shop = await newOrganisation({ credits: 5 })
    const grant = { amount: 10, reason: 'Invoice', reference: 'invoice 9' }
    const add = () => operator.post(path(shop.orgId, '/credits'), grant)
    const responses = await Promise.all([add(), add(), add()])
    for (const response of responses) {
      expect(response.status).toBe(200)
      expect(await response.json()).toEqual({ credits: 15 })
    }
    expect(await ledgerOf(shop)).toMatchObject({ granted: 15 })
  })

  it.each([
    { amount: 0, reason: 'r', reference: 'r' },
    { amount: -5, reason: 'r', reference: 'r' },
    { amount: 1.5, reason: 'r', reference: 'r' },
    { amount: '5', reason: 'r', reference: 'r' },
    { amount: 5, reason: 'r' },
    { amount: 5, reference: 'r' },
  ])('rejects %j', async (body) => {
    const shop = await newOrganisation()
    expect((await operator.post(path(shop.orgId, '/credits'), body)).status).toBe(422)
  })

  it.each(['sign-up', ' sign-up ', newId('pay'), 'pay_x:reversed:5', 'terms:2026-11'])(
    'rejects a reference that the service uses itself: %j',
    async (reference) => {
      const shop = await newOrganisation({ credits: 5 })
      const grant = { amount: 10, reason: 'Invoice', reference }
      const response = await operator.post(path(shop.orgId, '/credits'), grant)
      expect(response.status).toBe(422)
      expect(await response.json()).toMatchObject({
        error: {
          code: 'validation_error',
          message:
            'reference must not be "sign-up" or start with "pay_" or "terms:", which the service uses itself: choose another.',
        },
      })
      expect(await ledgerOf(shop)).toMatchObject({ granted: 5 })
    },
  )
})

describe('the API keys of an organisation', () => {
  it('are created for one mode and revoked permanently', async () => {
    const shop = await newOrganisation()
    const created = await operator.post(path(shop.orgId, '/api-keys'), { mode: 'live' })
    expect(created.status).toBe(201)
    const { id, key, mode } = await created.json<{ id: string; key: string; mode: string }>()
    expect(mode).toBe('live')
    expect((await clientOf(key).get('/v1/account')).status).toBe(200)
    const revoke = () => operator.delete(path(shop.orgId, `/api-keys/${id}`))
    expect((await revoke()).status).toBe(204)
    expect((await revoke()).status).toBe(204)
    expect((await clientOf(key).get('/v1/account')).status).toBe(401)
    const other = await newOrganisation()
    expect((await operator.delete(path(other.orgId, `/api-keys/${id}`))).status).toBe(404)
    expect((await operator.post(path(shop.orgId, '/api-keys'), { mode: 'both' })).status).toBe(422)
  })
})

describe('the workspaces of an organisation', () => {
  it('are created, renamed, archived and restored', async () => {
    const shop = await newOrganisation()
    const created = await operator.post(path(shop.orgId, '/workspaces'), { name: 'Second' })
    expect(created.status).toBe(201)
    const workspace = await created.json<{ id: string }>()
    const change = (body: object) =>
      operator.patch(path(shop.orgId, `/workspaces/${workspace.id}`), body)
    expect(await (await change({ name: 'Renamed' })).json()).toMatchObject({ name: 'Renamed' })
    expect(await (await change({ status: 'archived' })).json()).toMatchObject({
      name: 'Renamed',
      status: 'archived',
    })
    expect(await (await change({})).json()).toMatchObject({ status: 'archived' })
    expect((await change({ status: 'gone' })).status).toBe(422)
    const other = await newOrganisation()
    const foreign = path(other.orgId, `/workspaces/${workspace.id}`)
    expect((await operator.patch(foreign, { name: 'Mine' })).status).toBe(404)
  })
})
