// Types and statuses of webhook events.

export const EVENT_TYPES = ['job.completed', 'job.failed', 'job.refunded', 'job.cancelled'] as const
export const EVENT_STATUSES = ['pending', 'retrying', 'delivered', 'failed'] as const
