// client.webhookDeliveries: lists, reads and resends deliveries.
import { Pages } from './pages.ts'
import type { DeliveryQuery } from './pages.ts'
import { pathTo } from './request.ts'
import type { CallOptions, Requester } from './request.ts'
import type { WebhookDelivery, WebhookDeliveryList, WebhookDeliveryWithAttempts } from './types.ts'

const PATH = '/webhook-deliveries'

/** Reads and resends deliveries: `client.webhookDeliveries`. With a test key, those of test jobs. */
export class WebhookDeliveries {
  readonly #requester: Requester

  /** The client creates this object. */
  constructor(requester: Requester) {
    this.#requester = requester
  }

  /**
   * Lists the deliveries of the last 30 days, newest first. Iterate over the result, or read a single page with
   * `.page()`. With filters, a page can be short or empty although another one follows.
   */
  list(
    query: DeliveryQuery = {},
    options: CallOptions = {},
  ): Pages<WebhookDelivery, WebhookDeliveryList> {
    const items = (page: WebhookDeliveryList) => page.webhook_deliveries
    return new Pages({ requester: this.#requester, path: PATH, items }, query, options)
  }

  /**
   * Reads a delivery with its attempts.
   * @throws ApiError `not_found`
   */
  get(eventId: string, { signal }: CallOptions = {}): Promise<WebhookDeliveryWithAttempts> {
    return this.#requester.send({ method: 'GET', path: pathTo(PATH, eventId), signal })
  }

  /**
   * Delivers an event again now. Is not repeated after a network error.
   * @throws ApiError `not_found`, or `delivery_in_progress`
   */
  resend(eventId: string, { signal }: CallOptions = {}): Promise<WebhookDeliveryWithAttempts> {
    const path = `${pathTo(PATH, eventId)}/resend`
    return this.#requester.send({ method: 'POST', path, signal, isRepeatable: false })
  }
}
