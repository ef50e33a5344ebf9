// The resources of the API, with the names of the OpenAPI document.
import type { components } from './schema.ts'

type Schemas = components['schemas']

/** A try-on job, as one job is read. */
export type Job = Schemas['Job']
/** A completed job whose picture exists. */
export type CompletedJob = Job & { status: 'completed'; output_url: string }
/** A job as in lists and webhooks: without the webhook fields. */
export type ListedJob = Schemas['ListedJob']
/** The status of a job. `completed`, `failed`, `cancelled` and `refunded` are final. */
export type JobStatus = Schemas['JobStatus']
/** Why a job failed. Later versions of the API may add values. */
export type JobErrorCode = Schemas['JobErrorCode'] | (string & {})
/** The code of an error response. Later versions of the API may add values. */
export type ErrorCode = Schemas['ErrorCode'] | (string & {})
/** `live` or `test`, chosen by the kind of API key. */
export type Mode = Schemas['Mode']
/** The body of a submission. */
export type TryOnRequest = Schemas['TryOnRequest']
/** The response to a submission. */
export type Submitted = Schemas['Submitted']
/** The response to a cancellation. */
export type Cancelled = Schemas['Cancelled']
/** A page of jobs. */
export type JobList = Schemas['JobList']
/** A workspace of the organisation. */
export type Workspace = Schemas['Workspace']
/** The organisation of the API key. */
export type Account = Schemas['Account']
/** An uploaded picture. */
export type Upload = Schemas['Upload']
/** The body of a webhook. */
export type WebhookEvent = Schemas['WebhookBody']
/** The type of an event. */
export type WebhookEventType = Schemas['WebhookEventType']
/** An endpoint that receives events. */
export type WebhookEndpoint = Schemas['WebhookEndpoint']
/** A new endpoint with its signing secret. */
export type CreatedWebhookEndpoint = Schemas['CreatedWebhookEndpoint']
/** The settings of a new endpoint. */
export type CreateWebhookEndpointRequest = Schemas['CreateWebhookEndpointRequest']
/** A change of an endpoint. */
export type ChangeWebhookEndpointRequest = Schemas['ChangeWebhookEndpointRequest']
/** The test job of a test event. */
export type TestEvent = Schemas['TestEvent']
/** The state of a delivery. `delivered` and `failed` are final. */
export type DeliveryStatus = Schemas['WebhookStatus']
/** The delivery of an event to one receiver. */
export type WebhookDelivery = Schemas['WebhookDelivery']
/** A delivery with its attempts. */
export type WebhookDeliveryWithAttempts = Schemas['WebhookDeliveryWithAttempts']
/** A page of deliveries. */
export type WebhookDeliveryList = Schemas['WebhookDeliveryList']
/** The jobs and credits of a range of days. */
export type Usage = Schemas['Usage']
