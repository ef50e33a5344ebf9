// Buttons that send test events to one receiver.
import type { EndpointRow } from '../../platform/db/webhook-schema.ts'
import { EVENT_TYPES } from '../../domain/webhook.ts'
import { Button, PostForm, Select } from './form.tsx'
import { Section } from './section.tsx'

/** @param endpoints to choose from; disabled ones and a default endpoint without a URL are not offered */
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
          <PostForm to="/settings/webhooks/test" fields={{ nonce: crypto.randomUUID() }}>
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
