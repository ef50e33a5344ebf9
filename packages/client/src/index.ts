// The public surface of the client.
export { TryOnClient } from './client.ts'
export type { ClientOptions } from './client.ts'
export {
  ApiError,
  ConnectionError,
  JobError,
  TimeoutError,
  TryOnError,
  WebhookVerificationError,
} from './errors.ts'
export type { AccountReader, UsageQuery, UsageReader, Workspaces } from './account.ts'
export type { ApiErrorDetails } from './errors.ts'
export type { GetJobOptions, Jobs, WaitOptions } from './jobs.ts'
export type { DeliveryQuery, JobPages, JobQuery, PageQuery, Pages } from './pages.ts'
export type { CallOptions, Fetch } from './request.ts'
export type { RunOptions, SubmitOptions, TryOn } from './try-on.ts'
export type {
  Account,
  Cancelled,
  ChangeWebhookEndpointRequest,
  CompletedJob,
  CreatedWebhookEndpoint,
  CreateWebhookEndpointRequest,
  DeliveryStatus,
  ErrorCode,
  Job,
  JobErrorCode,
  JobList,
  JobStatus,
  ListedJob,
  Mode,
  Submitted,
  TestEvent,
  TryOnRequest,
  Upload,
  Usage,
  WebhookDelivery,
  WebhookDeliveryList,
  WebhookDeliveryWithAttempts,
  WebhookEndpoint,
  WebhookEvent,
  WebhookEventType,
  Workspace,
} from './types.ts'
export type { Uploads } from './uploads.ts'
export { VERSION } from './version.ts'
export type { WebhookDeliveries } from './webhook-deliveries.ts'
export type { WebhookEndpoints } from './webhook-endpoints.ts'
export { webhooks } from './webhooks.ts'
export type { ReceivedWebhook } from './webhooks.ts'
