// A fake of Stripe at the network: the HTTP API with idempotency keys, the objects behind it, outages,
// signed webhook requests. Every request and response is checked against Stripe's API description.
import { expect, onTestFinished, vi } from 'vitest'
import { FakeStripeCheckout } from './fake-stripe-checkout.ts'
import {
  complete,
  operationOf,
  parseForm,
  requestErrors,
  responseErrors,
  type StripeObject,
} from './stripe-contract.ts'
import { textOf } from './upstream.ts'

export const STRIPE_SECRET_KEY = 'sk_test_key_of_the_tests'

const IDEMPOTENCY_KEY_LIFETIME_MS = 24 * 3_600_000

export interface SentRequest {
  operation: string
  path: string
  body: StripeObject
  idempotencyKey: string | null
}

/** Thrown by a handler: an error response. */
class ApiError extends Error {
  readonly status: number
  readonly body: StripeObject

  constructor(status: number, body: StripeObject) {
    super(String(body['message']))
    this.status = status
    this.body = body
  }
}

const notFound = (id: string) =>
  new ApiError(404, {
    type: 'invalid_request_error',
    code: 'resource_missing',
    message: `No such object: '${id}'`,
  })
const invalid = (message: string, code?: string) =>
  new ApiError(400, { type: 'invalid_request_error', message, ...(code && { code }) })

type Handler = (request: { id: string; body: StripeObject }) => StripeObject
type Interruption = (work: () => Response) => Response

export class FakeStripe extends FakeStripeCheckout {
  /** The requests that were processed, without repetitions by idempotency key. */
  readonly requests: SentRequest[] = []
  readonly violations: string[] = []
  #interruptions: Interruption[] = []
  #barriers = new Map<string, { waiting: (() => void)[]; count: number }>()
  #responses = new Map<string, { at: number; request: string; response: Response }>()

  /** The next requests get this response and have no effect. */
  failNext(times: number, status: number, error: StripeObject = { type: 'api_error' }): void {
    for (let count = 0; count < times; count++) {
      this.#interruptions.push(() => Response.json({ error }, { status }))
    }
  }

  /** The next requests are processed, before the interruptions that follow. */
  passNext(times: number): void {
    for (let count = 0; count < times; count++) this.#interruptions.push((work) => work())
  }

  /** The next requests do not reach Stripe. */
  disconnectNext(times: number): void {
    for (let count = 0; count < times; count++) {
      this.#interruptions.push(() => {
        throw new TypeError('the network is down')
      })
    }
  }

  /** The next request has its effect, but the response is lost; so are all repetitions. */
  loseNextResponse(repetitions = 2): void {
    this.#interruptions.push((work) => {
      work()
      throw new TypeError('the connection was closed')
    })
    this.disconnectNext(repetitions)
  }

  /** The next `count` requests of a method and path wait until the last of them has arrived. */
  gather(method: string, path: string, count: number): void {
    this.#barriers.set(`${method} ${path}`, { waiting: [], count })
  }

  /** Waits for the other requests of a barrier. */
  async #arrive({ method, url }: Request): Promise<void> {
    const name = `${method} ${new URL(url).pathname}`
    const barrier = this.#barriers.get(name)
    if (!barrier) return
    await new Promise<void>((resolve) => {
      barrier.waiting.push(resolve)
      if (barrier.waiting.length < barrier.count) return
      this.#barriers.delete(name)
      for (const proceed of barrier.waiting) proceed()
    })
  }

  /** A day passes. */
  forgetIdempotencyKeys(): void {
    this.#responses.clear()
  }

  /** The requests of one operation, such as "POST /v1/refunds". */
  sent = (operation: string): SentRequest[] =>
    this.requests.filter((request) => request.operation === operation)

  handle = async (request: Request): Promise<Response> => {
    const body = await textOf(request)
    await this.#arrive(request)
    const interruption = this.#interruptions.shift()
    const work = () => this.#respond(request, body)
    return interruption ? interruption(work) : work()
  }

  #respond(request: Request, text: string): Response {
    const { pathname, search } = new URL(request.url)
    if (request.headers.get('Authorization') !== `Bearer ${STRIPE_SECRET_KEY}`) {
      const error = { type: 'invalid_request_error', message: 'Invalid API Key provided' }
      return Response.json({ error }, { status: 401 })
    }
    const idempotencyKey = request.method === 'POST' ? request.headers.get('Idempotency-Key') : null
    const fingerprint = `${request.method} ${pathname} ${text}`
    const earlier = this.#responses.get(idempotencyKey ?? '')
    if (idempotencyKey && earlier && Date.now() - earlier.at < IDEMPOTENCY_KEY_LIFETIME_MS) {
      if (earlier.request === fingerprint) return earlier.response.clone()
      const error = {
        type: 'idempotency_error',
        message: 'Keys for idempotent requests can only be used with the same parameters.',
      }
      return Response.json({ error }, { status: 400 })
    }
    const response = this.#process(
      request.method,
      pathname,
      text || search.slice(1),
      idempotencyKey,
    )
    const stored = { at: Date.now(), request: fingerprint, response: response.clone() }
    if (idempotencyKey) this.#responses.set(idempotencyKey, stored)
    return response
  }

  #process(method: string, path: string, form: string, idempotencyKey: string | null): Response {
    const operation = operationOf(method, path)
    const handler = this.#handlers[operation ?? '']
    if (!operation || !handler) {
      this.violations.push(`No operation ${method} ${path}`)
      return Response.json({ error: { type: 'invalid_request_error' } }, { status: 404 })
    }
    const body = parseForm(operation, form)
    this.#report(operation, 'request', requestErrors(operation, body))
    this.requests.push({ operation, path, body, idempotencyKey })
    const id = decodeURIComponent(path.split('/')[path.startsWith('/v1/checkout') ? 4 : 3] ?? '')
    try {
      const result = this.expand(handler({ id, body }), body['expand'] ?? [])
      this.#report(operation, 'response', responseErrors(operation, result))
      return Response.json(result)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      return Response.json({ error: error.body }, { status: error.status })
    }
  }

  #report(operation: string, part: string, errors: string[]): void {
    if (errors.length > 0) this.violations.push(`${operation} ${part}: ${errors.join('; ')}`)
  }

  #get(id: string): StripeObject {
    const object = this.objects.get(id)
    if (!object) throw notFound(id)
    return object
  }

  /** A page of the newest objects. */
  #list(
    object: string,
    { limit = 10, starting_after: after, ...filter }: StripeObject,
    matches: (item: StripeObject) => boolean = () => true,
  ) {
    const names = ['customer', 'email', 'payment_intent', 'status']
    const all = this.all(object).filter(
      (item) =>
        matches(item) &&
        names.every((name) => filter[name] === undefined || item[name] === filter[name]) &&
        item['created'] >= (filter['created']?.gte ?? 0) &&
        item['created'] <= (filter['created']?.lte ?? Infinity),
    )
    const start = after === undefined ? 0 : all.findIndex(({ id }) => id === after) + 1
    return this.listOf(all.slice(start, start + limit), all.length > start + limit)
  }

  #handlers: Record<string, Handler> = {
    'POST /v1/customers': ({ body }) => this.create('Customers.Customer', 'cus', body),
    'POST /v1/customers/{id}': ({ id, body }) => Object.assign(this.#get(id), body),
    'GET /v1/customers': ({ body }) => this.#list('customer', body),
    'GET /v1/customers/{id}': ({ id }) => this.#get(id),
    'GET /v1/customers/{id}/payment_methods': ({ id, body }) =>
      this.#list('payment_method', { ...body, customer: id }),
    'GET /v1/prices': ({ body }) =>
      this.listOf(
        this.all('price').filter(
          (price) => price['active'] && body['lookup_keys'].includes(price['lookup_key']),
        ),
      ),
    'POST /v1/products': ({ body }) => {
      if (this.objects.has(body['id'])) throw invalid('Already exists.', 'resource_already_exists')
      return this.create('Products.Product', 'prod', { active: true, ...body })
    },
    'POST /v1/prices': ({ body }) => {
      const { recurring, lookup_key: lookupKey, transfer_lookup_key: transfers } = body
      const owner = this.all('price').find((price) => price['lookup_key'] === lookupKey)
      if (owner && !transfers) throw invalid('A price already uses that lookup key.')
      if (owner) owner['lookup_key'] = null
      return this.create('Prices.Price', 'price', {
        ...body,
        active: true,
        type: 'recurring',
        recurring: complete('Prices.Price.Recurring', { interval_count: 1, ...recurring }),
      })
    },
    'POST /v1/checkout/sessions': ({ body }) => this.createSession(body),
    'GET /v1/checkout/sessions': ({ body }) => this.#list('checkout.session', body),
    'GET /v1/checkout/sessions/{id}': ({ id }) => this.#get(id),
    'POST /v1/checkout/sessions/{id}/expire': ({ id }) => {
      if (this.#get(id)['status'] !== 'open') throw invalid('Only open sessions can be expired.')
      this.expireSession(id)
      return this.get(id)
    },
    'POST /v1/payment_intents': ({ body }) => {
      const method = this.objects.get(body['payment_method'])
      if (!method || method['customer'] !== body['customer']) throw notFound(body['payment_method'])
      const intent = this.confirm(this.createIntent(body))
      if (intent['status'] === 'succeeded') return intent
      throw new ApiError(402, {
        type: 'card_error',
        ...intent['last_payment_error'],
        payment_intent: intent,
      })
    },
    'GET /v1/payment_intents': ({ body }) => this.#list('payment_intent', body),
    'GET /v1/payment_intents/{id}': ({ id }) => this.#get(id),
    'POST /v1/tax/calculations': ({ body }) => this.calculateTax(body),
    'GET /v1/invoices': ({ body: { subscription, ...body } }) =>
      this.#list('invoice', body, (invoice) => {
        const details = invoice['parent']?.subscription_details
        return subscription === undefined || details?.subscription === subscription
      }),
    'POST /v1/invoices/create_preview': ({ body }) => this.previewUpgrade(body),
    'GET /v1/invoices/{id}': ({ id }) => this.#get(id),
    'POST /v1/invoices/{id}/void': ({ id }) => {
      const invoice = this.#get(id)
      if (invoice['status'] !== 'open') throw invalid('You can only void an open invoice.')
      return Object.assign(invoice, { status: 'void' })
    },
    'GET /v1/invoice_payments': ({ body }) =>
      this.listOf(
        this.all('invoice_payment').filter(
          ({ payment }) => payment.payment_intent === body['payment'].payment_intent,
        ),
      ),
    'GET /v1/subscriptions/{id}': ({ id }) => this.#get(id),
    'POST /v1/subscriptions/{id}': ({ id, body }) => {
      if (body['payment_behavior'] === 'pending_if_incomplete') {
        // Supported by updates that wait for their payment:
        const allowed = /^(items|proration_behavior|proration_date|payment_behavior|expand)$/
        const other = Object.keys(body).find((name) => !allowed.test(name))
        if (other) throw invalid(`${other} is not supported with pending_if_incomplete`)
      }
      return this.updateSubscription(this.#get(id), body)
    },
    'DELETE /v1/subscriptions/{id}': ({ id }) => {
      const subscription = this.#get(id)
      if (subscription['status'] === 'canceled') throw notFound(id)
      return this.endSubscription(id)
    },
    'POST /v1/refunds': ({ body }) => {
      const { payment_intent: id, amount, metadata } = body
      const charge = this.chargeOf(this.#get(id))
      if (amount > charge['amount'] - charge['amount_refunded']) {
        throw invalid('Refund amount is greater than unrefunded amount on charge')
      }
      return this.refund(id, amount, metadata)
    },
    'GET /v1/refunds': ({ body }) => this.#list('refund', body),
    'GET /v1/disputes': ({ body }) => this.#list('dispute', body),
    'GET /v1/billing_portal/configurations': () =>
      this.listOf(this.all('billing_portal.configuration')),
    'POST /v1/billing_portal/configurations': ({ body }) =>
      this.create('BillingPortal.Configurations.Configuration', 'bpc', { active: true, ...body }),
    'POST /v1/billing_portal/sessions': ({ body }) =>
      this.create('BillingPortal.Sessions.Session', 'bps', {
        ...body,
        url: 'https://billing.stripe.com/p/session/test',
      }),
    'GET /v1/events': ({ body }) => {
      const types: string[] = body['types']
      const page = this.#list('event', body)
      page['data'] = page['data'].filter(({ type }: StripeObject) => types.includes(type))
      return page
    },
  }
}

/** Replaces Stripe for the running test. */
export function useFakeStripe(): FakeStripe {
  const fake = new FakeStripe()
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const request = new Request(input as RequestInfo, init as RequestInit)
    if (new URL(request.url).hostname === 'api.stripe.com') return fake.handle(request)
    throw new Error(`Unexpected request to ${request.url}`)
  })
  onTestFinished(() => expect(fake.violations).toEqual([]))
  return fake
}
