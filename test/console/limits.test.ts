// Limits per organisation, with concurrent requests.
import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { newId } from '../../src/platform/ids.ts'
import { errorOf } from '../support/client.ts'
import { createKey, newAddress, newOwner } from '../support/browser.ts'
import { newOrganisation, operator } from '../support/world.ts'

const PARALLEL = 20
const DAY_MS = 24 * 60 * 60_000

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index))

async function insert(sql: string, rows: unknown[][]): Promise<void> {
  if (rows.length === 0) return
  const statement = env.DB.prepare(sql)
  await env.DB.batch(rows.map((row) => statement.bind(...row)))
}

const insertKeys = (
  orgId: string,
  count: number,
  revokedAt: number | null,
  createdAt = Date.now(),
) =>
  insert(
    `INSERT INTO api_keys (id, organisation_id, mode, name, hash, last_four, created_at, revoked_at)
       VALUES (?, ?, 'test', 'Filler', ?, '0000', ?, ?)`,
    times(count, () => [newId('key'), orgId, crypto.randomUUID(), createdAt, revokedAt]),
  )

const insertWorkspaces = (orgId: string, count: number, status: string) =>
  insert(
    'INSERT INTO workspaces (id, organisation_id, name, status, created_at) VALUES (?, ?, ?, ?, ?)',
    times(count, () => [newId('ws'), orgId, 'Filler', status, Date.now()]),
  )

const insertInvitations = (orgId: string, count: number, expiresAt = Date.now() + DAY_MS) =>
  insert(
    `INSERT INTO invitations (id, organisation_id, email, role, token_hash, created_at, expires_at)
       VALUES (?, ?, ?, 'developer', ?, ?, ?)`,
    times(count, () => [
      newId('inv'),
      orgId,
      newAddress(),
      crypto.randomUUID(),
      Date.now(),
      expiresAt,
    ]),
  )

async function insertMembers(orgId: string, count: number) {
  const ids = times(count, () => newId('usr'))
  const now = Date.now()
  await insert(
    'INSERT INTO users (id, name, email, created_at, updated_at) VALUES (?, ?, ?, ?, ?)',
    ids.map((id) => [id, '', newAddress(), now, now]),
  )
  await insert(
    "INSERT INTO members (organisation_id, user_id, role, created_at) VALUES (?, ?, 'developer', ?)",
    ids.map((id) => [orgId, id, now]),
  )
}

const count = async (table: string, orgId: string, condition = 'true') =>
  (await env.DB.prepare(
    `SELECT count(*) AS n FROM ${table} WHERE organisation_id = ? AND ${condition}`,
  )
    .bind(orgId)
    .first<number>('n')) ?? 0

const path = (orgId: string, rest: string) => `/operator/organisations/${orgId}${rest}`

/** Sends 20 concurrent requests and returns how many succeeded. */
async function countAccepted(send: () => Promise<Response>, message: RegExp): Promise<number> {
  const responses = await Promise.all(times(PARALLEL, send))
  for (const response of responses.filter(({ status }) => status >= 300)) {
    expect(response.status).toBe(422)
    const error = await errorOf(response)
    expect(error.code).toBe('validation_error')
    expect(error.message).toMatch(message)
  }
  return responses.filter(({ status }) => status < 300).length
}

describe('API keys', () => {
  const MESSAGE = /100 active API keys and create 1,000 in 400 days\. Revoke a key/

  it('are limited to 100 active ones; revoking one allows another', async () => {
    const { orgId } = await newOrganisation()
    await insertKeys(orgId, 93, null) // in addition to the initial two
    const create = () => operator.post(path(orgId, '/api-keys'), { mode: 'test' })
    expect(await countAccepted(create, MESSAGE)).toBe(5)
    expect(await count('api_keys', orgId, 'revoked_at IS NULL')).toBe(100)
    expect(await count('audit_log', orgId, "action = 'api_key.created'")).toBe(5)
    const id = await env.DB.prepare('SELECT id FROM api_keys WHERE organisation_id = ?')
      .bind(orgId)
      .first<string>('id')
    await operator.delete(path(orgId, `/api-keys/${id}`))
    expect((await create()).status).toBe(201)
  })

  it('are limited to 1,000 creations in 400 days', async () => {
    const { orgId } = await newOrganisation()
    await insertKeys(orgId, 994, Date.now())
    await insertKeys(orgId, 50, Date.now(), Date.now() - 401 * DAY_MS)
    const create = () => operator.post(path(orgId, '/api-keys'), { mode: 'test' })
    expect(await countAccepted(create, MESSAGE)).toBe(4)
  })

  it('above the limit are rejected on the page of the form', async () => {
    const { browser, organisationId } = await newOwner()
    await insertKeys(organisationId, 99, null)
    const page = await createKey(browser, { name: 'One too many', mode: 'live' })
    expect(page.status).toBe(422)
    expect(page.html).toMatch(MESSAGE)
    expect(page.html).toContain('value="One too many"')
  })
})

describe('workspaces', () => {
  const MESSAGE = /100 active workspaces and 500 including archived ones\. Archive/

  it('are limited to 100 active ones', async () => {
    const { orgId } = await newOrganisation()
    await insertWorkspaces(orgId, 94, 'active')
    await insertWorkspaces(orgId, 20, 'archived')
    const create = () => operator.post(path(orgId, '/workspaces'), { name: 'New' })
    expect(await countAccepted(create, MESSAGE)).toBe(5)
    expect(await count('workspaces', orgId, "status = 'active'")).toBe(100)
    expect(await count('audit_log', orgId, "action = 'workspace.created'")).toBe(5)
  })

  it('are limited to 100 active ones when archived ones are restored', async () => {
    const { orgId } = await newOrganisation()
    await insertWorkspaces(orgId, 97, 'active')
    await insertWorkspaces(orgId, PARALLEL, 'archived')
    const { results } = await env.DB.prepare(
      "SELECT id FROM workspaces WHERE organisation_id = ? AND status = 'archived'",
    )
      .bind(orgId)
      .all<{ id: string }>()
    const restore = () =>
      operator.patch(path(orgId, `/workspaces/${results.pop()?.id}`), { status: 'active' })
    expect(await countAccepted(restore, MESSAGE)).toBe(2)
    expect(await count('workspaces', orgId, "status = 'active'")).toBe(100)
  })

  it('are limited to 500 in total', async () => {
    const { orgId } = await newOrganisation()
    await insertWorkspaces(orgId, 496, 'archived')
    const create = () => operator.post(path(orgId, '/workspaces'), { name: 'New' })
    expect(await countAccepted(create, MESSAGE)).toBe(3)
  })

  it('above the limit are rejected on the page of the form', async () => {
    const { browser, organisationId } = await newOwner()
    await insertWorkspaces(organisationId, 99, 'active')
    const created = await browser.post('/console/settings/workspaces', { name: 'One too many' })
    expect(created.status).toBe(422)
    expect(created.html).toMatch(MESSAGE)
    expect(created.html).toContain('value="One too many"')
    await insertWorkspaces(organisationId, 1, 'archived')
    // The name of an active workspace would be the first error.
    await env.DB.prepare("UPDATE workspaces SET name = 'Old' WHERE status = 'archived'").run()
    const [, id] =
      /(ws_\w{26})\/status"[^/]*<input type="hidden" name="status" value="active"/.exec(
        (await browser.get('/console/settings/workspaces')).html,
      ) ?? []
    const restored = await browser.post(`/console/settings/workspaces/${id}/status`, {
      status: 'active',
    })
    expect(restored.status).toBe(422)
    expect(restored.html).toMatch(MESSAGE)
  })
})

describe('invitations', () => {
  const MESSAGE = /50 open invitations, and 100 members and open invitations together/

  it.each([
    ['50 open ones', 46, 0, 4],
    ['100 including members', 10, 87, 2],
  ])('are limited to %s', async (_, open, members, free) => {
    const { browser, organisationId } = await newOwner()
    await insertInvitations(organisationId, open)
    await insertInvitations(organisationId, 60, Date.now() - 1) // expired ones do not count
    await insertMembers(organisationId, members)
    const pages = await Promise.all(
      times(PARALLEL, () =>
        browser.post('/console/settings/team/invitations', {
          email: newAddress(),
          role: 'developer',
        }),
      ),
    )
    const rejected = pages.filter(({ status }) => status === 422)
    expect(rejected).toHaveLength(PARALLEL - free)
    for (const { html } of rejected) expect(html).toMatch(MESSAGE)
    const isOpen = `expires_at > ${Date.now()}`
    expect(await count('invitations', organisationId, isOpen)).toBe(open + free)
    expect(await count('audit_log', organisationId, "action = 'invitation.created'")).toBe(free)
  })

  it('can be repeated for an invited address at the limit', async () => {
    const { browser, organisationId } = await newOwner()
    await insertInvitations(organisationId, 49)
    const email = newAddress()
    const invite = () =>
      browser.post('/console/settings/team/invitations', { email, role: 'developer' })
    expect((await invite()).html).toContain('Invitation sent.')
    expect((await invite()).html).toContain('Invitation sent.')
    expect(await count('invitations', organisationId)).toBe(50)
  })
})
