// The switch between live and test mode, and what shows the mode on the pages.
import type { Mode } from '../../domain/job.ts'
import { capitalised, formatCount } from './text.tsx'
import { PostForm } from './form.tsx'

interface SwitchProps {
  /** What is chosen, and the last part of the address that the form is sent to. */
  name: 'mode' | 'theme'
  label: string
  values: readonly string[]
  chosen: string
}

/** Buttons of which one is chosen: the mode of the data, or the theme. The page stays the same. */
export const Switch = ({ name, label, values, chosen }: SwitchProps) => (
  <PostForm action={`/console/${name}`} class="mode-switch">
    <div role="group" class="segments" aria-label={label}>
      {values.map((value) => (
        <button
          type="submit"
          name={name}
          value={value}
          aria-pressed={value === chosen ? 'true' : 'false'}
        >
          {capitalised(value)}
        </button>
      ))}
    </div>
  </PostForm>
)

/** Shown on every page in test mode. */
export const TestBand = () => (
  <aside class="test-band" aria-label="Test mode">
    <strong>Test data</strong> <span>Test jobs are free and return placeholder images.</span>
  </aside>
)

/**
 * For an empty page: the data of the other mode, with a button that shows it; nothing without data.
 * @param noun in the singular, such as `job`
 */
export const OtherMode = ({ mode, count, noun }: { mode: Mode; count: number; noun: string }) => {
  const other = mode === 'live' ? 'test' : 'live'
  if (count === 0) return null
  return (
    <PostForm action="/console/mode" class="bar other-mode">
      <span>
        {formatCount(count)} {other} {count === 1 ? noun : `${noun}s`}
      </span>
      <button type="submit" class="secondary" name="mode" value={other}>
        Switch to {other}
      </button>
    </PostForm>
  )
}
