// Instants and durations.

const dateFormat = (timeStyle: 'short' | 'medium') =>
  new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle, timeZone: 'UTC' })
const TO_THE_MINUTE = dateFormat('short')
const TO_THE_SECOND = dateFormat('medium')

/**
 * An instant in UTC. console.js converts it to the browser's time zone.
 * @param precise shows seconds
 */
export const Timestamp = ({
  at,
  precise = false,
}: {
  at: Date | number | null | undefined
  precise?: boolean
}) => {
  if (at === null || at === undefined) return <span class="muted">Never</span>
  const date = new Date(at)
  return (
    <time datetime={date.toISOString()} data-precise={precise || undefined}>
      {(precise ? TO_THE_SECOND : TO_THE_MINUTE).format(date)} UTC
    </time>
  )
}

/** `1.2 s` or `340 ms`. */
export const formatDuration = (ms: number | null): string =>
  ms === null ? '–' : ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`
