// Identifiers that do not exist, and texts that are none, in the address of every route.
import { env } from 'cloudflare:workers'
import { inspectRoutes } from 'hono/dev'
import { beforeAll, describe, expect, it } from 'vitest'
import { app } from '../../src/app.ts'
import { organisationPages } from '../../src/console/console.tsx'
import { newOwner, type Owner } from '../support/browser.ts'
import { request } from '../support/client.ts'
import { IMAGES, newOrganisation, type TestOrganisation } from '../support/world.ts'

/** The prefix of the ids in each parameter. */
const PREFIXES: Record<string, string> = {
  jobId: 'job',
  orgId: 'org',
  workspaceId: 'ws',
  keyId: 'key',
  eventId: 'evt',
  userId: 'usr',
  invitationId: 'inv',
  paymentId: 'pay',
  upload: 'upl',
  id: 'we',
}
const SUFFIXES = [
  '01h455vb4pex5vsknk084sn02q', // valid, but unknown
  '01h455vb4pfx5vsknk084sn07z', // on a shard that is not bound
  '00000000000000000000000001',
  '7zzzzzzzzzzzzzzzzzzzzzzzzz',
  '01h455vb4pex5vsknk084sn02',
  '01h455vb4pex5vsknk084sn02q0',
  '01H455VB4PEX5VSKNK084SN02Q',
]
const OTHERS = ['usr_01h455vb4pex5vsknk084sn02q', 'x', '%00', '%0d%0a', '%F0%9F%92%A9', 'é', "'"]

/** Bodies that pass the validation of routes which check it before they look for the id. */
const BODIES: Record<string, object> = {
  '/operator/organisations/:orgId/credits': { amount: 1, reason: 'test', reference: 'test' },
  '/operator/organisations/:orgId/api-keys': { mode: 'test' },
  '/operator/organisations/:orgId/workspaces': { name: 'Shoes' },
  '/operator/payments/:paymentId/refund': { reason: 'test', reference: 'test' },
}

interface Route {
  method: string
  template: string
  /** The last parameter of the address, such as `:jobId`. */
  parameter: string
}

function routesOf(routed: typeof app | typeof organisationPages): Route[] {
  const routes = inspectRoutes(routed as typeof app)
    .filter(({ isMiddleware }) => !isMiddleware)
    .map(({ method, path }) => `${method} ${path.replaceAll(/\{[^}]*\}/g, '')}`)
  return [...new Set(routes)].flatMap((route) => {
    const [method = '', template = ''] = route.split(' ')
    const parameter = template.match(/:\w+/g)?.at(-1)
    // A form is the name of a page.
    return parameter && parameter !== ':form' ? [{ method, template, parameter }] : []
  })
}

const pathsOf = ({ template, parameter }: Route, organisationId: string, count = Infinity) => {
  const ids = SUFFIXES.map((suffix) => `${PREFIXES[parameter.slice(1)] ?? 'job'}_${suffix}`)
  return [...ids, ...OTHERS]
    .slice(0, count)
    .map((id) =>
      template.replace(parameter, id).replace(':orgId', organisationId).replace(/:\w+/, id),
    )
}

const send = (token: string, { method, template }: Route, path: string): Promise<Response> =>
  request(path, {
    method,
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    ...(!['GET', 'DELETE'].includes(method) && { body: JSON.stringify(BODIES[template] ?? {}) }),
  })

let shop: TestOrganisation
let owner: Owner

beforeAll(async () => {
  shop = await newOrganisation()
  owner = await newOwner()
})

describe('unknown and malformed ids', () => {
  const api = routesOf(app).filter(({ template }) => /^\/(v1|operator)\//.test(template))

  it.each(api)('are not found: $method $template', async (route) => {
    const token = route.template.startsWith('/operator') ? env.OPERATOR_TOKEN : shop.keys.test
    for (const path of pathsOf(route, shop.orgId)) {
      const { status } = await send(token, route, path)
      expect([path, status]).toEqual([path, 404])
    }
  })

  const files = routesOf(app).filter(({ template }) => /^\/(outputs|inputs|uploads)/.test(template))

  it.each(files)('have no valid signature: $method $template', async (route) => {
    for (const path of pathsOf(route, shop.orgId)) {
      const { status } = await send(shop.keys.test, route, path)
      expect([path, status]).toEqual([path, 403])
    }
  })

  it('are not found as the workspace of a job', async () => {
    for (const suffix of SUFFIXES) {
      const body = { ...IMAGES, workspace_id: `ws_${suffix}` }
      expect((await shop.test.post('/v1/tryon', body)).status).toBe(404)
      const list = await shop.test.get(`/v1/jobs?workspace_id=ws_${suffix}`)
      expect([list.status, await list.json()]).toMatchObject([200, { jobs: [] }])
    }
  })

  const isForm = ({ method, template }: Route) => method === 'GET' && template.endsWith('/rename')
  const pages = routesOf(organisationPages).filter((route) => !isForm(route))
  const reads = pages.filter(({ method }) => method === 'GET')

  it.each(reads)('are not found in the console: GET $template', async (route) => {
    for (const path of pathsOf(route, owner.organisationId)) {
      const page = await owner.browser.get(`/console/${owner.organisationId}${path}`)
      expect([path, page.status]).toEqual([path, 404])
    }
  })

  const posts = pages.filter(({ method }) => method === 'POST')

  it.each(posts)('change nothing in the console: POST $template', async (route) => {
    for (const path of pathsOf(route, owner.organisationId, 4)) {
      const page = await owner.browser.post(`/console/${owner.organisationId}${path}`)
      // A form with errors, or an invitation that is already withdrawn.
      expect([path, page.status < 500]).toEqual([path, true])
    }
  })

  it.each(['/jobs', '/credits', '/billing', '/settings/audit-log', '/settings/webhooks'])(
    'are ignored in the query of %s',
    async (path) => {
      const names = ['before', 'after', 'q', 'workspace', 'endpoint', 'actor', 'key', 'job']
      for (const suffix of SUFFIXES) {
        const query = names.map((name) => `${name}=job_${suffix}`).join('&')
        const page = await owner.browser.get(`/console/${owner.organisationId}${path}?${query}`)
        expect([suffix, page.status < 500]).toEqual([suffix, true])
      }
    },
  )
})
