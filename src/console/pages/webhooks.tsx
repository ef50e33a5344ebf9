// The webhooks page: endpoints, the default URL, the signing secret, test events and the latest
// deliveries.
import { Hono } from 'hono'
import { z } from 'zod'
import { updateOrganisation } from '../../accounts/organisations.ts'
import { revealWebhookSecret, rotateWebhookSecret } from '../../accounts/webhook-secret.ts'
import { AppError } from '../../domain/errors.ts'
import { permitsUnlimited } from '../../domain/role.ts'
import { SCENARIO_HOST } from '../../domain/scenario.ts'
import { DEFAULT_ENDPOINT, MAX_ADDED_ENDPOINTS } from '../../domain/webhook.ts'
import { urlPolicyOf } from '../../http/base-url.ts'
import { cancelJob } from '../../jobs/cancel.ts'
import { urlProblem } from '../../net/public-url.ts'
import type { UrlPolicy } from '../../net/public-url.ts'
import { listAddedEndpoints, readAddedEndpoint } from '../../webhooks/added-endpoints.ts'
import { listFailingEndpoints } from '../../webhooks/endpoints.ts'
import { listDeliveries, listEndpointOutcomes } from '../../webhooks/read.ts'
import type { ConsoleApp, ConsoleContext } from '../context.ts'
import { EndpointList } from '../components/endpoint-list.tsx'
import { Button, Field, PostForm } from '../components/form.tsx'
import { memberPage } from '../components/layout.tsx'
import { Link } from '../components/link.tsx'
import { Notice } from '../components/notice.tsx'
import { SigningSecret } from '../components/signing-secret.tsx'
import { EmptyState } from '../components/table.tsx'
import { TestEvent } from '../components/test-event.tsx'
import { requireRecentSignIn } from '../middleware/recent-sign-in.tsx'
import { permitted, scopeOf } from '../middleware/session.ts'
import { redirectTo } from '../organisation-path.ts'
import { readForm } from '../read-form.ts'
import type { FormState } from '../read-form.ts'
import { Nonce, submitFromConsole } from '../submit-job.ts'
import { verifySnippets } from '../verify-snippets.ts'
import { deliveries, DeliveriesTable } from './deliveries.tsx'
import { DisabledEndpoints, disabledEndpoints } from './disabled-endpoints.tsx'
import { webhookEndpoints } from './webhook-endpoints.tsx'
import { webhookEvent } from './webhook-event.tsx'

const LATEST_DELIVERIES = 5

/** The scenarios of the test events. The refunded job is cancelled while it is held pending. */
const TEST_EVENTS = {
  completed: '/model.jpg',
  failed: '/fail/person_not_found',
  refunded: '/pending/60',
  cancelled: '/withdraw',
} as const
const OUTCOMES = ['completed', 'failed', 'refunded', 'cancelled'] as const

const defaultUrl = (policy: UrlPolicy) =>
  z.object({
    url: z
      .string()
      .trim()
      .superRefine((text, context) => {
        const problem = text === '' ? null : urlProblem(text, policy)
        if (problem) context.addIssue({ code: 'custom', message: `The URL ${problem}.` })
      }),
  })

export const webhooks = new Hono<ConsoleApp>()
  .use(permitted('jobs'))
  .get('/', (c) => webhooksPage(c))
  .post('/url', permitted('develop'), async (c) => {
    const form = await readForm(c, defaultUrl(urlPolicyOf(c)))
    if (!form.ok) return webhooksPage(c, form)
    const defaultWebhookUrl = form.data.url || null
    await updateOrganisation({ ...scopeOf(c), change: { defaultWebhookUrl } })
    return redirectTo(c, '/settings/webhooks?saved=1')
  })
  .post('/reveal', permitted('develop'), requireRecentSignIn, async (c) =>
    webhooksPage(c, {}, await revealWebhookSecret(scopeOf(c))),
  )
  .post('/rotate', permitted('develop'), requireRecentSignIn, async (c) => {
    await rotateWebhookSecret(scopeOf(c))
    // The redirect prevents a second rotation when the page is reloaded.
    return redirectTo(c, '/settings/webhooks?rotated=1#secret-heading')
  })
  // Runs a test job, whose event is delivered like any other event, but to one receiver only.
  .post('/test', permitted('develop'), async (c) => {
    const endpoint = z.string().default(DEFAULT_ENDPOINT)
    const schema = z.object({ outcome: z.enum(OUTCOMES), nonce: Nonce, endpoint })
    const form = await readForm(c, schema)
    const url = form.ok && (await testUrlOf(c, form.data.endpoint))
    if (!form.ok || !url) return redirectTo(c, '/settings/webhooks')
    const imageUrl = `https://${SCENARIO_HOST}${TEST_EVENTS[form.data.outcome]}`
    const submitted = await submitFromConsole(c, {
      mode: 'test',
      nonce: form.data.nonce,
      modelImageUrl: imageUrl,
      garmentImageUrl: imageUrl,
      testEvent: { for: form.data.endpoint, url },
    })
    if (!submitted.ok) return webhooksPage(c, submitted.state)
    if (form.data.outcome === 'refunded') await cancelTestJob(c, submitted.jobId)
    return redirectTo(c, `/jobs/${submitted.jobId}`)
  })
  .route('/deliveries', deliveries)
  .route('/', disabledEndpoints)
  .route('/endpoints', webhookEndpoints)
  .route('/', webhookEvent)

/** The URL of the receiver of a test event; null when there is none. */
async function testUrlOf(c: ConsoleContext, endpoint: string): Promise<string | null> {
  if (endpoint === DEFAULT_ENDPOINT) return c.var.membership.organisation.defaultWebhookUrl
  const { url, enabled } = await readAddedEndpoint({ ...scopeOf(c), endpointId: endpoint })
  return enabled ? url : null
}

/** Cancels a job, unless an earlier request with the same form has cancelled it. */
async function cancelTestJob(c: ConsoleContext, jobId: string): Promise<void> {
  const organisationId = c.var.membership.organisation.id
  try {
    await cancelJob({ env: c.env, organisationId, jobId })
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'job_not_cancellable')) throw error
  }
}

async function webhooksPage(c: ConsoleContext, state: FormState = {}, revealed?: string) {
  const { organisation } = c.var.membership
  const { defaultWebhookUrl } = organisation
  const canDevelop = permitsUnlimited(c.var.membership, 'develop')
  const scope = scopeOf(c)
  const [endpoints, failing, outcomes, latest, snippets] = await Promise.all([
    listAddedEndpoints(scope),
    listFailingEndpoints(scope),
    listEndpointOutcomes(scope),
    listDeliveries({
      ...scope,
      filter: { mode: c.var.mode },
      start: {},
      limit: LATEST_DELIVERIES,
    }),
    verifySnippets(c),
  ])
  return memberPage(
    c,
    { title: 'Webhooks', status: state.errors ? 422 : 200, stylesheet: '/static/webhooks.css' },
    <>
      <h1>Webhooks</h1>
      <p>
        When a job ends, an event is sent to the <code>webhook_url</code> of the job, or to the
        default URL if the job has none, and to each added endpoint that receives its type. The{' '}
        <a href="/docs/webhooks">webhooks guide</a> shows how to verify and handle events.
      </p>
      {state.errors?.[''] && <Notice kind="bad">{state.errors['']}</Notice>}
      <Notices c={c} />
      <DisabledEndpoints
        endpoints={failing.filter(({ disabledAt }) => disabledAt !== null)}
        canEnable={canDevelop}
      />
      <section aria-labelledby="endpoints-heading">
        <div class="section-heading">
          <h2 id="endpoints-heading">Endpoints</h2>
          {canDevelop && endpoints.length < MAX_ADDED_ENDPOINTS && (
            <Link to="/settings/webhooks/endpoints/new" role="button" class="secondary">
              Add endpoint
            </Link>
          )}
        </div>
        {defaultWebhookUrl === null && endpoints.length === 0 ? (
          <EmptyState title="No endpoints yet">
            <p>
              Save a default URL below, or add endpoints that receive only the events that you
              choose.
            </p>
          </EmptyState>
        ) : (
          <EndpointList
            defaultUrl={defaultWebhookUrl}
            endpoints={endpoints}
            health={{ failing, outcomes }}
          />
        )}
      </section>
      <section aria-labelledby="deliveries-heading">
        <div class="section-heading">
          <h2 id="deliveries-heading">Latest deliveries</h2>
          <Link to="/settings/webhooks/deliveries">All deliveries</Link>
        </div>
        <DeliveriesTable deliveries={latest.deliveries} endpoints={endpoints} />
      </section>
      {canDevelop && <DefaultUrl url={defaultWebhookUrl} state={state} />}
      <SigningSecret
        to="/settings/webhooks"
        signs="Deliveries to the default URL and to URLs of jobs are signed"
        previousUntil={organisation.webhookSecretPreviousUntil}
        canManage={canDevelop}
        revealed={revealed}
        snippets={snippets}
      />
      {canDevelop && <TestEvent defaultUrl={defaultWebhookUrl} endpoints={endpoints} />}
    </>,
  )
}

const Notices = ({ c }: { c: ConsoleContext }) => (
  <>
    {c.req.query('saved') && (
      <Notice kind="good">Default URL saved. It applies to new jobs.</Notice>
    )}
    {c.req.query('enabled') && <Notice kind="good">Endpoint enabled.</Notice>}
    {c.req.query('deleted') && <Notice kind="good">Endpoint deleted.</Notice>}
    {c.req.query('rotated') && (
      <Notice kind="good">
        Signing secret rotated. Reveal the new secret below and add it to your endpoints. For 24
        hours, deliveries are signed with both the new and the previous secret.
      </Notice>
    )}
  </>
)

const DefaultUrl = ({ url, state }: { url: string | null; state: FormState }) => (
  <section class="card" aria-labelledby="url-heading">
    <h2 id="url-heading">Default URL</h2>
    <PostForm to="/settings/webhooks/url" novalidate>
      <Field
        name="url"
        label="URL"
        type="url"
        value={url ?? ''}
        placeholder="https://shop.example/webhooks/try-on"
        hint="Receives all events of jobs that do not set webhook_url. Leave empty to send events only to the URLs of jobs and to added endpoints."
        required={false}
        state={state}
      />
      <Button>Save</Button>
    </PostForm>
  </section>
)
