// How the request log shows a request to /v1.
import { isActive } from '../../organisations/active-key.ts'
import type { RequestWithKey } from '../../organisations/request-log/read-requests.ts'

/** Its method and route. */
export const nameOf = ({ method, route }: RequestWithKey) =>
  `${method} ${route === '' ? 'unknown path' : route}`

export const StatusCode = ({ status }: { status: number }) => {
  const colour = status >= 500 ? 'bad' : status >= 400 ? 'waiting' : 'good'
  return <span class={`badge ${colour}`}>{status}</span>
}

export const KeyName = ({ request: { apiKey } }: { request: RequestWithKey }) =>
  apiKey ? (
    <>
      <span class="key-name" title={apiKey.name}>
        {apiKey.name}
      </span>
      <span class="subline">
        …{apiKey.lastFour}
        {!isActive(apiKey) && ', revoked'}
      </span>
    </>
  ) : (
    <span class="muted">Unknown key</span>
  )
