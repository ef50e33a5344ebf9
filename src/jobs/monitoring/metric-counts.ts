// Reads counts from the metrics of this Worker (platform/metrics), all in one query to Analytics Engine.
import { z } from 'zod'
import { labelsOf, type Metric } from '../../platform/metrics.ts'
import { alertSettingsOf } from './alert-settings.ts'

const API = 'https://api.cloudflare.com/client/v4/accounts'
const TIMEOUT_MS = 10_000

/** The SQL condition of the points of a metric. A label is compared as written: `statusClass: "= '5xx'"`. */
export const points = (metric: Metric, labels: Record<string, string> = {}): string =>
  [
    `blob1 = '${metric}'`,
    ...Object.entries(labels).map(([label, comparison]) => {
      const at = labelsOf(metric).indexOf(label)
      if (at < 0) throw new Error(`${metric} has no label ${label}`)
      return `blob${at + 2} ${comparison}`
    }),
  ].join(' AND ')

/** The SQL of the number of points of the last minutes, at most 360, or of the sum of their values. */
export const sum = (minutes: number, condition: string, value = '1'): string =>
  `SUM(IF(${condition} AND timestamp > NOW() - INTERVAL '${minutes}' MINUTE, ${value} * _sample_interval, 0))`

const Result = z.object({ data: z.array(z.record(z.string(), z.coerce.number())) })

/**
 * Runs the sums.
 * @returns a number for each name; without any point, possibly none. Undefined without ANALYTICS_TOKEN
 * @throws Error when Analytics Engine cannot be queried
 */
export async function readMetricCounts(env: Env, sums: Record<string, string>) {
  const { ANALYTICS_ACCOUNT_ID, ANALYTICS_DATASET, ANALYTICS_TOKEN } = alertSettingsOf(env)
  if (!ANALYTICS_TOKEN) return undefined
  const columns = Object.entries(sums).map(([name, expression]) => `${expression} AS ${name}`)
  const response = await fetch(`${API}/${ANALYTICS_ACCOUNT_ID}/analytics_engine/sql`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${ANALYTICS_TOKEN}` },
    body: `SELECT ${columns.join(',\n')}\nFROM ${ANALYTICS_DATASET} WHERE timestamp > NOW() - INTERVAL '6' HOUR FORMAT JSON`,
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  if (!response.ok) {
    await response.body?.cancel()
    throw new Error(`Analytics Engine responded with ${response.status}`)
  }
  return Result.parse(await response.json()).data[0] ?? {}
}
