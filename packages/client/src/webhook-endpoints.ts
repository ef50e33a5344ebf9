// client.webhookEndpoints: manages the endpoints that receive events.
import { jsonBody, pathTo } from './request.ts'
import type { Call, CallOptions, Requester } from './request.ts'
import type {
  ChangeWebhookEndpointRequest,
  CreatedWebhookEndpoint,
  CreateWebhookEndpointRequest,
  TestEvent,
  WebhookEndpoint,
  WebhookEventType,
} from './types.ts'

const PATH = '/webhook-endpoints'

/** Manages webhook endpoints: `client.webhookEndpoints`. With a test key, those of test mode. */
export class WebhookEndpoints {
  readonly #requester: Requester

  /** The client creates this object. */
  constructor(requester: Requester) {
    this.#requester = requester
  }

  #send<T>(
    method: Call['method'],
    path: string,
    options: Pick<Call, 'signal' | 'body' | 'headers' | 'isRepeatable'>,
  ): Promise<T> {
    return this.#requester.send<T>({ method, path, ...options })
  }

  /** Lists the endpoints, oldest first. */
  async list({ signal }: CallOptions = {}): Promise<WebhookEndpoint[]> {
    type List = { webhook_endpoints: WebhookEndpoint[] }
    return (await this.#send<List>('GET', PATH, { signal })).webhook_endpoints
  }

  /**
   * Creates an endpoint. Is not repeated after a network error, which could create two.
   * @returns the endpoint with its `secret`, which no other call returns
   */
  create(
    request: CreateWebhookEndpointRequest,
    { signal }: CallOptions = {},
  ): Promise<CreatedWebhookEndpoint> {
    return this.#send('POST', PATH, { ...jsonBody(request), signal, isRepeatable: false })
  }

  /**
   * Reads an endpoint.
   * @throws ApiError `not_found`
   */
  get(id: string, { signal }: CallOptions = {}): Promise<WebhookEndpoint> {
    return this.#send('GET', pathTo(PATH, id), { signal })
  }

  /**
   * Changes the given fields of an endpoint.
   * @throws ApiError `not_found`
   */
  update(
    id: string,
    change: ChangeWebhookEndpointRequest,
    { signal }: CallOptions = {},
  ): Promise<WebhookEndpoint> {
    return this.#send('PATCH', pathTo(PATH, id), { ...jsonBody(change), signal })
  }

  /**
   * Deletes an endpoint. Its undelivered events fail.
   * @throws ApiError `not_found`, also if an attempt whose response was lost has deleted it
   */
  async delete(id: string, { signal }: CallOptions = {}): Promise<void> {
    await this.#send('DELETE', pathTo(PATH, id), { signal })
  }

  /**
   * Creates a new secret. The previous one also signs for 24 hours. Is not repeated after a network error.
   * @returns the new secret
   * @throws ApiError `not_found`
   */
  async rotateSecret(id: string, { signal }: CallOptions = {}): Promise<string> {
    const path = `${pathTo(PATH, id)}/rotate-secret`
    const options = { signal, isRepeatable: false }
    return (await this.#send<{ secret: string }>('POST', path, options)).secret
  }

  /**
   * Sends the event of a free test job to this endpoint only. Is not repeated after a network error.
   * @throws ApiError `not_found`, or `validation_error` if the endpoint is disabled
   */
  sendTestEvent(
    id: string,
    type: WebhookEventType = 'job.completed',
    { signal }: CallOptions = {},
  ): Promise<TestEvent> {
    const options = { ...jsonBody({ type }), signal, isRepeatable: false }
    return this.#send('POST', `${pathTo(PATH, id)}/test`, options)
  }
}
