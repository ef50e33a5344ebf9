// The limits of API keys: access, one workspace, credits a month.
import { env } from 'cloudflare:workers'
import { runDurableObjectAlarm } from 'cloudflare:test'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { eventIdOf, newId } from '../../src/platform/ids.ts'
import { processJob } from '../../src/jobs/processing/process.ts'
import { developmentMailbox } from '../../src/mail/send.ts'
import {
  createKey,
  newMember,
  newOwner,
  PASSWORD,
  type Browser,
  type Owner,
} from '../support/browser.ts'
import { clientOf, codeOf, errorOf, type Client } from '../support/client.ts'
import { spyPrepare } from '../support/jobs-database.ts'
import { DAY_MS, fakeClock, HOUR_MS, pass } from '../support/retention.ts'
import { postUpload } from '../support/upload.ts'
import { fakeUpstream } from '../support/upstream.ts'
import { IMAGES, newOrganisation, submit } from '../support/world.ts'

fakeClock()

const upstream = fakeUpstream()

const LIST = '/console/settings/api-keys'
const ENDPOINTS = '/v1/webhook-endpoints'
const keyIn = (html: string) => /svc_(?:test|live)_sk_\w{64}/.exec(html)?.[0] ?? ''

/** Creates a key in the console. */
async function limitedKey(browser: Browser, fields: Record<string, string>) {
  const id = newId('key')
  const key = keyIn((await createKey(browser, { id, name: 'Checkout', ...fields })).html)
  return { id, key, ...clientOf(key) }
}

const stubOf = ({ organisationId }: Owner) => env.ORGANISATION.getByName(organisationId)
const runAlarm = (owner: Owner) => runDurableObjectAlarm(stubOf(owner))
const statusOf = async (response: Promise<Response>) => (await response).status
const submitted = (client: Client, body: object = {}, headers: Record<string, string> = {}) =>
  client.post('/v1/tryon', { ...IMAGES, ...body }, headers)
const jobIdOf = async (response: Response) => (await response.json<{ job_id: string }>()).job_id

async function newWorkspace({ browser, testKey }: Owner, name: string): Promise<string> {
  await browser.post('/console/settings/workspaces', { name })
  const list = await clientOf(testKey).get('/v1/workspaces')
  const { workspaces } = await list.json<{ workspaces: { id: string; name: string }[] }>()
  return workspaces.find((workspace) => workspace.name === name)?.id ?? ''
}

/** A completed job whose event was sent. @returns its id */
async function endedWithEvent(client: Client, body: object): Promise<string> {
  const { job_id } = await submit(client, { webhook_url: 'https://hooks.test/key', ...body })
  await processJob({ env, jobId: String(job_id), mode: 'test' })
  return String(job_id)
}

const auditOf = async (organisationId: string, target: string) => {
  const { results } = await env.DB.prepare(
    'SELECT action, details FROM audit_log WHERE organisation_id = ? AND target = ? ORDER BY id',
  )
    .bind(organisationId, target)
    .all<{ action: string; details: string }>()
  return results.map(({ action, details }) => [action, JSON.parse(details) as object])
}

describe('a key that can only read', () => {
  it('reads, and gets 403 forbidden for every request that changes something', async () => {
    const { browser, testKey } = await newOwner()
    const { job_id } = await submit(clientOf(testKey))
    const { key, get, post, delete: remove } = await limitedKey(browser, { access: 'read' })
    for (const path of ['jobs', `jobs/${job_id}`, 'workspaces', 'account', 'webhook-endpoints']) {
      expect(await statusOf(get(`/v1/${path}`)), path).toBe(200)
    }
    const refused = { model_image_url: 'https://test.invalid/refuse/insufficient_credits' }
    const changes = [
      post('/v1/tryon', IMAGES),
      post('/v1/tryon', {}),
      post('/v1/tryon', { ...IMAGES, ...refused }),
      postUpload(key),
      remove(`/v1/jobs/${job_id}`),
      remove(`/v1/jobs/${job_id}/output`),
      post(ENDPOINTS, { url: 'https://hooks.test/key' }),
      post(`/v1/webhook-deliveries/${eventIdOf(String(job_id))}/resend`),
    ]
    for (const change of changes) {
      const response = await change
      expect(response.status).toBe(403)
      expect(response.headers.get('RateLimit')).not.toBeNull()
      const { code, message } = await errorOf(response)
      expect([code, message]).toEqual(['forbidden', expect.stringContaining('can only read')])
    }
    const job = await (await get(`/v1/jobs/${job_id}`)).json()
    expect(job).toMatchObject({ status: 'pending' })
  })
})

describe('a key of one workspace', () => {
  it('submits and sees only there', async () => {
    const owner = await newOwner()
    const full = clientOf(owner.testKey)
    const there = await newWorkspace(owner, 'Boutique')
    const elsewhere = String((await submit(full)).job_id)
    const { get, post, delete: remove } = await limitedKey(owner.browser, { workspace: there })
    const own = await jobIdOf(await post('/v1/tryon', IMAGES))
    expect(await (await full.get(`/v1/jobs/${own}`)).json()).toMatchObject({ workspace_id: there })
    const other = await (await full.get(`/v1/jobs/${elsewhere}`)).json<{ workspace_id: string }>()

    const submission = await post('/v1/tryon', { ...IMAGES, workspace_id: other.workspace_id })
    expect(await codeOf(submission)).toBe('workspace_not_found')
    for (const response of [
      get(`/v1/jobs/${elsewhere}`),
      remove(`/v1/jobs/${elsewhere}`),
      remove(`/v1/jobs/${elsewhere}/output`),
    ]) {
      expect(await codeOf(await response)).toBe('job_not_found')
    }
    const listed = async (query = '') => {
      const list = await (await get(`/v1/jobs${query}`)).json<{ jobs: { job_id: string }[] }>()
      return list.jobs.map((job) => job.job_id)
    }
    expect(await listed()).toEqual([own])
    expect(await listed(`?workspace_id=${there}`)).toEqual([own])
    expect(await listed(`?workspace_id=${other.workspace_id}`)).toEqual([])
    const { workspaces } = await (await get('/v1/workspaces')).json<{ workspaces: object[] }>()
    expect(workspaces).toMatchObject([{ id: there }])
    expect(await statusOf(get('/v1/account'))).toBe(200)
    expect(await statusOf(get(`/v1/jobs/${own}`))).toBe(200)
    expect(await statusOf(remove(`/v1/jobs/${own}`))).toBe(200)

    const stranger = await newOrganisation()
    const { job_id: foreign } = await submit(stranger.test)
    expect(await codeOf(await get(`/v1/jobs/${foreign}`))).toBe('forbidden')
    expect(await codeOf(await remove(`/v1/jobs/${foreign}`))).toBe('forbidden')
  })

  it('sees its deliveries and its usage, and no webhook endpoints', async () => {
    const owner = await newOwner()
    const full = clientOf(owner.testKey)
    const there = await newWorkspace(owner, 'Boutique')
    const { get, post } = await limitedKey(owner.browser, { workspace: there })
    upstream.on('https://hooks.test/key', () => new Response('thanks'))
    const elsewhere = await endedWithEvent(full, {})
    const own = await endedWithEvent(full, { workspace_id: there })

    const list = await (await get('/v1/webhook-deliveries')).json()
    expect(list).toMatchObject({ webhook_deliveries: [{ job_id: own }], has_more: false })
    const delivery = `/v1/webhook-deliveries/${eventIdOf(elsewhere)}`
    expect(await codeOf(await get(delivery))).toBe('not_found')
    expect(await codeOf(await post(`${delivery}/resend`))).toBe('not_found')
    const totalOf = async (client: Pick<Client, 'get'>) =>
      (await (await client.get('/v1/usage')).json<{ total: { completed: number } }>()).total
    expect(await totalOf({ get })).toMatchObject({ completed: 1 })
    expect(await totalOf(full)).toMatchObject({ completed: 2 })
    const byKey = await (await get('/v1/usage?group_by=api_key')).json<{ api_keys: object[] }>()
    expect(byKey.api_keys).toMatchObject([{ total: { completed: 1 } }])
    expect(byKey.api_keys).toHaveLength(1)

    const endpoint = { url: 'https://hooks.test/key' }
    for (const response of [get(ENDPOINTS), post(ENDPOINTS, endpoint)]) {
      const { code, message } = await errorOf(await response)
      expect([code, message]).toEqual(['forbidden', expect.stringContaining('a workspace')])
    }
  })

  it('pages through its jobs, and gets nothing by the Idempotency-Key of another workspace', async () => {
    const owner = await newOwner()
    const there = await newWorkspace(owner, 'Boutique')
    const { get, post } = await limitedKey(owner.browser, { workspace: there })
    const own = [await post('/v1/tryon', IMAGES), await post('/v1/tryon', IMAGES)]
    await submit(clientOf(owner.testKey))
    const read = async (query: string) =>
      (await get(`/v1/jobs?limit=1${query}`)).json<{
        jobs: { job_id: string }[]
        next_cursor: string | null
      }>()
    const first = await read('')
    const second = await read(`&cursor=${first.next_cursor}`)
    const ids = await Promise.all(own.map(jobIdOf))
    expect([...second.jobs, ...first.jobs].map(({ job_id }) => job_id)).toEqual(ids)
    expect(second.next_cursor).toBeNull()

    const header = { 'Idempotency-Key': 'order-7' }
    await submitted(clientOf(owner.testKey), {}, header)
    const replay = await post('/v1/tryon', IMAGES, header)
    expect(await codeOf(replay)).toBe('idempotency_key_reused')
  })

  it('cannot submit while its workspace is archived, or be created for an unknown one', async () => {
    const owner = await newOwner()
    const there = await newWorkspace(owner, 'Boutique')
    const { post, get } = await limitedKey(owner.browser, { workspace: there })
    await owner.browser.post(`/console/settings/workspaces/${there}/status`, { status: 'archived' })
    expect(await codeOf(await post('/v1/tryon', IMAGES))).toBe('workspace_not_found')
    expect(await (await get('/v1/workspaces')).json()).toEqual({ workspaces: [] })
    for (const workspace of [newId('ws'), 'nonsense']) {
      const page = await createKey(owner.browser, { workspace })
      expect([page.status, keyIn(page.html)]).toEqual([422, ''])
    }
  })
})

describe('a key with a limit of credits per month', () => {
  // At the start of a month, so that a day more is the same month.
  beforeEach(() => {
    const now = new Date()
    vi.setSystemTime(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1))
  })

  /** Live keys submit within the free credits. */
  async function limited(monthly_credits: string) {
    const owner = await newOwner()
    const key = await limitedKey(owner.browser, { mode: 'live', monthly_credits })
    const used = async () => (await stubOf(owner).creditUse([key.id]))[0]
    return { owner, key, used }
  }

  it('gets 402 with a message that names it, until a credit returns or the month ends', async () => {
    const { owner, key, used } = await limited('2')
    const jobId = await jobIdOf(await submitted(key))
    expect(await statusOf(submitted(key))).toBe(202)
    const rejected = await submitted(key)
    expect(rejected.status).toBe(402)
    const { code, message } = await errorOf(rejected)
    expect(code).toBe('insufficient_credits')
    expect(message).toContain('The API key “Checkout” has used its limit of 2 credits per month.')
    expect(await used()).toBe(2)
    // Another key of the organisation has no limit.
    const other = await limitedKey(owner.browser, { mode: 'live' })
    expect(await statusOf(submitted(other))).toBe(202)

    expect(await statusOf(key.delete(`/v1/jobs/${jobId}`))).toBe(200)
    expect(await used()).toBe(1)
    expect(await statusOf(submitted(key))).toBe(202)
    expect(await statusOf(submitted(key))).toBe(402)
    pass(31 * DAY_MS)
    expect(await used()).toBe(0)
    expect(await statusOf(submitted(key))).toBe(202)
  })

  it('pays nothing for a replay, a failed insert and a crash', async () => {
    const { owner, key, used } = await limited('2')
    const header = { 'Idempotency-Key': 'order-7' }
    const first = await jobIdOf(await submitted(key, {}, header))
    expect(await jobIdOf(await submitted(key, {}, header))).toBe(first)
    expect(await used()).toBe(1)

    vi.spyOn(console, 'error').mockImplementation(() => {})
    const fail = spyPrepare((prepare, sql) => {
      if (sql.startsWith('insert into "jobs"')) throw new Error('D1 is unavailable')
      return prepare(sql)
    })
    expect(await statusOf(submitted(key))).toBe(500)
    expect(await used()).toBe(1)
    // A crash before the job is stored: the alarm releases the credit.
    expect(await statusOf(submitted(key, {}, { 'Idempotency-Key': 'order-8' }))).toBe(500)
    expect(await used()).toBe(2)
    fail.mockRestore()
    pass(6 * 60_000)
    await runAlarm(owner)
    expect(await used()).toBe(1)
    // Duplicates change nothing. A job that is completed after all counts again.
    await stubOf(owner).release([first])
    await stubOf(owner).release([first])
    expect(await used()).toBe(0)
    await stubOf(owner).capture(first)
    await stubOf(owner).capture(first)
    expect(await used()).toBe(1)
  })

  it('counts what it has used in the month when the limit is set, also after it was removed', async () => {
    const owner = await newOwner()
    const key = await limitedKey(owner.browser, { mode: 'live' })
    const limit = (monthly_credits: string) =>
      owner.browser.post(`${LIST}/${key.id}/limits`, {
        access: 'full',
        workspace: '',
        monthly_credits,
      })
    await submitted(key)
    expect((await limit('2')).html).toContain('Limits saved.')
    expect((await owner.browser.get(`${LIST}/${key.id}`)).html).toContain('1 of 2 credits')
    expect([await statusOf(submitted(key)), await statusOf(submitted(key))]).toEqual([202, 402])
    await limit('')
    expect(await statusOf(submitted(key))).toBe(202)
    await limit('4')
    expect([await statusOf(submitted(key)), await statusOf(submitted(key))]).toEqual([202, 402])
    expect((await auditOf(owner.organisationId, key.id)).slice(1, 3)).toEqual([
      ['api_key.limits_updated', { monthly_credits_old: null, monthly_credits_new: 2 }],
      ['api_key.limits_updated', { monthly_credits_old: 2, monthly_credits_new: null }],
    ])
    const log = await owner.browser.get('/console/settings/audit-log')
    expect(log.html).toContain('Changed the limits of an API key')
  })

  it('counts together with the key that it replaces, and has its limits', async () => {
    const { owner, key } = await limited('2')
    const there = await newWorkspace(owner, 'Boutique')
    const fields = { access: 'full', workspace: there, monthly_credits: '2' }
    await owner.browser.post(`${LIST}/${key.id}/limits`, fields)
    await submitted(key)
    const id = newId('key')
    const page = await owner.browser.post(`${LIST}/${key.id}/roll`, { id, overlap: '24' })
    const replacement = clientOf(keyIn(page.html))
    const { workspaces } = await (
      await replacement.get('/v1/workspaces')
    ).json<{ workspaces: object[] }>()
    expect(workspaces).toMatchObject([{ id: there }])
    expect(await statusOf(submitted(replacement))).toBe(202)
    expect([await statusOf(submitted(replacement)), await statusOf(submitted(key))]).toEqual([
      402, 402,
    ])
    pass(25 * HOUR_MS)
    const again = newId('key')
    const next = await owner.browser.post(`${LIST}/${id}/roll`, {
      id: again,
      overlap: '0',
      confirm_password: PASSWORD,
    })
    expect((await owner.browser.get(`${LIST}/${again}`)).html).toContain('2 of 2 credits')
    expect(await statusOf(submitted(clientOf(keyIn(next.html))))).toBe(402)
  })

  it('is informed of 80% of the limit once a month, when the email can be sent', async () => {
    const { owner, key } = await limited('5')
    const developer = await newMember(owner.organisationId)
    const mailsTo = (address: string) =>
      developmentMailbox().filter(
        ({ to, subject }) => to === address && subject.includes('of its limit'),
      )
    for (let n = 0; n < 3; n++) await submitted(key)
    await runAlarm(owner)
    expect(mailsTo(owner.email)).toEqual([])
    await submitted(key)
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const fail = spyPrepare((prepare, sql) => {
      if (sql.includes('"muted_notifications"')) throw new Error('D1 is unavailable')
      return prepare(sql)
    })
    await runAlarm(owner)
    expect(mailsTo(owner.email)).toEqual([])
    fail.mockRestore()
    pass(2 * 60_000)
    await runAlarm(owner)
    const [mail] = mailsTo(owner.email)
    expect(mail?.subject).toContain('The API key “Checkout” of Acme has used 80% of its limit')
    expect(mail?.text).toContain('4 of its 5 credits')
    expect(mail?.link).toContain('/settings/api-keys')
    expect(mailsTo(developer.email)).toHaveLength(1)
    await submitted(key)
    await submitted(key)
    pass(HOUR_MS)
    await runAlarm(owner)
    expect(mailsTo(owner.email)).toHaveLength(1)
    pass(31 * DAY_MS)
    for (let n = 0; n < 4; n++) await submitted(key)
    await runAlarm(owner)
    expect(mailsTo(owner.email)).toHaveLength(2)
  })

  it('applies to no test job', async () => {
    const { browser } = await newOwner()
    const test = await limitedKey(browser, { mode: 'test', monthly_credits: '1' })
    for (let n = 0; n < 3; n++) expect(await statusOf(submitted(test))).toBe(202)
    expect((await browser.get(`${LIST}/${test.id}`)).html).not.toContain('Credits per month')
  })
})

describe('the forms', () => {
  it('explain wrong values, and keep what was entered', async () => {
    const { browser } = await newOwner()
    for (const monthly_credits of ['0', '-1', '1.5', 'many', '99999999999']) {
      const page = await createKey(browser, { name: 'Till', mode: 'live', monthly_credits })
      expect(page.status).toBe(422)
      expect(page.html).toContain('Enter a whole number from 1 to 1,000,000,000')
      expect(page.html).toContain(`value="${monthly_credits}"`)
    }
    const { id } = await limitedKey(browser, { mode: 'live' })
    const page = await browser.post(`${LIST}/${id}/limits`, { monthly_credits: 'many' })
    expect([page.status, page.html.includes('Enter a whole number')]).toEqual([422, true])
  })

  it('show the limits in the table, and change no revoked key', async () => {
    const owner = await newOwner()
    const there = await newWorkspace(owner, 'Boutique')
    const { browser } = owner
    const key = await limitedKey(browser, {
      mode: 'live',
      access: 'read',
      workspace: there,
      monthly_credits: '1500',
    })
    await browser.post('/console/mode', { mode: 'live' })
    const { html } = await browser.get(LIST)
    for (const text of ['Read only', 'Boutique only', '0 of 1,500 credits this month']) {
      expect(html).toContain(text)
    }
    await browser.post(`${LIST}/${key.id}/revoke`)
    const late = await browser.post(`${LIST}/${key.id}/limits`, { access: 'full' })
    expect(late.html).toContain('The key has been revoked.')
    expect(await auditOf(owner.organisationId, key.id)).toMatchObject([
      [
        'api_key.created',
        { access: 'read', workspace_id: there, monthly_credits: 1500, mode: 'live' },
      ],
      ['api_key.revoked', {}],
    ])
  })
})
