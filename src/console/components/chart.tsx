// A bar chart as SVG, rendered on the server. The values of a bar are shown while it has the pointer or
// the focus; chart.js moves the focus with the arrow keys. A table below contains the same numbers.
// Widths are percentages and heights are pixels, so that the text has the same size on every screen.
import { formatCount } from './text.tsx'
import { Table } from './section.tsx'

/** Pixels. */
const TOP = 26
const PLOT_HEIGHT = 140
const BASELINE = TOP + PLOT_HEIGHT
const HEIGHT = BASELINE + 24
const AXIS_WIDTH = 44
/** The part of a period's width that its bar takes. */
const BAR_SHARE = 0.8
/** The number of labels below the bars. */
const X_LABELS = 4

/** One part of each bar. */
export interface Series {
  label: string
  colour: 'good' | 'bad' | 'off'
  /** One count per period. */
  counts: number[]
}

export interface Period {
  /** Below the bar, such as `22 Nov`. */
  short: string
  /** With the values, such as `22 Nov, 14:00–15:00 UTC`. */
  long: string
}

const inUtc = (options: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', ...options })
const DAY = inUtc({ day: 'numeric', month: 'short' })
const HOUR = inUtc({ hour: '2-digit', minute: '2-digit' })
const HOUR_MS = 60 * 60_000

/** A day (UTC) that starts at `startsAt`, ms since 1970. */
export const dayPeriod = (startsAt: number): Period => ({
  short: DAY.format(startsAt),
  long: DAY.format(startsAt),
})

/** An hour that starts at `startsAt`, ms since 1970. */
export const hourPeriod = (startsAt: number): Period => ({
  short: HOUR.format(startsAt),
  long: `${DAY.format(startsAt)}, ${HOUR.format(startsAt)}–${HOUR.format(startsAt + HOUR_MS)} UTC`,
})

interface ChartProps {
  /** What is counted. */
  caption: string
  /** The heading of the periods in the table. */
  unit: string
  /** One per bar, oldest first. */
  periods: Period[]
  /** The parts of a bar, from the bottom. */
  series: Series[]
}

/** The page loads chart.js. */
export const Chart = ({ caption, unit, periods, series }: ChartProps) => {
  const at = (index: number) => series.map(({ counts }) => counts[index] ?? 0)
  const totals = periods.map((_, index) => at(index).reduce((sum, count) => sum + count, 0))
  const scale = scaleFor(Math.max(0, ...totals))
  const textOf = (index: number) =>
    `${periods[index]?.long}: ${series
      .map(({ label, counts }) => `${formatCount(counts[index] ?? 0)} ${label.toLowerCase()}`)
      .join(', ')}`
  const step = 100 / periods.length
  /** A transparent rectangle that takes the pointer, and one rectangle for each series. */
  const barOf = (index: number) => {
    const x = percent(index * step + (step * (1 - BAR_SHARE)) / 2)
    let top = BASELINE
    const parts = series.map(({ counts, colour }) => {
      const count = counts[index] ?? 0
      if (count === 0) return null
      // A single failure stays visible beside thousands of successes.
      const height = Math.max(2, (count / scale) * PLOT_HEIGHT)
      top -= height
      const y = pixels(Math.max(TOP - 2, top))
      const size = { width: percent(step * BAR_SHARE), height: pixels(height) }
      return <rect class={colour} x={x} y={y} {...size} />
    })
    const place = { x: percent(index * step), width: percent(step) }
    return [
      <rect class="hit" fill="transparent" {...place} y={TOP} height={PLOT_HEIGHT} />,
      ...parts,
    ]
  }
  return (
    <figure class="chart">
      <figcaption>
        <h3>{caption}</h3>
        {series.length > 1 && (
          <ul class="legend">
            {series.map(({ label, colour }) => (
              <li>
                <i class={colour}></i> {label}
              </li>
            ))}
          </ul>
        )}
      </figcaption>
      <div class="plot">
        <YAxis max={scale} />
        <svg
          width="100%"
          height={HEIGHT}
          role="group"
          aria-label={`${caption}. Use the arrow keys to move between the bars.`}
        >
          {[0, 0.5, 1].map((part) => (
            <line class="grid" x1="0" x2="100%" y1={yOf(part)} y2={yOf(part)} />
          ))}
          {periods.map((_, index) => (
            <g
              class="bar"
              role="img"
              aria-label={textOf(index)}
              tabindex={index === periods.length - 1 ? 0 : -1}
            >
              {barOf(index)}
              <text class="value" x="0" y="13" aria-hidden="true">
                {textOf(index)}
              </text>
            </g>
          ))}
          <XAxis periods={periods} />
        </svg>
      </div>
      <details class="chart-table">
        <summary>Show as table</summary>
        <Table
          label={caption}
          columns={[unit, ...series.map(({ label }) => label)]}
          numeric={series.map(({ label }) => label)}
          rows={periods.map(({ long }, index) => [long, ...at(index).map(formatCount)])}
        />
      </details>
    </figure>
  )
}

const YAxis = ({ max }: { max: number }) => (
  <svg width={AXIS_WIDTH} height={HEIGHT} aria-hidden="true">
    {[0, 0.5, 1].map((part) => (
      <text x={AXIS_WIDTH - 8} y={yOf(part) + 4} text-anchor="end">
        {COMPACT.format(part * max)}
      </text>
    ))}
  </svg>
)

const XAxis = ({ periods }: { periods: Period[] }) => (
  <g aria-hidden="true">
    {Array.from({ length: X_LABELS }, (_, label) => {
      const index = Math.round((label * (periods.length - 1)) / (X_LABELS - 1))
      const isFirst = label === 0
      const isLast = label === X_LABELS - 1
      return (
        <text
          x={isFirst ? '0' : isLast ? '100%' : percent(((index + 0.5) / periods.length) * 100)}
          y={HEIGHT - 6}
          text-anchor={isFirst ? 'start' : isLast ? 'end' : 'middle'}
        >
          {periods[index]?.short}
        </text>
      )
    })}
  </g>
)

/** The top of the axis: a round number whose half is a whole number. */
function scaleFor(max: number): number {
  let unit = 1
  while (10 * unit < max) unit *= 10
  return [2, 4, 6, 8].map((factor) => factor * unit).find((top) => top >= max) ?? 10 * unit
}

const yOf = (part: number): number => BASELINE - part * PLOT_HEIGHT

const percent = (value: number): string => `${Math.round(value * 1_000) / 1_000}%`

const pixels = (value: number): number => Math.round(value * 10) / 10

const COMPACT = new Intl.NumberFormat('en', { notation: 'compact' })
