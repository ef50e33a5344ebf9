// Every page and form of an organisation is for some roles only. The routes come from the router, so
// that a route without a rule fails. Pages show no link and no form that the role may not use.
import { drawFigure } from '@try-on/compositor/samples'
import { encodePng } from '@try-on/image-files/samples'
import { env } from 'cloudflare:workers'
import { inspectRoutes } from 'hono/dev'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { jobsDatabase } from '../../src/platform/db/database.ts'
import { failingReceivers, webhookEndpoints } from '../../src/platform/db/webhook-schema.ts'
import { organisationPages } from '../../src/console/console.tsx'
import { SYSTEM, type Actor } from '../../src/domain/actor.ts'
import type { Role } from '../../src/domain/role.ts'
import { newId } from '../../src/platform/ids.ts'
import { outputKey } from '../../src/platform/signing/signed-url.ts'
import { listEndpointOutcomes } from '../../src/webhooks/event-reads.ts'
import { newMember, newOwner, userIdOf, type Browser, type Owner } from '../support/browser.ts'
import { clientOf } from '../support/client.ts'
import { insertJob, insertObjects } from '../support/objects.ts'
import { logged } from '../support/request-log.ts'
import { jobsDb } from '../support/jobs-database.ts'
import { loadCompositor } from '../support/compositor.ts'

await loadCompositor()

/** `limited` is a developer who may access one workspace. */
const MEMBERS = ['owner', 'developer', 'limited', 'billing', 'viewer'] as const
type MemberName = (typeof MEMBERS)[number]
const ALL: readonly MemberName[] = MEMBERS
const READERS: readonly MemberName[] = ['owner', 'developer', 'limited', 'viewer']
/** The request log concerns all workspaces. */
const LOG_READERS: readonly MemberName[] = ['owner', 'developer', 'viewer']
const DEVELOPERS: readonly MemberName[] = ['owner', 'developer', 'limited']
const UNLIMITED: readonly MemberName[] = ['owner', 'developer']
const BUYERS: readonly MemberName[] = ['owner', 'billing']
const OWNERS: readonly MemberName[] = ['owner']

const RULES: Record<string, readonly MemberName[]> = {
  'GET /': ALL,
  'GET /live': ALL,
  'GET /credits': ALL,
  'GET /credits/ledger.csv': ALL,
  'GET /settings/organisation': ALL,
  'GET /settings/team': ALL,
  'GET /search': ALL,

  'GET /checklist/:form': ALL,
  'POST /checklist/hide': ALL,

  'GET /requests': LOG_READERS,
  'GET /requests/:requestId': LOG_READERS,
  'GET /requests/export.csv': LOG_READERS,

  'GET /jobs/live': READERS,
  'GET /jobs/export': READERS,
  'POST /jobs/export': READERS,
  'GET /jobs/:jobId/thumbnail': READERS,
  'GET /jobs/:jobId/download': READERS,
  'GET /jobs/:jobId/run-again': READERS,
  'GET /settings/webhooks/:eventId/live': READERS,
  'GET /settings/webhooks/deliveries': READERS,
  'GET /settings/webhooks/deliveries/live': READERS,
  'GET /settings/webhooks/deliveries/export.csv': READERS,
  'GET /settings/webhooks/deliveries/resend': READERS,
  'GET /settings/webhooks/endpoints': READERS,
  'GET /settings/webhooks/endpoints/:id': READERS,
  'GET /settings/webhooks/endpoints/:id/:action{enabled|delete|reveal|rotate}': READERS,

  'GET /playground/:form': DEVELOPERS,
  'POST /playground/code': DEVELOPERS,
  'POST /playground/uploads': DEVELOPERS,
  'POST /jobs/:jobId/run-again': DEVELOPERS,
  'POST /settings/webhooks/deliveries/resend': DEVELOPERS,

  'GET /settings/webhooks/endpoints/new': UNLIMITED,
  'POST /settings/webhooks/endpoints': UNLIMITED,
  'POST /settings/webhooks/endpoints/:id': UNLIMITED,
  'POST /settings/webhooks/endpoints/:id/enabled': UNLIMITED,
  'POST /settings/webhooks/endpoints/:id/reveal': UNLIMITED,
  'POST /settings/webhooks/endpoints/:id/rotate': UNLIMITED,
  'POST /settings/webhooks/endpoints/:id/delete': UNLIMITED,

  'GET /jobs': READERS,
  'GET /jobs/:jobId': READERS,
  'GET /jobs/:jobId/live': READERS,
  'GET /settings/webhooks': READERS,
  'GET /settings/webhooks/:eventId': READERS,
  'GET /settings/workspaces': READERS,
  'GET /settings/workspaces/:workspaceId/:form': READERS,
  'GET /settings/webhooks/url': READERS,
  'GET /settings/webhooks/reveal': READERS,
  'GET /settings/webhooks/rotate': READERS,
  'GET /settings/webhooks/endpoints/enable': READERS,
  'GET /settings/webhooks/test': READERS,

  'GET /playground': DEVELOPERS,
  'GET /settings/api-keys': DEVELOPERS,
  'GET /settings/api-keys/:keyId': DEVELOPERS,
  'GET /settings/api-keys/:keyId/:form': DEVELOPERS,
  'POST /playground': DEVELOPERS,
  'POST /playground/sample': DEVELOPERS,
  'POST /jobs/:jobId/cancel': DEVELOPERS,
  'POST /jobs/:jobId/delete-pictures': DEVELOPERS,
  'POST /settings/webhooks/:eventId/resend': DEVELOPERS,

  'POST /settings/api-keys': UNLIMITED,
  'POST /settings/api-keys/:keyId/rename': UNLIMITED,
  'POST /settings/api-keys/:keyId/limits': UNLIMITED,
  'POST /settings/api-keys/:keyId/roll': UNLIMITED,
  'POST /settings/api-keys/:keyId/revoke': UNLIMITED,
  'POST /settings/webhooks/url': UNLIMITED,
  'POST /settings/webhooks/reveal': UNLIMITED,
  'POST /settings/webhooks/rotate': UNLIMITED,
  'POST /settings/webhooks/test': UNLIMITED,
  'POST /settings/webhooks/endpoints/enable': UNLIMITED,

  'GET /billing': BUYERS,
  'GET /billing/:form': BUYERS,
  'GET /billing/payments/:paymentId': BUYERS,
  'GET /billing/payments/:paymentId/live': BUYERS,
  'GET /billing/portal/return': BUYERS,
  'POST /billing/payments/:paymentId/discard': BUYERS,
  'POST /billing/packs': BUYERS,
  'POST /billing/plan': BUYERS,
  'POST /billing/auto-reload': BUYERS,
  'POST /billing/portal': BUYERS,

  'GET /settings/audit-log': OWNERS,
  'GET /settings/audit-log/export.csv': OWNERS,
  'GET /settings/organisation/:form': OWNERS,
  'POST /settings/organisation/name': OWNERS,
  'POST /settings/organisation/retention': OWNERS,
  'POST /settings/organisation/export': OWNERS,
  'POST /settings/organisation/delete': OWNERS,
  'POST /settings/organisation/keep': OWNERS,
  'POST /settings/workspaces': OWNERS,
  'POST /settings/workspaces/:workspaceId/limit': OWNERS,
  'POST /settings/workspaces/:workspaceId/rename': OWNERS,
  'POST /settings/workspaces/:workspaceId/status': OWNERS,
  'GET /settings/team/invitations': OWNERS,
  'POST /settings/team/invitations': OWNERS,
  'POST /settings/team/invitations/:invitationId/withdraw': OWNERS,
  'GET /settings/team/members/:userId': OWNERS,
  'GET /settings/team/members/:userId/role': OWNERS,
  'POST /settings/team/members/:userId/role': OWNERS,
  // The member is the owner: others can remove only themselves.
  'GET /settings/team/members/:userId/remove': OWNERS,
  'POST /settings/team/members/:userId/remove': OWNERS,
}

/** Forms that do not exist without these fields. */
const FIELDS: Record<string, Record<string, string>> = {
  'POST /settings/team/members/:userId/role': { role: 'viewer' },
  'POST /settings/webhooks/endpoints': { id: newId('we') },
}

const browsers = new Map<MemberName, Browser>()
let organisationId = ''
let objects: Record<string, string> = {}

beforeAll(async () => {
  const owner = await newOwner()
  ;({ organisationId } = owner)
  const workspaceId =
    (await env.DB.prepare('SELECT id FROM workspaces WHERE organisation_id = ?')
      .bind(organisationId)
      .first<string>('id')) ?? ''
  browsers.set('owner', owner.browser)
  for (const role of ['developer', 'billing', 'viewer'] satisfies Role[]) {
    browsers.set(role, (await newMember(organisationId, role)).browser)
  }
  browsers.set('limited', (await newMember(organisationId, 'developer', [workspaceId])).browser)
  objects = {
    ...(await insertJobWithPicture(workspaceId)),
    ...(await insertObjects(organisationId)),
    workspaceId,
    userId: await userIdOf(owner.email),
    form: 'packs',
    action: 'reveal',
    requestId: await loggedRequest(owner),
  }
})

/** A completed job whose picture is stored. */
async function insertJobWithPicture(workspaceId: string) {
  const job = await insertJob(organisationId, workspaceId)
  await jobsDb(job.jobId)
    .prepare("UPDATE jobs SET output_format = 'png' WHERE id = ?")
    .bind(job.jobId)
    .run()
  await env.IMAGES.put(
    outputKey(job.jobId, 'png'),
    await encodePng(drawFigure({ width: 60, height: 90 })),
  )
  return job
}

async function insertEndpoint(): Promise<string> {
  const id = newId('we')
  await jobsDatabase(env, organisationId)
    .insert(webhookEndpoints)
    .values({
      organisationId,
      id,
      name: 'Shop',
      url: 'https://hooks.test/',
      types: ['job.failed'],
      secret: `whsec_${'A'.repeat(44)}`,
      createdAt: new Date(),
    })
  return id
}

/** The id of a request in the log. */
async function loggedRequest({ testKey }: Owner): Promise<string> {
  const response = await clientOf(testKey).get('/v1/account')
  await logged({ orgId: organisationId }, 1)
  return response.headers.get('X-Request-Id') ?? ''
}

const browserOf = (member: MemberName): Browser => {
  const browser = browsers.get(member)
  if (!browser) throw new Error(`no browser of ${member}`)
  return browser
}

const split = (route: string) => {
  const [method = '', template = ''] = route.split(' ')
  return { method, template }
}

function call(member: MemberName, route: string, ids = objects) {
  const { method, template } = split(route)
  const page = template.replace(
    /:(\w+)(\{[^}]*\})?/g,
    (_, name: string) => ids[name] ?? `unknown ${name}`,
  )
  const path = `/console/${organisationId}${page === '/' ? '' : page}`
  const browser = browserOf(member)
  return method === 'GET' ? browser.get(path) : browser.post(path, FIELDS[route] ?? {})
}

const others = (allowed: readonly MemberName[]) =>
  MEMBERS.filter((member) => !allowed.includes(member))

describe('the routes of an organisation', () => {
  it('each have a rule', () => {
    const routes = inspectRoutes(organisationPages)
      .filter(({ isMiddleware, method }) => !isMiddleware && method !== 'ALL')
      .map(({ method, path }) => `${method} ${path}`)
    expect([...new Set(routes)].toSorted()).toEqual(Object.keys(RULES).toSorted())
  })

  it.each(Object.entries(RULES))('%s is for some roles only', async (route, allowed) => {
    vi.spyOn(env.WEBHOOKS, 'send').mockRejectedValue(new Error('the queue is unavailable'))
    vi.spyOn(console, 'error').mockReturnValue()
    const { template } = split(route)
    if (template.includes('/endpoints/:id')) objects['id'] = await insertEndpoint()
    for (const member of others(allowed)) {
      expect((await call(member, route)).status, member).toBe(404)
    }
    for (const member of allowed) {
      if (template.includes('/endpoints/:id')) objects['id'] = await insertEndpoint()
      expect([200, 422], member).toContain((await call(member, route)).status)
    }
  })
})

/** The route of a path, without query and fragment. */
function routeOf(method: string, path: string): string | undefined {
  const page = path.replace(`/console/${organisationId}`, '').replace(/\/?([?#].*)?$/, '') || '/'
  const matching = Object.keys(RULES).filter((route) => {
    const { method: own, template } = split(route)
    return (
      own === method && new RegExp(`^${template.replace(/:\w+(\{[^}]*\})?/g, '[^/]+')}$`).test(page)
    )
  })
  return matching.find((route) => !route.includes(':')) ?? matching[0]
}

describe('the pages of an organisation', () => {
  it.each(MEMBERS)('show only links and forms for the role: %s', async (member) => {
    const id = await insertEndpoint()
    const ids = { ...objects, ...(await insertObjects(organisationId)), id }
    const pages = Object.entries(RULES).filter(
      ([route, allowed]) => route.startsWith('GET ') && allowed.includes(member),
    )
    for (const [route] of pages) {
      const { source } = await call(member, route, ids)
      const found = (attribute: string) =>
        [
          ...source.matchAll(new RegExp(`${attribute}="(/console/${organisationId}[^"]*)"`, 'g')),
        ].map(([, path = '']) => path.replaceAll('&amp;', '&'))
      for (const [method, paths] of [
        ['GET', found('href')],
        ['POST', found('method="post" action')],
      ] as const) {
        for (const path of paths) {
          const target = routeOf(method, path)
          expect(target, `${method} ${path}`).toBeDefined()
          const isOwnPage = path.endsWith(`/remove`)
          if (!isOwnPage) expect(RULES[target ?? ''], `${path} on ${route}`).toContain(member)
        }
      }
    }
  })
})

describe('a member who is limited to a workspace', () => {
  it('sees no job of another workspace, and submits none', async () => {
    const id = newId('ws')
    await env.DB.prepare("INSERT INTO workspaces VALUES (?, ?, 'Outlet', 'active', 0, NULL)")
      .bind(id, organisationId)
      .run()
    const hidden = await insertJobWithPicture(id)
    const browser = browserOf('limited')
    const list = await browser.get(`/console/${organisationId}/jobs`)
    expect(list.html).toContain(objects['jobId'])
    expect(list.html).not.toContain(hidden.jobId)
    expect(list.html).not.toContain('Outlet')
    const ids = { ...objects, ...hidden }
    for (const route of [
      'GET /jobs/:jobId',
      'GET /jobs/:jobId/live',
      'GET /jobs/:jobId/thumbnail',
      'GET /jobs/:jobId/download',
      'POST /jobs/:jobId/run-again',
      'POST /jobs/:jobId/cancel',
      'POST /jobs/:jobId/delete-pictures',
      'GET /settings/webhooks/:eventId',
      'POST /settings/webhooks/:eventId/resend',
    ]) {
      expect((await call('limited', route, ids)).status, route).toBe(404)
    }
    const organisation = `/console/${organisationId}`
    expect((await browser.post(`${organisation}/jobs/export`)).source).not.toContain(hidden.jobId)
    const deliveries = await browser.get(`${organisation}/settings/webhooks/deliveries`)
    expect(deliveries.html).toContain(objects['eventId'])
    expect(deliveries.html).not.toContain(hidden.eventId)
    const prefilled = await browser.get(`${organisation}/playground?job=${hidden.jobId}`)
    expect(prefilled.html).not.toContain('https://shop.test/model.jpg')
    const playground = `/console/${organisationId}/playground`
    expect((await browser.get(playground)).html).not.toContain('Outlet')
    const submit = (workspace: string) =>
      browser.post(playground, {
        model_image_url: 'https://shop.test/model.jpg',
        garment_image_url: 'https://shop.test/garment.png',
        mode: 'test',
        nonce: crypto.randomUUID(),
        workspace,
      })
    expect((await submit(id)).html).toContain('The workspace does not exist or is archived.')
    // Without a choice, the workspace of the member.
    expect((await submit('')).html).toContain(objects['workspaceId'])
    expect((await browser.get(`/console/${organisationId}/settings/api-keys`)).html).toContain(
      'Only members with access to all of them can create, change and revoke API keys',
    )
  })

  it('sees no receiver of jobs of another workspace', async () => {
    const id = newId('ws')
    await env.DB.prepare("INSERT INTO workspaces VALUES (?, ?, 'Popup', 'active', 0, NULL)")
      .bind(id, organisationId)
      .run()
    const hidden = await insertJob(organisationId, id)
    const db = jobsDb(organisationId)
    await db
      .prepare("UPDATE webhook_events SET url = 'https://popup.test/hook' WHERE id = ?")
      .bind(hidden.eventId)
      .run()
    await db
      .prepare(
        'INSERT OR REPLACE INTO webhook_attempts (event_id, number, at, duration_ms, response_status) VALUES (?, 1, ?, 5, 500)',
      )
      .bind(hidden.eventId, Date.now())
      .run()
    const now = new Date()
    const failing = {
      organisationId,
      failures: 3,
      failingSince: now,
      timedOut: false,
      disabledAt: now,
    }
    await jobsDatabase(env, organisationId)
      .insert(failingReceivers)
      .values([
        { ...failing, origin: 'https://popup.test', receiver: 'https://popup.test' },
        { ...failing, origin: 'https://hooks.test', receiver: 'default' },
      ])
    const page = (member: MemberName) =>
      browserOf(member).get(`/console/${organisationId}/settings/webhooks`)
    expect((await page('owner')).html).toContain('popup.test')
    const limited = await page('limited')
    expect(limited.html).toContain('hooks.test')
    expect(limited.html).not.toContain('popup.test')
    const urlsFor = async (actor: Actor) =>
      (await listEndpointOutcomes({ env, organisationId, actor })).map(({ url }) => url)
    expect(await urlsFor(SYSTEM)).toContain('https://popup.test/hook')
    const workspaceIds = [objects['workspaceId'] ?? '']
    const key = { type: 'api_key', keyHash: '', mode: 'live', ipAddress: null } as const
    expect(await urlsFor({ ...key, workspaceIds })).not.toContain('https://popup.test/hook')
  })
})
