// The form of a webhook endpoint: its fields, and how they are parsed.
import { z } from 'zod'
import type { EndpointRow } from '../../platform/db/webhook-schema.ts'
import { MODES } from '../../domain/job.ts'
import { EVENT_TYPES, type EventType } from '../../domain/webhook.ts'
import { urlProblem, type UrlPolicy } from '../../platform/net/public-url.ts'
import type { EndpointSettings } from '../../webhooks/endpoints/endpoints.ts'
import { Field, Select, useFormState } from './form.tsx'

const MAX_NAME_LENGTH = 100

const webhookUrl = (policy: UrlPolicy, emptyProblem?: string) =>
  z
    .string()
    .trim()
    .superRefine((text, context) => {
      const problem = text === '' ? emptyProblem : urlProblem(text, policy)
      if (problem) context.addIssue({ code: 'custom', message: `The URL ${problem}.` })
    })

/** The URL may be empty. */
export const defaultUrlForm = (policy: UrlPolicy) => z.object({ url: webhookUrl(policy) })

/** Each event type is a checkbox with its own name. */
export const endpointForm = (policy: UrlPolicy): z.ZodType<EndpointSettings> =>
  z
    .record(z.string(), z.unknown())
    .transform((body) => ({ ...body, types: EVENT_TYPES.filter((type) => type in body) }))
    .pipe(
      z.object({
        name: z
          .string()
          .trim()
          .min(1, 'Enter a name.')
          .max(MAX_NAME_LENGTH, `At most ${MAX_NAME_LENGTH} characters.`),
        url: webhookUrl(policy, 'is required'),
        mode: z
          .enum([...MODES, 'both'], 'Choose a mode.')
          .transform((mode) => (mode === 'both' ? null : mode)),
        types: z.array(z.enum(EVENT_TYPES)).min(1, 'Choose at least one event type.'),
      }),
    )

const DESCRIPTIONS: Record<EventType, string> = {
  'job.completed': 'The picture is ready.',
  'job.failed': 'The job failed.',
  'job.refunded': 'You cancelled the job.',
  'job.cancelled': 'The service withdrew the job.',
}

/** @param endpoint the endpoint to change; without it, all types of both modes are selected */
export const EndpointFields = ({ endpoint }: { endpoint?: EndpointRow }) => {
  const { values, errors } = useFormState()
  const isChosen = (type: EventType) =>
    values ? type in values : (endpoint?.types.includes(type) ?? true)
  const typesError = errors?.['types']
  return (
    <>
      <Field
        name="name"
        label="Name"
        value={endpoint?.name ?? ''}
        placeholder="Order system"
        maxlength={100}
        autocomplete="off"
      />
      <Field
        name="url"
        label="URL"
        type="url"
        value={endpoint?.url ?? ''}
        placeholder="https://shop.example/webhooks/try-on"
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
      <Select
        name="mode"
        label="Jobs"
        value={endpoint?.mode ?? 'both'}
        options={[
          ['both', 'Live and test'],
          ['live', 'Live only'],
          ['test', 'Test only'],
        ]}
      />
    </>
  )
}
