// Moves the clock past the grace period of a deletion.
import { createScheduledController } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { vi } from 'vitest'
import worker from '../../src/index.ts'

export const DAY_MS = 24 * 60 * 60_000
export const GRACE_MS = 7 * DAY_MS
/** The grace period, and the minute after which deletion begins. */
export const PAST_GRACE_MS = GRACE_MS + 2 * 60_000

export const passTime = (ms: number) => {
  const now = Date.now() + ms
  vi.useFakeTimers({ toFake: ['Date'] })
  vi.setSystemTime(now)
}

/** Runs the Worker's scheduled handler. */
export const runCron = () =>
  worker.scheduled(
    createScheduledController({ cron: '* * * * *', scheduledTime: new Date(Date.now()) }),
    env,
  )
