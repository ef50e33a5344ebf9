// Webhook settings: the default URL, the signing secret, test events and the list of deliveries.
import { Hono } from 'hono'
import { z } from 'zod'
import { updateOrganisation } from '../../accounts/organisations.ts'
import { revealWebhookSecret, rotateWebhookSecret } from '../../accounts/webhook-secret.ts'
import type { OrganisationRow } from '../../db/schema.ts'
import type { WebhookEventRow } from '../../db/webhook-schema.ts'
import { AppError } from '../../domain/errors.ts'
import { isId } from '../../ids.ts'
import { cancelJob } from '../../jobs/cancel.ts'
import { urlPolicyOf } from '../../http/base-url.ts'
import { urlProblem } from '../../net/public-url.ts'
import type { UrlPolicy } from '../../net/public-url.ts'
import { SCENARIO_HOST } from '../../domain/scenario.ts'
import { DEFAULT_PAGE_SIZE } from '../../domain/limits.ts'
import { pageOf } from '../../domain/page.ts'
import type { Page } from '../../domain/page.ts'
import { listDisabledEndpoints } from '../../webhooks/endpoints.ts'
import { listEvents } from '../../webhooks/read.ts'
import type { ConsoleApp, ConsoleContext } from '../context.ts'
import { DisabledEndpoints, disabledEndpoints } from './disabled-endpoints.tsx'
import { ActionForm, Button, Field, PostForm } from '../components/form.tsx'
import { Notice } from '../components/notice.tsx'
import { readForm } from '../read-form.ts'
import type { FormState } from '../read-form.ts'
import { permits, permitsUnlimited } from '../../domain/role.ts'
import { memberPage } from '../components/layout.tsx'
import { CopyableText } from '../components/copyable-text.tsx'
import { DeliveryBadge } from '../components/badges.tsx'
import { EmptyState, IdLink, Table } from '../components/table.tsx'
import { Timestamp } from '../components/time.tsx'
import { requireRecentSignIn } from '../middleware/recent-sign-in.tsx'
import { scopeOf } from '../middleware/session.ts'
import { Nonce, submitFromConsole } from '../submit-job.ts'
import { webhookEvent } from './webhook-event.tsx'
import { Link } from '../components/link.tsx'
import { redirectTo } from '../organisation-path.ts'

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
  .get('/', (c) => webhooksPage(c))
  .post('/url', async (c) => {
    const form = await readForm(c, defaultUrl(urlPolicyOf(c)))
    if (!form.ok) return webhooksPage(c, form)
    const defaultWebhookUrl = form.data.url || null
    await updateOrganisation({ ...scopeOf(c), change: { defaultWebhookUrl } })
    return redirectTo(c, '/settings/webhooks?saved=1')
  })
  .post('/reveal', requireRecentSignIn, async (c) =>
    webhooksPage(c, {}, await revealWebhookSecret(scopeOf(c))),
  )
  .post('/rotate', requireRecentSignIn, async (c) => {
    await rotateWebhookSecret(scopeOf(c))
    // The redirect prevents a second rotation when the page is reloaded.
    return redirectTo(c, '/settings/webhooks?rotated=1#secret-heading')
  })
  // Runs a test job, whose event is delivered like any other event.
  .post('/test', async (c) => {
    const schema = z.object({ outcome: z.enum(OUTCOMES), nonce: Nonce })
    const form = await readForm(c, schema)
    if (!form.ok || !c.var.membership.organisation.defaultWebhookUrl) {
      return redirectTo(c, '/settings/webhooks')
    }
    const imageUrl = `https://${SCENARIO_HOST}${TEST_EVENTS[form.data.outcome]}`
    const submitted = await submitFromConsole(c, {
      mode: 'test',
      nonce: form.data.nonce,
      modelImageUrl: imageUrl,
      garmentImageUrl: imageUrl,
    })
    if (!submitted.ok) return webhooksPage(c, submitted.state)
    if (form.data.outcome === 'refunded') await cancelTestJob(c, submitted.jobId)
    return redirectTo(c, `/jobs/${submitted.jobId}`)
  })
  .route('/', disabledEndpoints)
  .route('/', webhookEvent)

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
  const { organisation, role } = c.var.membership
  const mayConfigure = permitsUnlimited(c.var.membership, 'develop')
  const before = c.req.query('before')
  const rows = await listEvents({
    ...scopeOf(c),
    limit: DEFAULT_PAGE_SIZE + 1,
    beforeId: before !== undefined && isId('evt', before) ? before : undefined,
  })
  const disabled = mayConfigure ? await listDisabledEndpoints(scopeOf(c)) : []
  return memberPage(
    c,
    { title: 'Webhooks', status: state.errors ? 422 : 200 },
    <>
      <h1>Webhooks</h1>
      <p>
        When a job ends, an event is sent to the <code>webhook_url</code> of the job, or to the
        default URL if the job has none. The <a href="/docs/webhooks">webhooks guide</a> shows how
        to verify and handle events.
      </p>
      {state.errors?.[''] && <Notice kind="bad">{state.errors['']}</Notice>}
      {c.req.query('saved') && (
        <Notice kind="good">Default URL saved. It applies to new jobs.</Notice>
      )}
      {c.req.query('enabled') && <Notice kind="good">Endpoint enabled.</Notice>}
      <DisabledEndpoints endpoints={disabled} />
      {c.req.query('rotated') && (
        <Notice kind="good">
          Signing secret rotated. Reveal the new secret below and add it to your endpoints. For 24
          hours, deliveries are signed with both the new and the previous secret.
        </Notice>
      )}
      {mayConfigure ? (
        <>
          <section class="card" aria-labelledby="url-heading">
            <h2 id="url-heading">Default URL</h2>
            <PostForm to="/settings/webhooks/url" novalidate>
              <Field
                name="url"
                label="URL"
                type="url"
                value={organisation.defaultWebhookUrl ?? ''}
                placeholder="https://shop.example/webhooks/try-on"
                hint="Leave empty to send events only for jobs that set webhook_url."
                required={false}
                state={state}
              />
              <Button>Save</Button>
            </PostForm>
          </section>
          <SigningSecret organisation={organisation} revealed={revealed} />
          <TestEvent organisation={organisation} />
        </>
      ) : (
        <p class="muted">
          {permits(role, 'develop')
            ? 'You are limited to some workspaces. To change these settings, a developer needs access to all workspaces.'
            : 'Only owners and developers can change the settings of webhooks.'}
        </p>
      )}
      <Deliveries page={pageOf(rows, DEFAULT_PAGE_SIZE)} paged={before !== undefined} />
    </>,
  )
}

const SigningSecret = ({
  organisation,
  revealed,
}: {
  organisation: OrganisationRow
  revealed: string | undefined
}) => {
  const { webhookSecretPreviousUntil: until } = organisation
  const overlapping = until !== null && until.getTime() > Date.now()
  return (
    <section class="card" aria-labelledby="secret-heading">
      <h2 id="secret-heading">Signing secret</h2>
      <p>
        Deliveries are signed according to{' '}
        <a href="https://www.standardwebhooks.com">Standard Webhooks</a>. Verify the signature with
        this secret.
      </p>
      {revealed === undefined ? (
        <p>
          <code>whsec_••••••••</code>
        </p>
      ) : (
        <CopyableText label="Signing secret" text={revealed} />
      )}
      {overlapping && (
        <p class="muted">
          Deliveries are also signed with the previous secret until <Timestamp at={until} />.
        </p>
      )}
      <div class="buttons">
        {revealed === undefined && (
          <ActionForm to="/settings/webhooks/reveal" label="Reveal" on="the signing secret" />
        )}
        <ActionForm
          to="/settings/webhooks/rotate"
          label="Rotate"
          on="the signing secret"
          kind="danger"
          confirm={
            overlapping ? (
              <>
                Create a new secret? For 24 hours, deliveries are signed with the new and the
                current secret. <strong>The previous secret stops working immediately</strong>, not
                at the time above. Endpoints that still use it will reject deliveries.
              </>
            ) : (
              'Create a new secret? For 24 hours, deliveries are signed with both the new and the current secret.'
            )
          }
        />
      </div>
    </section>
  )
}

const TestEvent = ({ organisation }: { organisation: OrganisationRow }) => (
  <section class="card" aria-labelledby="test-heading">
    <h2 id="test-heading">Send a test event</h2>
    {organisation.defaultWebhookUrl ? (
      <>
        <p>Runs a free test job and sends its event to the default URL.</p>
        <PostForm to="/settings/webhooks/test" class="buttons">
          <input type="hidden" name="nonce" value={crypto.randomUUID()} />
          {OUTCOMES.map((outcome) => (
            <Button kind="secondary" name="outcome" value={outcome}>
              Send job.{outcome}
            </Button>
          ))}
        </PostForm>
      </>
    ) : (
      <p>Save a default URL first.</p>
    )}
  </section>
)

const Deliveries = ({ page, paged }: { page: Page<WebhookEventRow>; paged: boolean }) => {
  const last = page.rows.at(-1)
  return (
    <section aria-labelledby="deliveries-heading">
      <h2 id="deliveries-heading">Deliveries</h2>
      {page.rows.length === 0 ? (
        <EmptyState title="No deliveries yet">
          <p>
            Deliveries appear here when a job with a webhook URL ends. See{' '}
            <a href="/docs/webhooks">how to receive webhooks</a>.
          </p>
        </EmptyState>
      ) : (
        <Table
          label="Deliveries"
          columns={['Event', 'Type', 'Status', 'Attempts', 'Created']}
          numeric={['Attempts']}
          rows={page.rows.map((event) => [
            <IdLink to={`/settings/webhooks/${event.id}`} id={event.id} />,
            event.type,
            <DeliveryBadge status={event.status} />,
            event.attempts,
            <Timestamp at={event.createdAt} />,
          ])}
        />
      )}
      <nav aria-label="Pages" class="pages">
        {paged && <Link to="/settings/webhooks#deliveries-heading">Newest</Link>}
        {page.hasMore && last && (
          <Link to={`/settings/webhooks?before=${last.id}#deliveries-heading`}>Older</Link>
        )}
      </nav>
    </section>
  )
}
