// Types and statuses of webhook events.

export const EVENT_TYPES = ['job.completed', 'job.failed', 'job.refunded', 'job.cancelled'] as const
export type EventType = (typeof EVENT_TYPES)[number]

export const EVENT_STATUSES = ['pending', 'retrying', 'delivered', 'failed'] as const
export type EventStatus = (typeof EVENT_STATUSES)[number]

/** Whether no attempt will follow, unless a member sends the event again. */
export const isDeliveryFinal = (status: EventStatus): boolean =>
  status === 'delivered' || status === 'failed'

/** The maximum number of endpoints that an organisation can add to its default URL. */
export const MAX_ADDED_ENDPOINTS = 10
/** The receiver of a test event that goes to the default URL only. */
export const DEFAULT_ENDPOINT = 'default'
