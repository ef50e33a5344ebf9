// Metrics: one data point per event in the Analytics Engine dataset `try_on_metrics`. docs/metrics.md
// lists the columns and queries. The binding is optional; without it, nothing is recorded.

/**
 * The labels of each metric in the order of their columns, from blob2 on. blob1 is the metric's name.
 * Each label has few values: never an id, a URL or text of a client.
 */
const LABELS = {
  /** A request; the value is its duration in ms. */
  request: ['route', 'statusClass', 'mode'],
  /** The end of a job; the value is its duration in ms. */
  job: ['mode', 'status', 'errorCode', 'engine'],
  /** A start or a poll of an engine; the value is its duration in ms. */
  engine: ['engine', 'outcome', 'call'],
  /** An attempt at delivering an event; the value is its duration in ms. */
  webhook: ['outcome'],
  /** The first delivery of a queue message; the value is its age in ms beyond its delay. */
  queue_age: ['queue'],
  /** The end of a queue message's handling; the value is its duration in ms. */
  message: ['queue', 'outcome'],
  /** The rows that a run of the sweep requeued; the value is their number. */
  sweep: ['kind'],
  /** A task of cron; the value is its duration in ms. */
  task: ['task', 'outcome'],
  /** An email; the value is 1. */
  mail: ['outcome'],
  /** A circuit breaker has opened; the value is 1. */
  breaker_opened: ['engine'],
} as const

export type Metric = keyof typeof LABELS
type Labels<M extends Metric> = Record<(typeof LABELS)[M][number], string | null | undefined>

/** The names of all metrics. */
export const METRICS = Object.keys(LABELS) as Metric[]

/** The names of a metric's labels, in the order of their columns. */
export const labelsOf = (metric: Metric): readonly string[] => LABELS[metric]

/**
 * Records a data point. Does not wait and never throws: a lost point is no reason to fail a request.
 * @param organisationId the index, by which Analytics Engine samples; omitted if no organisation is
 *   authenticated, so that clients cannot invent indexes
 */
export function record<M extends Metric>(
  { METRICS }: { METRICS?: AnalyticsEngineDataset },
  metric: M,
  labels: Labels<M>,
  value = 1,
  organisationId?: string,
): void {
  try {
    METRICS?.writeDataPoint({
      indexes: [organisationId ?? ''],
      blobs: [metric, ...LABELS[metric].map((name: keyof Labels<M>) => labels[name] ?? '')],
      doubles: [value],
    })
  } catch {
    // Without a log line: each request would write one.
  }
}
