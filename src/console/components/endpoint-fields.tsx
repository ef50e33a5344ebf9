// The fields of an added webhook endpoint.
import type { EndpointRow } from '../../platform/db/webhook-schema.ts'
import { EVENT_TYPES } from '../../domain/webhook.ts'
import type { EventType } from '../../domain/webhook.ts'
import type { FormState } from '../read-form.ts'
import { Field } from './form.tsx'

const DESCRIPTIONS: Record<EventType, string> = {
  'job.completed': 'The picture is ready.',
  'job.failed': 'The job failed.',
  'job.refunded': 'You cancelled the job.',
  'job.cancelled': 'The service withdrew the job.',
}

const MODE_LABELS = { both: 'Live and test', live: 'Live only', test: 'Test only' } as const
type ModeChoice = keyof typeof MODE_LABELS
const MODE_CHOICES: ModeChoice[] = ['both', 'live', 'test']

/** @param endpoint the endpoint to change; without it, all types of both modes are selected */
export const EndpointFields = ({
  endpoint,
  state,
}: {
  endpoint?: EndpointRow
  state: FormState
}) => {
  const { values } = state
  const isChosen = (type: EventType) =>
    values ? type in values : (endpoint?.types.includes(type) ?? true)
  const mode = values?.['mode'] ?? (endpoint ? (endpoint.mode ?? 'both') : 'both')
  const typesError = state.errors?.['types']
  return (
    <>
      <Field
        name="name"
        label="Name"
        value={endpoint?.name ?? ''}
        placeholder="Order system"
        maxlength={100}
        autocomplete="off"
        state={state}
      />
      <Field
        name="url"
        label="URL"
        type="url"
        value={endpoint?.url ?? ''}
        placeholder="https://shop.example/webhooks/try-on"
        state={state}
      />
      <fieldset
        class="event-types"
        aria-describedby={typesError ? 'types-error' : undefined}
        aria-invalid={typesError ? 'true' : undefined}
      >
        <legend>Event types</legend>
        {EVENT_TYPES.map((type) => (
          <label>
            <input type="checkbox" name={type} checked={isChosen(type) || undefined} />
            <span>
              {type} <small>{DESCRIPTIONS[type]}</small>
            </span>
          </label>
        ))}
        {typesError && (
          <small id="types-error" class="error">
            {typesError}
          </small>
        )}
      </fieldset>
      <div class="field">
        <label for="mode">Jobs</label>
        <select id="mode" name="mode">
          {MODE_CHOICES.map((choice) => (
            <option value={choice} selected={choice === mode || undefined}>
              {MODE_LABELS[choice]}
            </option>
          ))}
        </select>
      </div>
    </>
  )
}
