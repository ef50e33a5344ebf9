// The objects of the fake of Stripe, and the events about them.
import { complete, hasProperty, type StripeObject } from './stripe-contract.ts'

/** The current time in Stripe's unit. */
export const seconds = (): number => Math.floor(Date.now() / 1_000)

export class FakeStripeObjects {
  readonly objects = new Map<string, StripeObject>()

  /** Ids differ between tests too, which share a database. */
  #suffix = () => crypto.randomUUID().replaceAll('-', '').slice(0, 24)

  /** Stores an object with what is given and neutral values of the other required properties. */
  create(definition: string, prefix: string, given: StripeObject): StripeObject {
    const known = Object.entries(given).filter(
      ([name, value]) => value !== undefined && hasProperty(definition, name),
    )
    const object = complete(definition, {
      id: `${prefix}_${this.#suffix()}`,
      ...(hasProperty(definition, 'created') && { created: seconds() }),
      ...Object.fromEntries(known),
    })
    this.objects.set(object['id'], object)
    return object
  }

  /** Objects of a type, newest first. */
  all = (type: string): StripeObject[] =>
    [...this.objects.values()].filter(({ object }) => object === type).toReversed()

  get(id: string): StripeObject {
    const object = this.objects.get(id)
    if (!object) throw new Error(`The fake has no ${id}`)
    return object
  }

  listOf = (data: StripeObject[], hasMore = false): StripeObject => ({
    object: 'list',
    data,
    has_more: hasMore,
    url: '/v1/list',
  })

  /** Replaces ids by objects, as the parameter `expand` asks. */
  expand(object: StripeObject, paths: string[]): StripeObject {
    const copy = structuredClone(object)
    for (const path of paths) this.#expandPath(copy, path.split('.'))
    return copy
  }

  #expandPath(object: StripeObject, [name = '', ...rest]: string[]): void {
    if (name === 'data') {
      for (const item of object['data']) this.#expandPath(item, rest)
      return
    }
    if (name === 'payments') {
      const payments = this.all('invoice_payment').filter(({ invoice }) => invoice === object['id'])
      object['payments'] = this.listOf(structuredClone(payments))
    } else if (typeof object[name] === 'string')
      object[name] = this.expand(this.get(object[name]), [])
    if (rest.length > 0 && object[name]) this.#expandPath(object[name], rest)
  }

  emit(type: string, object: StripeObject): StripeObject {
    const event = {
      id: `evt_${this.#suffix()}`,
      object: 'event',
      type,
      created: seconds(),
      api_version: '2026-10-28.endive',
      livemode: false,
      pending_webhooks: 1,
      request: null,
      data: { object: structuredClone(object) },
    }
    this.objects.set(event.id, event)
    return event
  }
}
