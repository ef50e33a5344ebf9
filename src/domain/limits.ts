// The product's limits, durations and defaults. docs/specification.md explains each.

export const MAX_URL_LENGTH = 2_048
export const MAX_BODY_BYTES = 64 * 1024
export const MAX_IMAGE_BYTES = 10 * 1024 * 1024
export const MAX_IMAGE_REDIRECTS = 3
export const IMAGE_TIMEOUT_MS = 10_000
export const MAX_FAILURE_REASON_BYTES = 300
export const DEFAULT_PAGE_SIZE = 20
export const MAX_PAGE_SIZE = 100
/** The retention of pictures in new organisations, days. */
export const DEFAULT_RETENTION_DAYS = 30
export const FREE_CREDITS = 100
export const OUTPUT_URL_TTL_SECONDS = 3_600
/** An upload can be used in new jobs for this time. */
export const UPLOAD_TTL_SECONDS = 24 * 60 * 60
/** An upload is stored for this time longer, for jobs that were submitted just before. */
export const UPLOAD_GRACE_MS = 60 * 60_000
export const MAX_WAIT_SECONDS = 30
export const IDEMPOTENCY_TTL_MS = 24 * 60 * 60_000
export const WEBHOOK_TIMEOUT_MS = 15_000
export const HOUR_MS = 60 * 60_000
export const DAY_MS = 24 * HOUR_MS
export const MIN_RETENTION_DAYS = 1
export const MAX_RETENTION_DAYS = 365
/** How long each kind of data is stored, days; docs/retention.md explains the table. */
export const RETENTION_DAYS = {
  inputs: 1,
  testJobs: 7,
  liveJobs: 400,
  /** Counts of jobs per day. */
  statistics: 100,
  webhooks: 30,
  /** After the expiry of a session, verification or invitation; after the creation of a sign-up. */
  expired: 7,
  failingReceivers: 60,
  auditLog: 400,
  revokedKeys: 400,
  /** Not shorter than a month, whose reservations the limits of credits count. */
  closedReservations: 31,
  ledgerEntries: 400,
  paymentEvents: 30,
  unpaidPayments: 90,
  sandboxPayments: 30,
  requestLog: 7,
} as const
