// Generated from the OpenAPI document by scripts/generate.ts. Do not edit it.
export type paths = Record<string, never>
export type webhooks = Record<string, never>
export interface components {
  schemas: {
    /** A submission. Unknown fields are ignored. */
    TryOnRequest: {
      /**
       * The publicly accessible URL of the model photo, or the `url` of an upload. The image must be a JPEG, PNG or WebP file of at most 10 MB.
       * @example https://shop.example/model.jpg
       */
      model_image_url: string
      /**
       * The publicly accessible URL of the garment photo, or the `url` of an upload. The image must be a JPEG, PNG or WebP file of at most 10 MB.
       * @example https://shop.example/shirt.png
       */
      garment_image_url: string
      /**
       * The workspace that the job belongs to. By default the first active workspace of the organisation.
       * @example ws_01m45j10cfeqs81jeh7e74f9g5
       */
      workspace_id?: string
      /**
       * The http or https URL that receives the result. Overrides the default webhook URL of the organisation.
       * @example https://shop.example/webhooks/try-on
       */
      webhook_url?: string
    }
    /**
     * The state of a job. `pending` and `processing` jobs have not ended. `completed`: the picture is ready. `failed`: `error_code` has the reason. `refunded`: the client cancelled the job. `cancelled`: the service withdrew the job. Only completed jobs cost a credit.
     * @enum {string}
     */
    JobStatus: 'pending' | 'processing' | 'completed' | 'failed' | 'cancelled' | 'refunded'
    /** A new endpoint. Unknown fields are ignored. */
    CreateWebhookEndpointRequest: {
      /**
       * The public http or https URL that receives the events.
       * @example https://shop.example/webhooks/try-on
       */
      url: string
      /** The types of events that it receives. By default all of them. */
      events?: components['schemas']['WebhookEventType'][]
      /** The mode of the jobs whose events it receives. Null for both. By default the mode of the API key, which is the only choice for a test key. */
      mode?: ('live' | 'test') | null
      /**
       * A name for the console. By default the host of the URL.
       * @example Order system
       */
      name?: string
    }
    /** The fields to change. Unknown fields are ignored. */
    ChangeWebhookEndpointRequest: {
      /**
       * The public http or https URL that receives the events.
       * @example https://shop.example/webhooks/try-on
       */
      url?: string
      /**
       * A name for the console.
       * @example Order system
       */
      name?: string
      /** The types of events that it receives. */
      events?: components['schemas']['WebhookEventType'][]
      /** The mode of the jobs whose events it receives. Null for both. */
      mode?: ('live' | 'test') | null
      /**
       * Whether it receives events.
       * @enum {string}
       */
      status?: 'enabled' | 'disabled'
    }
    /** Which event to send. */
    TestEventRequest: {
      /**
       * The type of the event.
       * @default job.completed
       * @enum {string}
       */
      type: 'job.completed' | 'job.failed' | 'job.refunded' | 'job.cancelled'
    }
    /** The body of a delivery to a webhook URL. `data` is the job at the time of the attempt. */
    WebhookBody: {
      /** What happened to the job. `job.refunded`: the client cancelled it. `job.cancelled`: the service withdrew it. New types may be added: respond with 2xx to a type that you do not know. */
      type: components['schemas']['WebhookEventType']
      /**
       * When the job ended (ISO 8601, UTC).
       */
      timestamp: string
      /** A job in lists and webhooks, without the webhook fields. */
      data: components['schemas']['ListedJob']
    }
    /**
     * What happened to the job. `job.refunded`: the client cancelled it. `job.cancelled`: the service withdrew it. New types may be added: respond with 2xx to a type that you do not know.
     * @enum {string}
     */
    WebhookEventType: 'job.completed' | 'job.failed' | 'job.refunded' | 'job.cancelled'
    /** A job in lists and webhooks, without the webhook fields. */
    ListedJob: {
      /**
       * The id of the job.
       * @example job_01m7w4n5twfh782ygbjfb2yp7a
       */
      job_id: string
      /** The state of a job. `pending` and `processing` jobs have not ended. `completed`: the picture is ready. `failed`: `error_code` has the reason. `refunded`: the client cancelled the job. `cancelled`: the service withdrew the job. Only completed jobs cost a credit. */
      status: components['schemas']['JobStatus']
      /**
       * The id of the workspace that the job belongs to.
       * @example ws_01m45j10cfeqs81jeh7e74f9g5
       */
      workspace_id: string
      /** The mode of the API key that submitted the job. `live` generates an image and costs a credit. `test` returns a placeholder and costs nothing. */
      mode: components['schemas']['Mode']
      /** The signed URL of the picture, valid for 1 hour. Null unless the job is completed, and once the picture is deleted. It needs no API key and returns the picture or an error: 403 `url_expired` after 1 hour, 403 `invalid_signature` if the URL was changed, 404 `not_found` once the picture is deleted. Each read of the job returns a new URL. */
      output_url: string | null
      /** Null until the job completes, then 1 in live mode and 0 in test mode. */
      credits_consumed: number | null
      /** Why the job failed. Null unless the status is `failed`. */
      error_code: components['schemas']['JobErrorCode'] | null
      /**
       * When the job was accepted (ISO 8601, UTC).
       */
      created_at: string
      /** When the job completed (ISO 8601, UTC). Null for every other status, also for a failed job. The `timestamp` of a webhook has the end of every job. */
      completed_at: string | null
      /** The milliseconds from the start of processing to its end. Null unless the job is completed or failed. */
      duration_ms: number | null
    }
    /**
     * The mode of the API key that submitted the job. `live` generates an image and costs a credit. `test` returns a placeholder and costs nothing.
     * @enum {string}
     */
    Mode: 'live' | 'test'
    /**
     * Why a job failed. New codes may be added: treat an unknown code as a failure without a known reason.
     * @enum {string}
     */
    JobErrorCode:
      | 'model_image_unreachable'
      | 'garment_image_unreachable'
      | 'model_image_too_large'
      | 'garment_image_too_large'
      | 'model_image_unsupported_format'
      | 'garment_image_unsupported_format'
      | 'model_image_corrupt'
      | 'garment_image_corrupt'
      | 'generation_rejected'
      | 'person_not_found'
      | 'garment_not_found'
      | 'generation_failed'
      | 'generation_timeout'
      | 'engine_unavailable'
      | 'internal_error'
    /** A try-on job with its result and the state of its webhook. */
    Job: {
      /**
       * The id of the job.
       * @example job_01m7w4n5twfh782ygbjfb2yp7a
       */
      job_id: string
      /** The state of a job. `pending` and `processing` jobs have not ended. `completed`: the picture is ready. `failed`: `error_code` has the reason. `refunded`: the client cancelled the job. `cancelled`: the service withdrew the job. Only completed jobs cost a credit. */
      status: components['schemas']['JobStatus']
      /**
       * The id of the workspace that the job belongs to.
       * @example ws_01m45j10cfeqs81jeh7e74f9g5
       */
      workspace_id: string
      /** The mode of the API key that submitted the job. `live` generates an image and costs a credit. `test` returns a placeholder and costs nothing. */
      mode: components['schemas']['Mode']
      /** The signed URL of the picture, valid for 1 hour. Null unless the job is completed, and once the picture is deleted. It needs no API key and returns the picture or an error: 403 `url_expired` after 1 hour, 403 `invalid_signature` if the URL was changed, 404 `not_found` once the picture is deleted. Each read of the job returns a new URL. */
      output_url: string | null
      /** Null until the job completes, then 1 in live mode and 0 in test mode. */
      credits_consumed: number | null
      /** Why the job failed. Null unless the status is `failed`. */
      error_code: components['schemas']['JobErrorCode'] | null
      /**
       * When the job was accepted (ISO 8601, UTC).
       */
      created_at: string
      /** When the job completed (ISO 8601, UTC). Null for every other status, also for a failed job. The `timestamp` of a webhook has the end of every job. */
      completed_at: string | null
      /** The milliseconds from the start of processing to its end. Null unless the job is completed or failed. */
      duration_ms: number | null
      /**
       * Where the result is delivered: the URL of the submission, otherwise the default URL of the organisation at that time. Null if there was none, and once the pictures of the job are deleted.
       * @example https://shop.example/webhooks/try-on
       */
      webhook_url: string | null
      /** The state of the delivery. Null if the job has no webhook URL, or if its event is no longer stored. */
      webhook_status: components['schemas']['WebhookStatus'] | null
    }
    /**
     * The state of the delivery. `pending`: no attempt has been made. `retrying`: an attempt failed and another will follow. `delivered`: the receiver responded with 2xx. `failed`: no further attempt will be made.
     * @enum {string}
     */
    WebhookStatus: 'pending' | 'retrying' | 'delivered' | 'failed'
    /** An accepted job. */
    Submitted: {
      /**
       * The id of the job.
       * @example job_01m7w4n5twfh782ygbjfb2yp7a
       */
      job_id: string
      /**
       * The status at submission, always `pending`. A replay with an Idempotency-Key repeats the original response, also when the job has ended since. Read the job for its current status.
       * @constant
       */
      status: 'pending'
      /**
       * When the job was accepted (ISO 8601, UTC).
       */
      created_at: string
      /** The mode of the API key that submitted the job. `live` generates an image and costs a credit. `test` returns a placeholder and costs nothing. */
      mode: components['schemas']['Mode']
    }
    /** The body of every response with an error status. */
    Error: {
      /** What went wrong. */
      error: components['schemas']['ErrorDetails']
    }
    /** What went wrong. */
    ErrorDetails: {
      /** The reason of an error, stable and meant for programs. New codes may be added: handle an unknown code by the HTTP status. See [Errors](https://try-on.example/docs/errors). */
      code: components['schemas']['ErrorCode']
      /**
       * The reason in English, for developers. The text may change.
       * @example There is no job with this id.
       */
      message: string
    }
    /**
     * The reason of an error, stable and meant for programs. New codes may be added: handle an unknown code by the HTTP status. See [Errors](https://try-on.example/docs/errors).
     * @enum {string}
     */
    ErrorCode:
      | 'invalid_api_key'
      | 'api_key_revoked'
      | 'insufficient_credits'
      | 'account_suspended'
      | 'forbidden'
      | 'not_found'
      | 'workspace_not_found'
      | 'job_not_found'
      | 'method_not_allowed'
      | 'job_not_cancellable'
      | 'job_not_finished'
      | 'delivery_in_progress'
      | 'payload_too_large'
      | 'validation_error'
      | 'idempotency_key_reused'
      | 'rate_limit_exceeded'
      | 'internal_error'
    /** A page of jobs. */
    JobList: {
      /** The jobs, newest first. */
      jobs: components['schemas']['ListedJob'][]
      /** The `cursor` of the next page. Null on the last page. */
      next_cursor: string | null
      /** Whether another page follows. */
      has_more: boolean
    }
    /** A cancelled job. */
    Cancelled: {
      /**
       * The id of the job.
       * @example job_01m7w4n5twfh782ygbjfb2yp7a
       */
      job_id: string
      /**
       * The new status of the job.
       * @constant
       */
      status: 'refunded'
      /** The credits that were returned: 1 in live mode, 0 in test mode. */
      refunded_credits: number
    }
    /** An uploaded image. */
    Upload: {
      /**
       * The URL of the image. Use it unchanged as `model_image_url` or `garment_image_url`. It is a secret: it gives access to the image.
       * @example https://try-on.example/uploads/upl_01m7w4c0f0efc83dqgkgq5ejq0/org_01m45hymcpf8rrpq3qwbcgyjv1.jpg?expires=1795253100&signature=hE7MCBZOLqsnY0qa3uGvplmeWJVw5xl4TggM50f8DkU
       */
      url: string
      /**
       * Until when jobs can be submitted with the URL (ISO 8601, UTC).
       */
      expires_at: string
    }
    /** The jobs and credits of a range of days. */
    Usage: {
      /** The mode of the jobs, which is that of the API key. */
      mode: components['schemas']['Mode']
      /**
       * The first day of the range.
       */
      from: string
      /**
       * The last day of the range.
       */
      to: string
      /** Every day, oldest first. */
      days: components['schemas']['UsageDay'][]
      /** The sum of all days. */
      total: components['schemas']['UsageTotal']
      /** Only with `group_by=api_key`: the API keys with jobs in the range, in the order of their ids. Their jobs add up to those of `days`. */
      api_keys?: components['schemas']['UsageByKey'][]
      /** False while the latest days have more than 50,000 jobs that are not counted yet. Their counts then lack the oldest jobs until the day after. */
      is_complete: boolean
    }
    /** The jobs that were submitted on one day, by their present outcome. */
    UsageDay: {
      /**
       * The day, in UTC.
       */
      date: string
      /** The jobs that completed. */
      completed: number
      /** The jobs that failed. */
      failed: number
      /** The jobs that were cancelled or refunded, and of today also the unfinished ones. */
      other: number
      /** The credits that the completed jobs cost. */
      credits_consumed: number
    }
    /** The sum of all days. */
    UsageTotal: {
      /** The jobs that completed. */
      completed: number
      /** The jobs that failed. */
      failed: number
      /** The jobs that were cancelled or refunded, and of today also the unfinished ones. */
      other: number
      /** The credits that the completed jobs cost. */
      credits_consumed: number
    }
    /** The jobs and credits of one API key. */
    UsageByKey: {
      /** The API key that submitted the jobs. `console` for the playground and test events of the console. Null for jobs whose key is not known: those of days that were counted before usage was stored by key. */
      api_key_id: string | null
      /** The present name of the key, also of a revoked one. Null without a key, and for keys that are no longer stored. */
      name: string | null
      /** The days with jobs of the key, oldest first. */
      days: components['schemas']['UsageDay'][]
      /** The sum of all days. */
      total: components['schemas']['UsageTotal']
    }
    /** The webhook endpoints. */
    WebhookEndpointList: {
      /** The endpoints, oldest first. */
      webhook_endpoints: components['schemas']['WebhookEndpoint'][]
    }
    /** An endpoint that receives events. */
    WebhookEndpoint: {
      /**
       * The id of the endpoint.
       * @example we_01m7w3zsg8fbx9c0m2q4r6t8v1
       */
      id: string
      /** The name that the console shows. */
      name: string
      /** The URL that receives the events. */
      url: string
      /** The types of events that it receives. */
      events: components['schemas']['WebhookEventType'][]
      /** The mode of the jobs whose events it receives. Null for both. */
      mode: ('live' | 'test') | null
      /**
       * Whether it receives events. The service disables an endpoint whose deliveries have failed for 5 days.
       * @enum {string}
       */
      status: 'enabled' | 'disabled'
      /** When deliveries began to fail (ISO 8601, UTC). Null if the latest delivery succeeded. */
      failing_since: string | null
      /**
       * When the endpoint was created (ISO 8601, UTC).
       */
      created_at: string
    }
    /** A new endpoint with its signing secret. */
    CreatedWebhookEndpoint: {
      /**
       * The id of the endpoint.
       * @example we_01m7w3zsg8fbx9c0m2q4r6t8v1
       */
      id: string
      /** The name that the console shows. */
      name: string
      /** The URL that receives the events. */
      url: string
      /** The types of events that it receives. */
      events: components['schemas']['WebhookEventType'][]
      /** The mode of the jobs whose events it receives. Null for both. */
      mode: ('live' | 'test') | null
      /**
       * Whether it receives events. The service disables an endpoint whose deliveries have failed for 5 days.
       * @enum {string}
       */
      status: 'enabled' | 'disabled'
      /** When deliveries began to fail (ISO 8601, UTC). Null if the latest delivery succeeded. */
      failing_since: string | null
      /**
       * When the endpoint was created (ISO 8601, UTC).
       */
      created_at: string
      /**
       * The secret that signs deliveries to this endpoint. Store it: no other response contains it.
       * @example whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD
       */
      secret: string
    }
    /** A new signing secret. */
    WebhookSecret: {
      /**
       * The secret that signs deliveries to this endpoint. Store it: no other response contains it.
       * @example whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD
       */
      secret: string
    }
    /** The test job whose event is sent. */
    TestEvent: {
      /**
       * The id of the job.
       * @example job_01m7w4n5twfh782ygbjfb2yp7a
       */
      job_id: string
      /** What happened to the job. `job.refunded`: the client cancelled it. `job.cancelled`: the service withdrew it. New types may be added: respond with 2xx to a type that you do not know. */
      type: components['schemas']['WebhookEventType']
    }
    /** A page of deliveries. */
    WebhookDeliveryList: {
      /** The deliveries, newest first. */
      webhook_deliveries: components['schemas']['WebhookDelivery'][]
      /** The `cursor` of the next page. Null on the last page. */
      next_cursor: string | null
      /** Whether another page follows. */
      has_more: boolean
    }
    /** The delivery of an event to one receiver. */
    WebhookDelivery: {
      /**
       * The id of the event, which each attempt sends as `webhook-id`.
       * @example evt_01m7w4n5twfh782ygbjfb2yp7a
       */
      event_id: string
      /** What happened to the job. `job.refunded`: the client cancelled it. `job.cancelled`: the service withdrew it. New types may be added: respond with 2xx to a type that you do not know. */
      type: components['schemas']['WebhookEventType']
      /** The state of the delivery. `pending`: no attempt has been made. `retrying`: an attempt failed and another will follow. `delivered`: the receiver responded with 2xx. `failed`: no further attempt will be made. */
      status: components['schemas']['WebhookStatus']
      /**
       * The id of the job.
       * @example job_01m7w4n5twfh782ygbjfb2yp7a
       */
      job_id: string
      /** The webhook endpoint that receives it. Null for the default URL and the URL of a job. */
      endpoint_id: string | null
      /** The URL that receives it. */
      url: string
      /** The number of attempts so far. */
      attempt_count: number
      /** The HTTP status of the latest attempt. Null if there was no response. */
      response_status: number | null
      /** Why the latest attempt had no response. Null if it had one. */
      error: string | null
      /** When the next attempt is due (ISO 8601, UTC). Null once it is delivered or has failed. */
      next_attempt_at: string | null
      /**
       * When the job ended (ISO 8601, UTC).
       */
      created_at: string
    }
    /** A delivery with its attempts. */
    WebhookDeliveryWithAttempts: {
      /**
       * The id of the event, which each attempt sends as `webhook-id`.
       * @example evt_01m7w4n5twfh782ygbjfb2yp7a
       */
      event_id: string
      /** What happened to the job. `job.refunded`: the client cancelled it. `job.cancelled`: the service withdrew it. New types may be added: respond with 2xx to a type that you do not know. */
      type: components['schemas']['WebhookEventType']
      /** The state of the delivery. `pending`: no attempt has been made. `retrying`: an attempt failed and another will follow. `delivered`: the receiver responded with 2xx. `failed`: no further attempt will be made. */
      status: components['schemas']['WebhookStatus']
      /**
       * The id of the job.
       * @example job_01m7w4n5twfh782ygbjfb2yp7a
       */
      job_id: string
      /** The webhook endpoint that receives it. Null for the default URL and the URL of a job. */
      endpoint_id: string | null
      /** The URL that receives it. */
      url: string
      /** The number of attempts so far. */
      attempt_count: number
      /** The HTTP status of the latest attempt. Null if there was no response. */
      response_status: number | null
      /** Why the latest attempt had no response. Null if it had one. */
      error: string | null
      /** When the next attempt is due (ISO 8601, UTC). Null once it is delivered or has failed. */
      next_attempt_at: string | null
      /**
       * When the job ended (ISO 8601, UTC).
       */
      created_at: string
      /** The latest attempts, at most 10, the latest first. */
      attempts: components['schemas']['WebhookAttempt'][]
    }
    /** An attempt at a delivery. */
    WebhookAttempt: {
      /** The number of the attempt, from 1. */
      number: number
      /**
       * When it started (ISO 8601, UTC).
       */
      attempted_at: string
      /** How long it took, in milliseconds. */
      duration_ms: number
      /** The HTTP status of the response. Null if there was none. */
      response_status: number | null
      /** The first 1,024 bytes of the response, of earlier attempts the first 128. Null if there was none. */
      response_body: string | null
      /** Why there was no response. Null if there was one. */
      error: string | null
    }
    /** The active workspaces of the organisation. */
    WorkspaceList: {
      /** The workspaces, oldest first. */
      workspaces: components['schemas']['Workspace'][]
    }
    /** A workspace groups the jobs of an organisation. */
    Workspace: {
      /**
       * The id of the workspace, the `workspace_id` of submissions.
       * @example ws_01m45j10cfeqs81jeh7e74f9g5
       */
      id: string
      /**
       * The display name.
       * @example Default
       */
      name: string
      /** The state of a workspace. An archived workspace accepts no jobs. */
      status: components['schemas']['WorkspaceStatus']
      /**
       * When the workspace was created (ISO 8601, UTC).
       */
      created_at: string
    }
    /**
     * The state of a workspace. An archived workspace accepts no jobs.
     * @enum {string}
     */
    WorkspaceStatus: 'active' | 'archived'
    /** The organisation that the API key belongs to. */
    Account: {
      /**
       * The id of the organisation.
       * @example org_01m45hymcpf8rrpq3qwbcgyjv1
       */
      org_id: string
      /**
       * The name of the organisation.
       * @example Acme Fashion
       */
      name: string
      /** The plan, which sets the rate limit and the price of credits. */
      plan: components['schemas']['Plan']
      /** The billing region, chosen at sign-up. It never changes. */
      region_code: components['schemas']['Region']
      /** The currency of payments (ISO 4217). It follows from the billing region. */
      currency_code: components['schemas']['Currency']
      /** The current credit balance, without the credits that unfinished jobs have reserved. It can be negative after a refund of a payment. */
      credits: number
      /** Whether credits are bought automatically when the balance is low. */
      auto_reload_enabled: boolean
    }
    /**
     * The plan, which sets the rate limit and the price of credits.
     * @enum {string}
     */
    Plan: 'starter' | 'growth' | 'scale' | 'enterprise'
    /**
     * The billing region, chosen at sign-up. It never changes.
     * @enum {string}
     */
    Region: 'IN' | 'US' | 'EU' | 'GLOBAL'
    /**
     * The currency of payments (ISO 4217). It follows from the billing region.
     * @enum {string}
     */
    Currency: 'INR' | 'USD' | 'EUR'
  }
  responses: never
  parameters: never
  requestBodies: never
  headers: never
  pathItems: never
}
export type $defs = Record<string, never>
export type operations = Record<string, never>
