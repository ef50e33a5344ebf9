// Webhook endpoints: the form of one, the table of all, the banner of disabled ones, and test events.
import { z } from 'zod'
import type { EndpointRow, FailingReceiverRow } from '../../platform/db/webhook-schema.ts'
import { MODES } from '../../domain/job.ts'
import { EVENT_TYPES, DEFAULT_ENDPOINT, type EventType } from '../../domain/webhook.ts'
import { urlProblem, type UrlPolicy } from '../../platform/net/public-url.ts'
import type { EndpointSettings } from '../../webhooks/endpoints/endpoints.ts'
import type { FailingReceiver } from '../../webhooks/endpoints/failing-receivers.ts'
import {
  ActionForm,
  Button,
  Field,
  FieldError,
  NameField,
  PostForm,
  Select,
  useFormState,
} from './form.tsx'
import type { EndpointOutcome } from '../../webhooks/event-reads.ts'
import { Link, Timestamp } from './text.tsx'
import { EmptyState, Table, Section } from './section.tsx'

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
      <NameField value={endpoint?.name ?? ''} placeholder="Order system" />
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
            <input type="checkbox" name={type} checked={isChosen(type)} />
            <span>
              {type} <small>{DESCRIPTIONS[type]}</small>
            </span>
          </label>
        ))}
        <FieldError id="types-error" text={typesError} />
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

/** @param failing and `outcomes`: what is known about the latest deliveries of the organisation */
export const endpointTable = (
  endpoints: EndpointRow[],
  failing: FailingReceiverRow[],
  outcomes: EndpointOutcome[],
) => (
  <Table
    label="Endpoints"
    empty={
      <EmptyState title="No endpoints yet">
        <p>
          Save a default URL below, or add endpoints that receive only the events that you choose.
        </p>
      </EmptyState>
    }
    columns={['Endpoint', 'Events', 'Mode', 'Status', 'Last success', 'Last failure']}
    rows={endpoints.map((endpoint) => {
      const { id, name, url, types, mode } = endpoint
      const isDefault = id === DEFAULT_ENDPOINT
      const isAll = types.length === EVENT_TYPES.length
      const outcome = outcomeOf(endpoint, outcomes)
      return [
        <>
          {isDefault ? name : <Link to={`/settings/webhooks/endpoints/${id}`}>{name}</Link>}
          <span class="subline address">{url}</span>
        </>,
        isDefault ? 'All events without a URL of the job' : isAll ? 'All events' : types.join(', '),
        mode ?? 'both',
        endpointStatus(endpoint, failing),
        <Timestamp at={outcome?.succeededAt} none="None recently" />,
        <Timestamp at={outcome?.failedAt} none="None recently" />,
      ]
    })}
  />
)

/** The outcomes of the default endpoint are those of its URL: jobs with a URL of their own have others. */
const outcomeOf = ({ id, url }: EndpointRow, outcomes: EndpointOutcome[]) =>
  outcomes.find(({ endpointId, ...outcome }) =>
    endpointId === null ? id === DEFAULT_ENDPOINT && outcome.url === url : endpointId === id,
  )

export function endpointStatus({ id, enabled }: EndpointRow, failing: FailingReceiverRow[]) {
  const row = failing.find(({ receiver }) => receiver === id)
  if (!enabled) return <span class="badge off">disabled</span>
  if (!row) return <span class="badge good">active</span>
  return (
    <>
      <span class="badge bad">{row.disabledAt ? 'disabled' : 'failing'}</span>
      <span class="subline muted">
        {row.failures} {row.failures === 1 ? 'failure' : 'failures'} since{' '}
        <Timestamp at={row.failingSince} />
      </span>
    </>
  )
}

/**
 * Buttons that send test events to one receiver.
 * @param endpoints to choose from; disabled ones and a default endpoint without a URL are not offered
 */
export const TestEvent = ({ endpoints }: { endpoints: EndpointRow[] }) => {
  const choices = endpoints.filter(({ enabled, url }) => enabled && url)
  const [only] = choices
  return (
    <Section id="test-heading" title="Send a test event" card>
      {only ? (
        <>
          <p>
            Runs a free test job and sends its event only to{' '}
            {choices.length === 1 ? `“${only.name}”` : 'the endpoint that you choose'}.
          </p>
          <PostForm to="/settings/webhooks/test" state={{}} fields={{ nonce: crypto.randomUUID() }}>
            {choices.length === 1 ? (
              <input type="hidden" name="endpoint" value={only.id} />
            ) : (
              <Select
                id="test-endpoint"
                name="endpoint"
                label="Endpoint"
                options={choices.map(({ id, name }) => [id, name] as const)}
              />
            )}
            <div class="buttons">
              {EVENT_TYPES.map((type) => (
                <Button kind="secondary" name="outcome" value={type.slice('job.'.length)}>
                  Send {type}
                </Button>
              ))}
            </div>
          </PostForm>
        </>
      ) : (
        <p>
          {endpoints.some(({ url }) => url)
            ? 'Enable the endpoint to send test events.'
            : 'Save a default URL or add an endpoint first.'}
        </p>
      )}
    </Section>
  )
}

/**
 * A banner for the overview and the webhooks page; empty without disabled endpoints.
 * @param canEnable whether the member may change webhooks
 */
export const disabledEndpointsCard = (endpoints: FailingReceiver[], canEnable: boolean) =>
  endpoints.length === 0 ? null : (
    <section class="card disabled-endpoints" aria-labelledby="disabled-heading">
      <h2 id="disabled-heading">
        {endpoints.length === 1
          ? 'A webhook endpoint is disabled'
          : `${endpoints.length} webhook endpoints are disabled`}
      </h2>
      <p>
        All deliveries failed for five days. New deliveries fail without an attempt until you repair
        and enable the endpoint.
      </p>
      {endpoints.map(({ receiver, name, origin, failures, failingSince, disabledAt }) => (
        <div class="bar">
          <p>
            <strong class="address">{name}</strong>
            {name !== origin && <span class="address"> {origin}</span>}
            <br />
            <span class="muted">
              Disabled <Timestamp at={disabledAt} />, after {failures} failures since{' '}
              <Timestamp at={failingSince} />
            </span>
          </p>
          {canEnable && (
            <ActionForm
              to="/settings/webhooks/endpoints/enable"
              label="Enable"
              on={name}
              fields={{ receiver }}
            />
          )}
        </div>
      ))}
    </section>
  )
