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
export type { AccountReader, Workspaces } from './account.ts'
export type { ApiErrorDetails } from './errors.ts'
export type { GetJobOptions, Jobs, WaitOptions } from './jobs.ts'
export type { JobPages, JobQuery } from './job-pages.ts'
export type { CallOptions, Fetch } from './request.ts'
export type { RunOptions, SubmitOptions, TryOn } from './try-on.ts'
export type {
  Account,
  Cancelled,
  CompletedJob,
  ErrorCode,
  Job,
  JobErrorCode,
  JobList,
  JobStatus,
  ListedJob,
  Mode,
  Submitted,
  TryOnRequest,
  Upload,
  WebhookEvent,
  Workspace,
} from './types.ts'
export type { Uploads } from './uploads.ts'
export { VERSION } from './version.ts'
export { webhooks } from './webhooks.ts'
export type { ReceivedWebhook } from './webhooks.ts'
