// Instants and durations.

const TIME = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const
const DAY = { day: 'numeric', month: 'short' } as const
const YEAR = { year: 'numeric' } as const
const FORMATS = {
  minute: { ...DAY, ...YEAR, ...TIME },
  second: { ...DAY, ...YEAR, ...TIME, second: '2-digit' },
  day: { ...DAY, ...YEAR },
  /** For lists: console.js shows how long ago it was. */
  ago: { ...DAY, ...TIME },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>
type Format = keyof typeof FORMATS

const formatted = (date: Date, format: Format) =>
  new Intl.DateTimeFormat('en-GB', { ...FORMATS[format], timeZone: 'UTC' }).format(date)

/** An instant in UTC. console.js converts it to the browser's time zone. */
export const Timestamp = ({
  at,
  as = 'minute',
}: {
  at: Date | number | null | undefined
  as?: Format
}) => {
  if (at === null || at === undefined) return <span class="muted">Never</span>
  const date = new Date(at)
  return (
    <time datetime={date.toISOString()} data-as={as}>
      {formatted(date, as)}
      {as !== 'day' && ' UTC'}
    </time>
  )
}

/** `1.2 s` or `340 ms`. */
export const formatDuration = (ms: number | null): string =>
  ms === null ? '–' : ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`
