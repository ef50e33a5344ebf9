// Buttons that send test events to one receiver.
import type { EndpointRow } from '../../platform/db/webhook-schema.ts'
import { EVENT_TYPES } from '../../domain/webhook.ts'
import { Button, PostForm } from './form.tsx'

/** @param endpoints to choose from; disabled ones and a default endpoint without a URL are not offered */
export const TestEvent = ({ endpoints }: { endpoints: EndpointRow[] }) => {
  const choices = endpoints.filter(({ enabled, url }) => enabled && url)
  const [only] = choices
  return (
    <section class="card" aria-labelledby="test-heading">
      <h2 id="test-heading">Send a test event</h2>
      {only ? (
        <>
          <p>
            Runs a free test job and sends its event only to{' '}
            {choices.length === 1 ? `“${only.name}”` : 'the endpoint that you choose'}.
          </p>
          <PostForm to="/settings/webhooks/test">
            <input type="hidden" name="nonce" value={crypto.randomUUID()} />
            {choices.length === 1 ? (
              <input type="hidden" name="endpoint" value={only.id} />
            ) : (
              <div class="field">
                <label for="test-endpoint">Endpoint</label>
                <select id="test-endpoint" name="endpoint">
                  {choices.map(({ id, name }) => (
                    <option value={id}>{name}</option>
                  ))}
                </select>
              </div>
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
    </section>
  )
}
