// A bar chart of counts per day as SVG, with the same numbers as a table for screen readers.
const WIDTH = 600
const HEIGHT = 140
const GAP = 4

/** One part of each bar. */
export interface Series {
  label: string
  colour: 'good' | 'bad' | 'off'
  /** One count per day. */
  counts: number[]
}

/**
 * @param caption of the table
 * @param days one label per bar, oldest first
 * @param series the parts of a bar, from the bottom
 */
export const Chart = ({
  caption,
  days,
  series,
}: {
  caption: string
  days: string[]
  series: Series[]
}) => {
  const at = (index: number) => series.map(({ counts }) => counts[index] ?? 0)
  const totals = days.map((_, index) => at(index).reduce((sum, count) => sum + count, 0))
  const max = Math.max(1, ...totals)
  const step = WIDTH / days.length
  const scale = (count: number) => (count / max) * HEIGHT
  return (
    <figure class="chart">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {days.map((day, index) => {
          const x = index * step + GAP / 2
          const width = step - GAP
          let top = HEIGHT
          return (
            <g>
              <title>{`${day}: ${series
                .map(({ label, counts }) => `${counts[index] ?? 0} ${label.toLowerCase()}`)
                .join(', ')}`}</title>
              <rect class="track" x={x} y={0} width={width} height={HEIGHT} />
              {series.map(({ colour, counts }) => {
                const height = scale(counts[index] ?? 0)
                top -= height
                return <rect class={colour} x={x} y={top} width={width} height={height} />
              })}
            </g>
          )
        })}
      </svg>
      <figcaption>
        <span>{days[0]}</span>
        <span class="legend">
          {series.map(({ label, colour }) => (
            <>
              <i class={colour}></i> {label}{' '}
            </>
          ))}
          · Maximum per day: {Math.max(0, ...totals)}
        </span>
        <span>{days.at(-1)}</span>
      </figcaption>
      <div class="visually-hidden">
        <table>
          <caption>{caption}</caption>
          <thead>
            <tr>
              <th scope="col">Day</th>
              {series.map(({ label }) => (
                <th scope="col">{label}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {days.map(
              (day, index) =>
                (totals[index] ?? 0) > 0 && (
                  <tr>
                    <th scope="row">{day}</th>
                    {at(index).map((count) => (
                      <td>{count}</td>
                    ))}
                  </tr>
                ),
            )}
          </tbody>
        </table>
      </div>
    </figure>
  )
}
