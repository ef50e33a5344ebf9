import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { newId } from '../../src/platform/ids.ts'
import { createKey, newOwner, PASSWORD, type Browser } from '../support/browser.ts'
import { clientOf, codeOf } from '../support/client.ts'

const LIST = '/console/settings/api-keys'
const HOUR_MS = 60 * 60_000
const DAY_MS = 24 * HOUR_MS

afterEach(() => void vi.useRealTimers())

const keyIn = (html: string) => /svc_(?:test|live)_sk_\w{64}/.exec(html)?.[0] ?? ''
const useOf = async (key: string) => {
  const response = await clientOf(key).get('/v1/account')
  return response.status === 200 ? 'accepted' : codeOf(response)
}
const dateIn = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10)

/** Creates a key and returns it with its id. */
async function newKey(browser: Browser, fields: Record<string, string> = {}) {
  const id = newId('key')
  return { id, key: keyIn((await createKey(browser, { id, ...fields })).html) }
}

const actionsOf = async (organisationId: string, target: string) => {
  const { results } = await env.DB.prepare(
    'SELECT action, details FROM audit_log WHERE organisation_id = ? AND target = ? ORDER BY id',
  )
    .bind(organisationId, target)
    .all<{ action: string; details: string }>()
  return results.map(({ action, details }) => [action, JSON.parse(details) as object])
}

describe('a key with a last day', () => {
  it('is accepted until the end of that day, then rejected with api_key_revoked', async () => {
    const { browser, organisationId } = await newOwner()
    const { id, key } = await newKey(browser, { expires: dateIn(1) })
    expect(await useOf(key)).toBe('accepted')
    const endsAt = Date.parse(dateIn(2))
    expect((await browser.get(LIST)).html).toContain(`datetime="${new Date(endsAt).toISOString()}"`)
    expect(await actionsOf(organisationId, id)).toMatchObject([
      ['api_key.created', { expires_at: new Date(endsAt).toISOString() }],
    ])
    vi.useFakeTimers({ toFake: ['Date'], now: endsAt - 1_000 })
    expect(await useOf(key)).toBe('accepted')
    // The Organisation's snapshot of the keys is still cached.
    vi.setSystemTime(endsAt)
    expect(await useOf(key)).toBe('api_key_revoked')
    const { html } = await browser.get(LIST)
    expect(html).toContain('1 revoked or expired key')
    expect(html).not.toContain(`/${id}/revoke`)
  })

  it('is not created for a date in the past, in the far future, or an invalid one', async () => {
    const { browser } = await newOwner()
    for (const [expires, message] of [
      [dateIn(-1), 'Choose today or a later date.'],
      ['2999-01-01', 'Choose a date in the next 10 years.'],
      ['soon', 'Enter a date.'],
    ] as const) {
      const page = await createKey(browser, { name: 'Till', expires })
      expect(page.status).toBe(422)
      expect(page.html).toContain(message)
      expect(page.html).toContain('value="Till"')
    }
  })

  it('is active in the filter of jobs, and is replaced by a key with the same end', async () => {
    const { browser } = await newOwner()
    const { id } = await newKey(browser, { name: 'Till', expires: dateIn(1) })
    expect((await browser.get('/console/jobs')).html).not.toContain('Till (revoked)')
    const replacement = newId('key')
    await browser.post(`${LIST}/${id}/roll`, { id: replacement, overlap: '24' })
    const endsAt = new Date(Date.parse(dateIn(2))).toISOString()
    expect((await browser.get(`${LIST}/${replacement}`)).html).toContain(`datetime="${endsAt}"`)
  })

  it('can be revoked before', async () => {
    const { browser } = await newOwner()
    const { id, key } = await newKey(browser, { expires: dateIn(30) })
    await browser.post(`${LIST}/${id}/revoke`)
    expect(await useOf(key)).toBe('api_key_revoked')
  })
})

describe('a key', () => {
  it('is renamed', async () => {
    const { browser, organisationId } = await newOwner()
    const { id } = await newKey(browser, { name: 'Old name' })
    const page = await browser.post(`${LIST}/${id}/rename`, { name: 'New name' })
    expect(page.html).toContain('API key renamed')
    expect((await browser.get(LIST)).html).toContain('New name')
    expect(await actionsOf(organisationId, id)).toMatchObject([
      ['api_key.created', { name: 'Old name' }],
      ['api_key.renamed', { name_old: 'Old name', name_new: 'New name' }],
    ])
    const rejected = await browser.post(`${LIST}/${id}/rename`, { name: ' ' })
    expect(rejected.html).toContain('Enter a name.')
    await browser.post(`${LIST}/${id}/revoke`)
    const late = await browser.post(`${LIST}/${id}/rename`, { name: 'Too late' })
    expect(late.html).toContain('The key has been revoked.')
  })

  it('is replaced by a new one, and works until the overlap ends', async () => {
    const { browser, organisationId } = await newOwner()
    const old = await newKey(browser, { name: 'Shop, production' })
    const id = newId('key')
    const page = await browser.post(`${LIST}/${old.id}/roll`, { id, overlap: '24' })
    const replacement = keyIn(page.html)
    expect(page.html).toContain('works until')
    expect([await useOf(old.key), await useOf(replacement)]).toEqual(['accepted', 'accepted'])
    expect((await browser.get(`${LIST}/${id}`)).html).toContain('Shop, production')
    const again = await browser.post(`${LIST}/${old.id}/roll`, { id, overlap: '0' })
    expect(again.html).toContain('already created and shown')
    expect((await actionsOf(organisationId, old.id)).map(([action]) => action)).toEqual([
      'api_key.created',
      'api_key.rolled',
    ])
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 24 * HOUR_MS })
    expect(await useOf(old.key)).toBe('api_key_revoked')
    expect(await useOf(replacement)).toBe('accepted')
  })

  it('is replaced without an overlap, and not after it was revoked', async () => {
    const { browser } = await newOwner()
    const old = await newKey(browser)
    const roll = (overlap: string) =>
      browser.post(`${LIST}/${old.id}/roll`, { id: newId('key'), overlap })
    expect((await roll('5')).html).toContain('Choose when the old key stops working.')
    const page = await roll('0')
    expect(page.html).toContain('no longer works')
    expect(await useOf(old.key)).toBe('api_key_revoked')
    expect(await useOf(keyIn(page.html))).toBe('accepted')
    expect(keyIn((await roll('0')).html)).toBe('')
  })

  it('of another organisation is not found', async () => {
    const [mine, theirs] = [await newOwner(), await newOwner()]
    const { id } = await newKey(theirs.browser)
    const { browser } = mine
    expect((await browser.get(`${LIST}/${id}`)).status).toBe(404)
    expect((await browser.post(`${LIST}/${id}/rename`, { name: 'Mine' })).status).toBe(404)
    const form = { id: newId('key'), overlap: '0' }
    expect((await browser.post(`${LIST}/${id}/roll`, form)).status).toBe(404)
  })

  it('is replaced, or created in live mode, only after a recent sign-in', async () => {
    const { browser } = await newOwner()
    const { id } = await newKey(browser)
    await env.DB.prepare('UPDATE sessions SET created_at = created_at - 1000000').run()
    const roll = { id: newId('key'), overlap: '0' }
    const page = await browser.post(`${LIST}/${id}/roll`, roll)
    expect(page.status).toBe(403)
    const confirmed = await browser.post(`${LIST}/${id}/roll`, {
      ...roll,
      confirm_password: PASSWORD,
    })
    expect(keyIn(confirmed.html)).not.toBe('')
    await env.DB.prepare('UPDATE sessions SET created_at = created_at - 1000000').run()
    expect((await createKey(browser, { mode: 'live' })).status).toBe(403)
    expect((await createKey(browser, { mode: 'test' })).status).toBe(200)
  })
})
