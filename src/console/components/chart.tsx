// A bar chart of the jobs per day as SVG, with the same numbers as a table for screen readers.
import type { Statistics } from '../../jobs/statistics.ts'

const WIDTH = 600
const HEIGHT = 140
const GAP = 4

export const Chart = ({ days }: { days: Statistics['days'] }) => {
  const max = Math.max(1, ...days.map((day) => day.completed + day.failed + day.other))
  const step = WIDTH / days.length
  const scale = (count: number) => (count / max) * HEIGHT
  return (
    <figure class="chart">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {days.map((day, index) => {
          const x = index * step + GAP / 2
          const width = step - GAP
          const completed = scale(day.completed)
          const failed = scale(day.failed)
          const other = scale(day.other)
          return (
            <g>
              <title>{`${day.day}: ${day.completed} completed, ${day.failed} failed, ${day.other} other`}</title>
              <rect class="track" x={x} y={0} width={width} height={HEIGHT} />
              <rect class="good" x={x} y={HEIGHT - completed} width={width} height={completed} />
              <rect
                class="bad"
                x={x}
                y={HEIGHT - completed - failed}
                width={width}
                height={failed}
              />
              <rect
                class="off"
                x={x}
                y={HEIGHT - completed - failed - other}
                width={width}
                height={other}
              />
            </g>
          )
        })}
      </svg>
      <figcaption>
        <span>{days[0]?.day}</span>
        <span class="legend">
          <i class="good"></i> Completed <i class="bad"></i> Failed <i class="off"></i> Other ·
          Maximum per day: {max}
        </span>
        <span>{days.at(-1)?.day}</span>
      </figcaption>
      <div class="visually-hidden">
        <table>
          <caption>Jobs per day</caption>
          <thead>
            <tr>
              <th scope="col">Day</th>
              <th scope="col">Completed</th>
              <th scope="col">Failed</th>
              <th scope="col">Other</th>
            </tr>
          </thead>
          <tbody>
            {days
              .filter((day) => day.completed + day.failed + day.other > 0)
              .map((day) => (
                <tr>
                  <th scope="row">{day.day}</th>
                  <td>{day.completed}</td>
                  <td>{day.failed}</td>
                  <td>{day.other}</td>
                </tr>
              ))}
          </tbody>
        </table>
      </div>
    </figure>
  )
}
