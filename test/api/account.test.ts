// What clients see of their organisation: its workspaces and its account.
import { describe, expect, it } from 'vitest'
import { request } from '../support/client.ts'
import { freeze, newOrganisation, operator, submit } from '../support/world.ts'

describe('GET /v1/workspaces', () => {
  it('lists the active ones, oldest first', async () => {
    const shop = await newOrganisation({ workspace_name: 'First' })
    const path = `/operator/organisations/${shop.orgId}/workspaces`
    const made = await operator.post(path, { name: 'Second' })
    const second = await made.json<{ id: string }>()
    const names = async () => {
      const answer = await shop.test.get('/v1/workspaces')
      const { workspaces } = await answer.json<{ workspaces: { name: string; status: string }[] }>()
      expect(workspaces.every(({ status }) => status === 'active')).toBe(true)
      return workspaces.map(({ name }) => name)
    }
    expect(await names()).toEqual(['First', 'Second'])
    await operator.patch(`${path}/${second.id}`, { status: 'archived' })
    expect(await names()).toEqual(['First'])
  })
})

describe('GET /v1/account', () => {
  it('shows the organisation and its balance', async () => {
    const shop = await newOrganisation({ name: 'Münchner Mode', region_code: 'EU', plan: 'growth' })
    freeze()
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

  it('answers HEAD like GET, without a body', async () => {
    const { keys } = await newOrganisation()
    const headers = { Authorization: `Bearer ${keys.test}` }
    const answer = await request('/v1/account', { method: 'HEAD', headers })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('Cache-Control')).toBe('no-store')
    expect(await answer.text()).toBe('')
  })
})
