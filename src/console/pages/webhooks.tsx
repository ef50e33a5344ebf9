// The webhooks page: endpoints, the default URL, the signing secret, test events and the latest
// deliveries.
import { z } from 'zod'
import { DEFAULT_ENDPOINT, MAX_ADDED_ENDPOINTS } from '../../domain/webhook.ts'
import { urlPolicyOf } from '../../http/base-url.ts'
import {
  listEndpoints,
  readEndpoint,
  revealSecret,
  rotateSecret,
  setDefaultUrl,
} from '../../webhooks/endpoints/endpoints.ts'
import { enableReceiver, listFailingReceivers } from '../../webhooks/endpoints/failing-receivers.ts'
import { listEndpointOutcomes } from '../../webhooks/event-reads.ts'
import { endTestJob, testImageUrl } from '../../webhooks/test-event.ts'
import { LatestDeliveries, readLatestDeliveries } from '../components/deliveries-table.tsx'
import {
  defaultUrlForm,
  disabledEndpointsCard,
  endpointTable,
  TestEvent,
} from '../components/endpoints.tsx'
import { Button, Field, FormError, PostForm } from '../components/form.tsx'
import { memberPage } from '../components/layout.tsx'
import { ButtonLink } from '../components/text.tsx'
import { Section } from '../components/section.tsx'
import { SigningSecret } from '../components/signing-secret.tsx'
import { requireRecentSignIn } from '../middleware/recent-sign-in.tsx'
import { mayInAllWorkspaces, createApp, scopeOf, type ConsoleContext } from '../console-context.ts'
import { redirectTo } from '../form-notices.ts'
import { readForm } from '../forms.ts'
import { Nonce, submitFromConsole } from '../submit-job.ts'
import { deliveries } from './deliveries.tsx'
import { webhookEndpoints } from './webhook-endpoints.tsx'
import { webhookEvent } from './webhook-event.tsx'

const PAGE = '/settings/webhooks'

const TestEventForm = z.object({
  outcome: z.enum(['completed', 'failed', 'refunded', 'cancelled']),
  nonce: Nonce,
  endpoint: z.string().default(DEFAULT_ENDPOINT),
})
const Receiver = z.object({ receiver: z.string().max(2_048) })

const backToPage = (c: ConsoleContext) => redirectTo(c, PAGE)

export const webhooks = createApp()
  .get('/', (c) => webhooksPage(c))
  .post('/url', async (c) => {
    const { url } = await readForm(c, defaultUrlForm(urlPolicyOf(c)), webhooksPage)
    await setDefaultUrl({ ...scopeOf(c), url: url || null })
    return redirectTo(c, PAGE, 'default_url_saved')
  })
  .post('/reveal', requireRecentSignIn, async (c) =>
    webhooksPage(c, await revealSecret(defaultEndpointIn(c))),
  )
  .post('/rotate', requireRecentSignIn, async (c) => {
    await rotateSecret(defaultEndpointIn(c))
    // The redirect prevents a second rotation when the page is reloaded.
    return redirectTo(c, PAGE, 'secret_rotated')
  })
  // Runs a test job, whose event is delivered like any other event, but to one receiver only.
  .post('/test', async (c) => {
    const { outcome, nonce, endpoint } = await readForm(c, TestEventForm, backToPage)
    const { url, enabled } = await readEndpoint({ ...scopeOf(c), endpointId: endpoint })
    if (!enabled || url === '') return backToPage(c)
    const type = `job.${outcome}` as const
    const imageUrl = testImageUrl(type)
    const jobId = await submitFromConsole(c, webhooksPage, {
      mode: 'test',
      nonce,
      modelImageUrl: imageUrl,
      garmentImageUrl: imageUrl,
      webhookUrl: url,
      testEventFor: endpoint,
    })
    const organisationId = c.var.membership.organisation.id
    await endTestJob(c.env, { type, organisationId, jobId })
    return redirectTo(c, `/jobs/${jobId}`)
  })
  .post('/endpoints/enable', async (c) => {
    const { receiver } = await readForm(c, Receiver, backToPage)
    await enableReceiver({ ...scopeOf(c), receiver })
    return redirectTo(c, PAGE, 'endpoint_enabled')
  })
  .route('/deliveries', deliveries)
  .route('/endpoints', webhookEndpoints)
  .route('/', webhookEvent)

const defaultEndpointIn = (c: ConsoleContext) => ({ ...scopeOf(c), endpointId: DEFAULT_ENDPOINT })

async function webhooksPage(c: ConsoleContext, revealed?: string) {
  const canDevelop = mayInAllWorkspaces(c, 'develop')
  const scope = scopeOf(c)
  const [endpoints, failing, outcomes, latest] = await Promise.all([
    listEndpoints(scope),
    listFailingReceivers(scope),
    listEndpointOutcomes(scope),
    // Test events are events of test jobs: they are shown in live mode, too.
    readLatestDeliveries(c, {}),
  ])
  const [defaultEndpoint, ...added] = endpoints
  const listed = defaultEndpoint.url ? endpoints : added
  return memberPage(
    { c, title: 'Webhooks' },
    <>
      <p>
        When a job ends, an event is sent to the <code>webhook_url</code> of the job, or to the
        default URL if the job has none, and to each added endpoint that receives its type. The{' '}
        <a href="/docs/webhooks">webhooks guide</a> shows how to verify and handle events.
      </p>
      <FormError state={c.var.form} />
      {disabledEndpointsCard(
        failing.filter(({ disabledAt }) => disabledAt !== null),
        canDevelop,
      )}
      <Section
        id="endpoints-heading"
        title="Endpoints"
        action={
          canDevelop &&
          added.length < MAX_ADDED_ENDPOINTS && (
            <ButtonLink to={`${PAGE}/endpoints/new`} label="Add endpoint" />
          )
        }
      >
        {endpointTable(listed, failing, outcomes)}
      </Section>
      <LatestDeliveries deliveries={latest} endpoints={endpoints} />
      {canDevelop && (
        <Section id="url-heading" title="Default URL" card>
          <PostForm to={`${PAGE}/url`}>
            <Field
              name="url"
              label="URL"
              type="url"
              value={defaultEndpoint.url}
              placeholder="https://shop.example/webhooks/try-on"
              hint="Receives all events of jobs that do not set webhook_url. Leave empty to send events only to the URLs of jobs and to added endpoints."
              required={false}
            />
            <Button>Save</Button>
          </PostForm>
        </Section>
      )}
      <SigningSecret c={c} endpoint={defaultEndpoint} revealed={revealed} />
      {canDevelop && <TestEvent endpoints={endpoints} />}
    </>,
  )
}
