// One attempt at delivering a webhook event: what was sent and what was received.
import type { AttemptDetails } from '../../webhooks/delivery/read-deliveries.ts'
import type { Fidelity } from '../../webhooks/delivery/request.ts'
import { CopyableText } from './copyable-text.tsx'
import { formatDuration, Timestamp } from './text.tsx'

const NOTES: Record<Fidelity, string> = {
  exact: 'This is the exact body that was sent. It matches the signature.',
  pictures_deleted:
    'The pictures of the job have been deleted since, so output_url is null here. The body that was sent had a link.',
  not_verified:
    'This body is recreated from the job, but it does not match the signature: the signing secret or the configuration of the service has changed since the attempt.',
}

/** @param isLatest shows request and response without a click */
export const DeliveryAttempt = ({
  details: { attempt, request },
  isLatest,
}: {
  details: AttemptDetails
  isLatest: boolean
}) => {
  const { number, at, responseStatus, durationMs, responseBody, responseHeaders, error } = attempt
  const isSuccess = responseStatus !== null && responseStatus >= 200 && responseStatus < 300
  return (
    <article class="attempt" aria-label={`Attempt ${number}`}>
      <p>
        <strong>Attempt {number}</strong>{' '}
        <span class={`badge ${isSuccess ? 'good' : 'bad'}`}>{responseStatus ?? 'no response'}</span>{' '}
        <span class="muted">
          <Timestamp as="second" at={at} />, {formatDuration(durationMs)}
        </span>
      </p>
      {error && <p class="error-text">{error}</p>}
      {request && (
        <details id={`request-${number}`} open={isLatest || undefined}>
          <summary>Request</summary>
          <h3>Headers</h3>
          <Headers of={`request of attempt ${number}`} headers={request.headers} />
          <h3>Body</h3>
          <p class={request.fidelity === 'exact' ? 'muted' : 'notice info'}>
            {NOTES[request.fidelity]}
          </p>
          <CopyableText label={`Request body of attempt ${number}`} text={request.body} />
          <details>
            <summary>Formatted body</summary>
            <pre tabindex={0} role="group" aria-label={`Formatted body of attempt ${number}`}>
              <code>{JSON.stringify(JSON.parse(request.body), null, 2)}</code>
            </pre>
          </details>
        </details>
      )}
      {responseStatus !== null && (
        <details id={`response-${number}`} open={isLatest || !request || undefined}>
          <summary>Response</summary>
          {responseHeaders && responseHeaders.length > 0 && (
            <>
              <h3>Headers</h3>
              <Headers of={`response to attempt ${number}`} headers={responseHeaders} />
            </>
          )}
          {responseHeaders && <h3>Body</h3>}
          {responseBody ? (
            <pre tabindex={0} role="group" aria-label={`Response to attempt ${number}`}>
              <code>{responseBody}</code>
            </pre>
          ) : (
            <p class="muted">The response body was empty.</p>
          )}
        </details>
      )}
    </article>
  )
}

const Headers = ({ of, headers }: { of: string; headers: [name: string, value: string][] }) => (
  <dl class="headers" aria-label={`Headers of the ${of}`}>
    {headers.map(([name, value]) => (
      <div>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
)
