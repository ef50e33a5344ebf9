// The service with its bindings counted, an outside world that answers at once, and a back door.
// Everything else is the code that is deployed.
import model from '../samples/model.jpg'
import garment from '../samples/garment.jpg'
import { compositor } from '../src/engines/compositor.ts'
import worker from '../src/index.ts'
import { sweep } from '../src/scheduled.ts'
import { Organisation as Real } from '../src/organisation/organisation.ts'
import { count, countedContext, countedEnv, hold, takeCounts } from './instrumented.ts'

export class Organisation extends Real {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, countedEnv(env))
    Object.defineProperty(this, 'ctx', { value: countedContext(ctx) })
  }

  /** Makes the ledger long. */
  grantMany(grants: number): void {
    const batch = crypto.randomUUID()
    for (let n = 0; n < grants; n++) {
      this.grant({ amount: 1, reference: `${batch} ${n}`, reason: 'Growth' })
    }
  }
}

/** The smallest bytes that pass for a picture. */
const PIXEL = Uint8Array.fromBase64(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
)

const compose = compositor.start.bind(compositor)
let instant = true
compositor.start = async (input) =>
  instant ? { done: true, image: { bytes: PIXEL, format: 'png' } } : compose(input)

/** Event ids of deliveries that the receiver took. */
const received: string[] = []
let refusalRate = 0

globalThis.fetch = async (input, init) => {
  count('fetches')
  const url = typeof input === 'string' ? input : new Request(input).url
  if (url.includes('/missing')) return new Response('gone', { status: 404 })
  if (url.endsWith('/model.jpg')) return new Response(model)
  if (url.endsWith('/garment.jpg')) return new Response(garment)
  if (!url.startsWith('https://hooks.')) return new Response(PIXEL)
  if (Math.random() < refusalRate) return new Response('not now', { status: 503 })
  received.push(new Headers(init?.headers).get('webhook-id') ?? '')
  return new Response('thanks')
}

export default {
  async fetch(request, env, ctx) {
    const url = new URL(request.url)
    if (!url.pathname.startsWith('/bench/')) return worker.fetch(request, countedEnv(env), ctx)
    return Response.json((await backDoor(url, request, env)) ?? null)
  },
  queue: (batch, env, ctx) => {
    count('queueOperations', batch.messages.length * 2) // a read and a delete each
    return worker.queue(batch, countedEnv(env), ctx)
  },
} satisfies ExportedHandler<Env>

async function backDoor(url: URL, request: Request, env: Env): Promise<unknown> {
  const organisation = () => {
    const id = env.ORGANISATION.idFromName(url.searchParams.get('org') ?? '')
    return env.ORGANISATION.get(id) as DurableObjectStub<Organisation>
  }
  switch (url.pathname) {
    case '/bench/counts':
      return takeCounts()
    case '/bench/hold':
      return hold(url.searchParams.get('on') === 'true')
    case '/bench/instant':
      instant = url.searchParams.get('on') === 'true'
      return
    case '/bench/refuse':
      refusalRate = Number(url.searchParams.get('rate'))
      return
    case '/bench/received':
      return received
    case '/bench/grants':
      return organisation().grantMany(Number(url.searchParams.get('n')))
    case '/bench/ledger': {
      const totals = await organisation().totals()
      return { totals, entries: await organisation().entries({ limit: 1_000_000 }) }
    }
    case '/bench/duplicates': {
      const ids = await request.json<string[]>()
      await env.JOBS.sendBatch(ids.map((jobId) => ({ body: { jobId } })))
      return
    }
    case '/bench/sweep':
      return sweep(env)
  }
  throw new Error(`no such door: ${url.pathname}`)
}
