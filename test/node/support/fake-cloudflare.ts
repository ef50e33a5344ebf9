// A fake of the parts of Cloudflare's REST API that `npm run provision` uses. Strict: it rejects unknown
// routes, unknown bodies and names that exist.
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { z } from 'zod'

export const TOKEN = 'token-of-the-tests'
export const ACCOUNT = '0123456789abcdef0123456789abcdef'

const Rule = z.strictObject({
  id: z.string(),
  enabled: z.boolean(),
  conditions: z.strictObject({ prefix: z.string() }).optional(),
  deleteObjectsTransition: z
    .strictObject({ condition: z.strictObject({ type: z.literal('Age'), maxAge: z.number() }) })
    .optional(),
  abortMultipartUploadsTransition: z.unknown().optional(),
})
type Rule = z.infer<typeof Rule>

const Secret = z.strictObject({
  name: z.string(),
  text: z.string().min(32),
  type: z.literal('secret_text'),
})

/** A response of the API: a result, or an error with a status and a code. */
class ApiError extends Error {
  readonly status: number
  readonly code: number
  constructor(status: number, code: number, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

const multipartRule = (): Rule => ({
  id: 'Default Multipart Abort Rule',
  enabled: true,
  conditions: { prefix: '' },
  abortMultipartUploadsTransition: { condition: { type: 'Age', maxAge: 604_800 } },
})

export type FakeCloudflare = Awaited<ReturnType<typeof startFakeCloudflare>>

export async function startFakeCloudflare() {
  const databases = new Set<string>()
  /** Of the databases that have one. */
  const jurisdictions = new Map<string, string>()
  const queues = new Set<string>()
  /** By name, those of a jurisdiction as `eu/name`. */
  const buckets = new Map<string, Rule[]>()
  /** The secrets of each Worker. */
  const workers = new Map<string, Map<string, string>>()
  /** The sending domains of each zone. */
  const mailDomains = new Map<string, { name: string; enabled: boolean }[]>()
  /** Method and path of all requests, without the query. */
  const requests: string[] = []
  const forbidden: string[] = []
  let writesUntilFailure = Infinity
  let failsAfterEffect = false

  function handle(
    method: string,
    url: URL,
    body: unknown,
    jurisdiction: unknown,
  ): { result: unknown; total?: number } {
    const path = decodeURIComponent(url.pathname)
    requests.push(`${method} ${path}`)
    if (forbidden.some((part) => path.includes(part))) {
      throw new ApiError(403, 10000, 'Authentication error')
    }
    const route = `${method} ${path.replace(`/accounts/${ACCOUNT}`, '')}`
    const page = <T>(items: T[]) => {
      const size = Math.min(Number(url.searchParams.get('per_page')), 50)
      const number = Number(url.searchParams.get('page'))
      return { result: items.slice((number - 1) * size, number * size), total: items.length / size }
    }
    const create = (names: { has(name: string): boolean }, name: string) => {
      if (names.has(name)) throw new ApiError(409, 11009, `${name} exists already`)
      return name
    }

    const inJurisdiction = (name: string) => (jurisdiction ? `${jurisdiction}/${name}` : name)

    if (route === 'GET /d1/database') {
      return page(
        [...databases].map((name) => ({ name, jurisdiction: jurisdictions.get(name) ?? null })),
      )
    }
    if (route === 'POST /d1/database') {
      const Database = z.strictObject({
        name: z.string(),
        jurisdiction: z.literal('eu').optional(),
      })
      const { name, jurisdiction: own } = Database.parse(body)
      databases.add(create(databases, name))
      if (own) jurisdictions.set(name, own)
      return { result: {} }
    }
    if (route === 'GET /queues') return page([...queues].map((name) => ({ queue_name: name })))
    if (route === 'POST /queues') {
      const { queue_name: name } = z.strictObject({ queue_name: z.string() }).parse(body)
      queues.add(create(queues, name))
      return { result: {} }
    }
    if (route === 'POST /r2/buckets') {
      const { name } = z.strictObject({ name: z.string() }).parse(body)
      buckets.set(create(buckets, inJurisdiction(name)), [multipartRule()])
      return { result: {} }
    }
    if (route === 'GET /email/sending/zones') {
      return page([...mailDomains.keys()].map((name) => ({ id: `zone-${name}`, name })))
    }
    const [, zone] = /^GET \/zones\/zone-([^/]+)\/email\/sending\/subdomains$/.exec(route) ?? []
    if (zone !== undefined) return { result: mailDomains.get(zone) }

    const [, bucket] = /^\w+ \/r2\/buckets\/([^/]+)/.exec(route) ?? []
    if (bucket !== undefined) {
      const rules = buckets.get(inJurisdiction(bucket))
      if (!rules) throw new ApiError(404, 10006, 'The specified bucket does not exist.')
      if (route === `GET /r2/buckets/${bucket}`) return { result: { name: bucket } }
      if (route === `GET /r2/buckets/${bucket}/lifecycle`) return { result: { rules } }
      if (route === `PUT /r2/buckets/${bucket}/lifecycle`) {
        buckets.set(
          inJurisdiction(bucket),
          z.strictObject({ rules: z.array(Rule) }).parse(body).rules,
        )
        return { result: {} }
      }
    }
    const [, worker] = /^\w+ \/workers\/scripts\/([^/]+)/.exec(route) ?? []
    if (worker !== undefined) {
      if (route === `PUT /workers/scripts/${worker}`) {
        create(workers, worker)
        const form = z.instanceof(FormData).parse(body)
        if (!form.has('metadata') || !form.has('worker.js')) throw new Error('incomplete form')
        workers.set(worker, new Map())
        return { result: {} }
      }
      const secrets = workers.get(worker)
      if (!secrets) throw new ApiError(404, 10007, 'This Worker does not exist on your account.')
      if (route === `GET /workers/scripts/${worker}/secrets`) {
        return { result: [...secrets.keys()].map((name) => ({ name, type: 'secret_text' })) }
      }
      if (route === `PUT /workers/scripts/${worker}/secrets`) {
        const { name, text } = Secret.parse(body)
        secrets.set(create(secrets, name), text)
        return { result: {} }
      }
    }
    throw new ApiError(404, 7003, `Could not route to ${route}`)
  }

  const server = createServer((request, response) => {
    const respond = (status: number, body: object) => {
      response.writeHead(status, { 'Content-Type': 'application/json' })
      response.end(JSON.stringify(body))
    }
    void (async () => {
      const url = new URL(request.url ?? '/', 'http://localhost')
      try {
        const body = await bodyOf(request)
        if (request.headers.authorization !== `Bearer ${TOKEN}`) {
          throw new ApiError(401, 1000, 'Invalid API Token')
        }
        const fails = request.method !== 'GET' && --writesUntilFailure === 0
        if (fails && !failsAfterEffect) throw new ApiError(502, 0, 'Bad gateway')
        const { result, total } = handle(
          request.method ?? 'GET',
          url,
          body,
          request.headers['cf-r2-jurisdiction'],
        )
        if (fails) throw new ApiError(502, 0, 'Bad gateway')
        const info = total === undefined ? {} : { result_info: { total_pages: Math.ceil(total) } }
        respond(200, { success: true, errors: [], messages: [], result, ...info })
      } catch (error) {
        const { status, code } = error instanceof ApiError ? error : { status: 400, code: 10021 }
        respond(status, {
          success: false,
          errors: [{ code, message: String(error) }],
          result: null,
        })
      }
    })()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo

  return {
    url: `http://127.0.0.1:${port}`,
    databases,
    jurisdictions,
    queues,
    buckets,
    workers,
    mailDomains,
    requests,
    writes: () => requests.filter((request) => !request.startsWith('GET ')),
    /** Rejects requests whose path contains `part`, as for a token without the permission. */
    forbid: (part: string) => void forbidden.push(part),
    /** The nth write from now returns 502, before or after its effect. */
    failAtWrite(nth: number, when: 'before' | 'after') {
      writesUntilFailure = nth
      failsAfterEffect = when === 'after'
    },
    reset() {
      for (const collection of [databases, jurisdictions, queues, buckets, workers])
        collection.clear()
      requests.length = 0
      writesUntilFailure = Infinity
    },
    close: () => new Promise<unknown>((resolve) => server.close(resolve)),
  }
}

/** JSON, a form, or undefined without a body. */
async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  if (chunks.length === 0) return undefined
  const type = request.headers['content-type'] ?? ''
  const body = new Response(Buffer.concat(chunks), { headers: { 'Content-Type': type } })
  return type.startsWith('multipart/') ? body.formData() : body.json()
}
