// The switch between live and test mode, and what shows the mode on the pages.
import { MODES, type Mode } from '../../domain/job.ts'
import { formatCount } from './text.tsx'
import { PostForm } from './form.tsx'

const LABELS: Record<Mode, string> = { live: 'Live', test: 'Test' }

interface SwitchProps {
  action: string
  label: string
  name: string
  labels: (readonly [value: string, label: string])[]
  chosen: string
}

/** Buttons of which one is chosen. Each submits its value as `name`. */
export const Switch = ({ action, label, name, labels, chosen }: SwitchProps) => (
  <PostForm action={action} class="mode-switch">
    <div role="group" class="segments" aria-label={label}>
      {labels.map(([value, text]) => (
        <button
          type="submit"
          name={name}
          value={value}
          aria-pressed={value === chosen ? 'true' : 'false'}
        >
          {text}
        </button>
      ))}
    </div>
  </PostForm>
)

/** Selects the mode of the data on all pages. The page stays the same. */
export const ModeSwitch = ({ mode }: { mode: Mode }) => (
  <Switch
    action="/console/mode"
    label="Data mode"
    name="mode"
    labels={MODES.map((value) => [value, LABELS[value]])}
    chosen={mode}
  />
)

/** Shown on every page in test mode. */
export const TestBand = ({ mode }: { mode: Mode }) =>
  mode === 'test' ? (
    <aside class="test-band" aria-label="Test mode">
      <strong>Test data</strong> <span>Test jobs are free and return placeholder images.</span>
    </aside>
  ) : null

interface OtherModeProps {
  mode: Mode
  /** How many there are in the other mode. Nothing is shown for 0. */
  count: number
  /** In the singular, such as `job`. */
  noun: string
}

/** For an empty page: the data of the other mode, with a button that shows it. */
export const OtherMode = ({ mode, count, noun }: OtherModeProps) => {
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
