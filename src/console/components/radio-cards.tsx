// Choices of one option, each with a note.
import type { Child } from 'hono/jsx'
import type { Mode } from '../../domain/job.ts'
import { FieldError, useFormState } from './form.tsx'

interface RadioCardsProps {
  name: string
  legend: string
  options: readonly { value: string; label: string; note: Child }[]
  /** What is checked until the user has chosen. */
  value?: string | undefined
  /** Shows the options side by side. */
  inline?: boolean
}

/** Options with a note each, of which one is chosen. */
export const RadioCards = ({ name, legend, options, value, inline }: RadioCardsProps) => {
  const state = useFormState()
  const error = state.errors?.[name]
  const entered = options.find((option) => option.value === state.values?.[name])
  const checked = entered?.value ?? value
  const errorId = `${name}-error`
  return (
    <fieldset
      class={inline ? 'choices inline' : 'choices'}
      aria-describedby={error ? errorId : undefined}
    >
      <legend>{legend}</legend>
      {options.map((option) => (
        <label>
          <input
            type="radio"
            name={name}
            value={option.value}
            checked={option.value === checked}
            required
            aria-invalid={error ? 'true' : undefined}
          />
          <span>{option.label}</span> {option.note}
        </label>
      ))}
      <FieldError id={errorId} text={error} />
    </fieldset>
  )
}

/** The choice between test and live mode. @param mode the default, usually the mode of the console */
export const ModeField = ({ hints, mode }: { hints: Record<Mode, string>; mode?: Mode }) => (
  <RadioCards
    name="mode"
    legend="Mode"
    options={[
      { value: 'test', label: 'Test', note: <small>{hints.test}</small> },
      { value: 'live', label: 'Live', note: <small>{hints.live}</small> },
    ]}
    value={mode ?? 'test'}
    inline
  />
)
