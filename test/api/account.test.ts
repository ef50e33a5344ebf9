// GET /v1/workspaces and GET /v1/account.
import { describe, expect, it } from 'vitest'
import { request } from '../support/client.ts'
import { failJobQueues, newOrganisation, operator, submit } from '../support/world.ts'

describe('GET /v1/workspaces', () => {
  it('lists the active workspaces, oldest first', async () => {
    const shop = await newOrganisation({ workspace_name: 'First' })
    const path = `/operator/organisations/${shop.orgId}/workspaces`
    const created = await operator.post(path, { name: 'Second' })
    const second = await created.json<{ id: string }>()
    const names = async () => {
      const response = await shop.test.get('/v1/workspaces')
      const { workspaces } = await response.json<{
        workspaces: { name: string; status: string }[]
      }>()
      expect(workspaces.every(({ status }) => status === 'active')).toBe(true)
      return workspaces.map(({ name }) => name)
    }
    expect(await names()).toEqual(['First', 'Second'])
    await operator.patch(`${path}/${second.id}`, { status: 'archived' })
    expect(await names()).toEqual(['First'])
  })
})

describe('GET /v1/account', () => {
  it('returns the organisation and its balance', async () => {
    const shop = await newOrganisation({ name: 'Münchner Mode', region_code: 'EU', plan: 'growth' })
    failJobQueues()
    await submit(shop.live)
    expect(await (await shop.live.get('/v1/account')).json()).toEqual({
      org_id: shop.orgId,
      name: 'Münchner Mode',
      plan: 'growth',
      region_code: 'EU',
      currency_code: 'EUR',
      credits: 99,
      auto_reload_enabled: false,
    })
  })

  it('responds to HEAD like GET, without a body', async () => {
    const { keys } = await newOrganisation()
    const headers = { Authorization: `Bearer ${keys.test}` }
    const response = await request('/v1/account', { method: 'HEAD', headers })
    expect(response.status).toBe(200)
    expect(response.headers.get('Cache-Control')).toBe('no-store')
    expect(await response.text()).toBe('')
  })
})
