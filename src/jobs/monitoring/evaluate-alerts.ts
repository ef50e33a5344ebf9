// Evaluates the alerts and sends their messages: one when an alert begins, one when it ends. Cron runs it each
// minute. A message that was not accepted is sent again by the next run, by the same channel only.
import { withTimeout } from '../../platform/concurrency/with-timeout.ts'
import type { AlertEntry } from '../../platform/db/monitoring-schema.ts'
import { log } from '../../platform/log.ts'
import { alertChannels, type Channel } from './alert-settings.ts'
import { loadEntries, saveEntries } from './alert-state.ts'
import { ALERTS, type Alert, type Observations } from './alerts.ts'
import { CHANNELS, type AlertMessage } from './channels.ts'
import { runHealthChecks } from './health-checks.ts'
import { readMetricCounts } from './metric-counts.ts'
import { readWorkCounts } from './work-counts.ts'

const READ_TIMEOUT_MS = 15_000
const MINUTE_MS = 60_000
const SUMS = Object.assign({}, ...ALERTS.map(({ sums }) => sums)) as Record<string, string>

/**
 * Evaluates all alerts, if a channel is configured. A crash before the end sends the messages of this run again.
 * @throws when the settings are wrong or the state was not stored; failing sources and channels are logged
 */
export async function evaluateAlerts(env: Env): Promise<void> {
  const channels = alertChannels(env)
  if (channels.length === 0) return
  const [seen, before] = await Promise.all([observe(env), loadEntries(env)])
  const after = await Promise.all(
    channels.map(async (channel) => {
      const entries = await Promise.all(
        ALERTS.map(async (alert) => {
          const entry = await advance(env, channel, alert, seen, before[channel]?.[alert.name])
          return entry ? [[alert.name, entry] as const] : []
        }),
      )
      return [channel, Object.fromEntries(entries.flat())] as const
    }),
  )
  await saveEntries(env, Object.fromEntries(after))
}

async function observe(env: Env): Promise<Observations> {
  const unread: string[] = []
  const read = async <T>(source: string, reading: Promise<T>) => {
    try {
      return await withTimeout(reading, READ_TIMEOUT_MS, () => new Error('no result in time'))
    } catch (error) {
      log.error('alert source not read', error, { source })
      unread.push(source)
      return undefined
    }
  }
  const [health, work, metrics] = await Promise.all([
    runHealthChecks(env),
    read('jobs', readWorkCounts(env)),
    read('metrics', readMetricCounts(env, SUMS)),
  ])
  return { health, work, metrics, unread }
}

/** @returns the new entry of the alert; undefined when its condition does not hold and the receiver knows that */
async function advance(
  env: Env,
  channel: Channel,
  alert: Alert,
  seen: Observations,
  entry: AlertEntry | undefined,
): Promise<AlertEntry | undefined> {
  const summary = alert.problem(seen)
  if (summary === undefined) return entry
  if (!summary) {
    if (!entry?.isSent) return undefined
    const isResolved = await send(env, channel, { alert, status: 'resolved', ...entry })
    return isResolved ? undefined : entry
  }
  if (entry?.isSent) return entry
  const since = entry?.since ?? Date.now()
  // Rounded, because cron does not run at the same second of each minute.
  const hasHeld = Math.round((Date.now() - since) / MINUTE_MS) >= alert.holdMinutes
  const isSent = hasHeld && (await send(env, channel, { alert, status: 'firing', summary, since }))
  return { since, isSent, summary }
}

/** Does not throw. @returns whether the receiver has accepted the message */
async function send(env: Env, channel: Channel, message: AlertMessage): Promise<boolean> {
  const { alert, status, summary } = message
  const fields = { alert: alert.name, status, channel, summary }
  try {
    await CHANNELS[channel](env, message)
    log.warn('alert sent', fields)
    return true
  } catch (error) {
    log.error('alert not sent', error, fields)
    return false
  }
}

const TEST: AlertMessage['alert'] = {
  name: 'test',
  severity: 'warning',
  runbook: 'setting-up-alerts',
  budget: null,
}

/**
 * Sends an alert and its end through every channel. Does not throw for a failing channel.
 * @returns the channels, and whether they accepted both messages; empty if none is configured
 * @throws Error when the settings of alerts are wrong
 */
export async function sendTestAlert(env: Env): Promise<{ channel: Channel; sent: boolean }[]> {
  const test = { alert: TEST, summary: 'This is a test of the alerts.', since: Date.now() }
  return Promise.all(
    alertChannels(env).map(async (channel) => {
      const began = await send(env, channel, { ...test, status: 'firing' })
      return { channel, sent: began && (await send(env, channel, { ...test, status: 'resolved' })) }
    }),
  )
}
