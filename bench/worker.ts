// The service with instrumented bindings, a fake network that responds immediately, and control
// endpoints under /bench/. Everything else is the deployed code.
import model from '../samples/model.jpg'
import garment from '../samples/garment.jpg'
import { compositor } from '../src/engines/compositor.ts'
import worker from '../src/index.ts'
import { sweepJobs } from '../src/jobs/sweep.ts'
import { inParallel } from '../src/platform/run-tasks.ts'
import { sweepEvents } from '../src/webhooks/sweep-events.ts'
import { Organisation as ServiceOrganisation } from '../src/organisation-object.ts'
import {
  count,
  instrumentStorage,
  instrumentedEnv,
  setDropMessages,
  takeCounts,
} from './instrumented.ts'

export class Organisation extends ServiceOrganisation {
  constructor(ctx: DurableObjectState, env: Env) {
    instrumentStorage(ctx)
    super(ctx, instrumentedEnv(env))
  }

  /** Adds many entries to the ledger. */
  grantMany(grants: number): void {
    const batch = crypto.randomUUID()
    for (let n = 0; n < grants; n++) {
      this.grant({ amount: 1, reference: `${batch} ${n}`, reason: 'Growth' })
    }
  }
}

/** A minimal PNG. */
const PIXEL = Uint8Array.fromBase64(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
)

const compose = compositor.start.bind(compositor)
let instant = true
compositor.start = async (input) =>
  instant ? { done: true, image: { bytes: PIXEL, format: 'png' } } : compose(input)

export interface Delivery {
  eventId: string
  /** ms since 1970 */
  at: number
}

/** Accepted deliveries. */
const received: Delivery[] = []
let webhookFailureRate = 0

globalThis.fetch = async (input, init) => {
  count('fetches')
  const url = typeof input === 'string' ? input : new Request(input).url
  if (url.includes('/missing')) return new Response('gone', { status: 404 })
  if (url.endsWith('/model.jpg')) return new Response(model)
  if (url.endsWith('/garment.jpg')) return new Response(garment)
  if (!url.startsWith('https://hooks.')) return new Response(PIXEL)
  if (Math.random() < webhookFailureRate) return new Response('not now', { status: 503 })
  const eventId = new Headers(init?.headers).get('webhook-id') ?? ''
  received.push({ eventId, at: Date.now() })
  return new Response('thanks')
}

export default {
  async fetch(request, env, ctx) {
    const url = new URL(request.url)
    if (!url.pathname.startsWith('/bench/')) return worker.fetch(request, instrumentedEnv(env), ctx)
    return Response.json((await handleControl(url, request, env)) ?? null)
  },
  queue: (batch, env, ctx) => {
    count('queueOperations', batch.messages.length * 2) // a read and a delete each
    return worker.queue(batch, instrumentedEnv(env), ctx)
  },
} satisfies ExportedHandler<Env>

async function handleControl(url: URL, request: Request, env: Env): Promise<unknown> {
  const organisation = () => {
    const id = env.ORGANISATION.idFromName(url.searchParams.get('org') ?? '')
    return env.ORGANISATION.get(id) as DurableObjectStub<Organisation>
  }
  switch (url.pathname) {
    case '/bench/counts':
      return takeCounts()
    case '/bench/drop-messages':
      return setDropMessages(url.searchParams.get('on') === 'true')
    case '/bench/instant':
      instant = url.searchParams.get('on') === 'true'
      return
    case '/bench/webhook-failures':
      webhookFailureRate = Number(url.searchParams.get('rate'))
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
      return inParallel('sweep', sweepJobs, sweepEvents)(env)
  }
  throw new Error(`Unknown control endpoint: ${url.pathname}`)
}
