// The switch between live and test mode, and what shows the mode on the pages.
import { MODES } from '../../domain/job.ts'
import type { Mode } from '../../domain/job.ts'
import { PostForm } from './form.tsx'

const LABELS: Record<Mode, string> = { live: 'Live', test: 'Test' }

/** Selects the mode of the data on all pages. The page stays the same. */
export const ModeSwitch = ({ mode }: { mode: Mode }) => (
  <PostForm action="/console/mode" class="mode-switch">
    <div role="group" aria-label="Data mode">
      {MODES.map((value) => (
        <button
          type="submit"
          name="mode"
          value={value}
          aria-pressed={value === mode ? 'true' : 'false'}
        >
          {LABELS[value]}
        </button>
      ))}
    </div>
  </PostForm>
)

/** Shown on every page in test mode. */
export const TestBand = ({ mode }: { mode: Mode }) =>
  mode === 'test' ? (
    <aside class="test-band" aria-label="Test mode">
      <strong>Test data</strong> <span>Test jobs are free and return placeholder images.</span>
    </aside>
  ) : null

/** For an empty page: the data of the other mode, with a button that shows it. */
export const OtherMode = ({
  mode,
  count,
  noun,
}: {
  mode: Mode
  /** How many there are in the other mode. Nothing is shown for 0. */
  count: number
  /** In the singular, such as `job`. */
  noun: string
}) => {
  const other = mode === 'live' ? 'test' : 'live'
  if (count === 0) return null
  return (
    <PostForm action="/console/mode" class="other-mode">
      <span>
        {count.toLocaleString('en')} {other} {count === 1 ? noun : `${noun}s`}
      </span>
      <button type="submit" class="secondary" name="mode" value={other}>
        Switch to {other}
      </button>
    </PostForm>
  )
}
