// Webhooks: where events go by default, how they are signed, and what became of each.
import { Hono } from 'hono'
import { z } from 'zod'
import { updateOrganisation } from '../../accounts/organisations.ts'
import { revealWebhookSecret, rotateWebhookSecret } from '../../accounts/webhook-secret.ts'
import type { OrganisationRow, WebhookEventRow } from '../../db/schema.ts'
import { isId } from '../../ids.ts'
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
import { ActionForm, Button, Field, Notice, PostForm, readForm } from '../components/form.tsx'
import type { FieldState } from '../components/form.tsx'
import { memberPage } from '../components/layout.tsx'
import { Copyable, Delivery, Empty, IdLink, Table, When } from '../components/parts.tsx'
import { recentSignIn } from '../middleware/recent-sign-in.tsx'
import { ownersOnly, requestOf } from '../middleware/session.ts'
import { Nonce, submitFromConsole } from '../submit.ts'
import { webhookEvent } from './webhook-event.tsx'

const OUTCOMES = { completed: '/webhook-test', failed: '/fail/person_not_found' } as const

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
    const defaultWebhookUrl = form.value.url || null
    await updateOrganisation({ ...requestOf(c), change: { defaultWebhookUrl } })
    return c.redirect('/console/settings/webhooks?saved=1', 303)
  })
  .post('/reveal', ownersOnly, recentSignIn, async (c) =>
    webhooksPage(c, {}, await revealWebhookSecret(requestOf(c))),
  )
  .post('/rotate', ownersOnly, recentSignIn, async (c) => {
    await rotateWebhookSecret(requestOf(c))
    // Redirected, so that reloading the answer does not rotate again.
    return c.redirect('/console/settings/webhooks?rotated=1#secret-heading', 303)
  })
  /** A real event, caused by a test job: it takes the very way that every other event takes. */
  .post('/test', async (c) => {
    const schema = z.object({ outcome: z.enum(['completed', 'failed']), nonce: Nonce })
    const form = await readForm(c, schema)
    if (!form.ok || !c.var.membership.organisation.defaultWebhookUrl) {
      return c.redirect('/console/settings/webhooks', 303)
    }
    const address = `https://${SCENARIO_HOST}${OUTCOMES[form.value.outcome]}`
    const submitted = await submitFromConsole(c, {
      mode: 'test',
      nonce: form.value.nonce,
      modelImageUrl: address,
      garmentImageUrl: address,
    })
    if (!submitted.ok) return webhooksPage(c, { complaints: { '': submitted.reason } })
    return c.redirect(`/console/jobs/${submitted.jobId}`, 303)
  })
  .route('/', disabledEndpoints)
  .route('/', webhookEvent)

async function webhooksPage(c: ConsoleContext, state: FieldState = {}, revealed?: string) {
  const { organisation, role } = c.var.membership
  const before = c.req.query('before')
  const rows = await listEvents({
    ...requestOf(c),
    limit: DEFAULT_PAGE_SIZE + 1,
    beforeId: before !== undefined && isId('evt', before) ? before : undefined,
  })
  const disabled = await listDisabledEndpoints(requestOf(c))
  return memberPage(
    c,
    { title: 'Webhooks', status: state.complaints ? 422 : 200 },
    <>
      <h1>Webhooks</h1>
      <p>
        When a job ends, its result is posted to its own <code>webhook_url</code> or else to the URL
        below.
      </p>
      {state.complaints?.[''] && <Notice kind="bad">{state.complaints['']}</Notice>}
      {c.req.query('saved') && <Notice kind="good">Saved, in force for the next job.</Notice>}
      {c.req.query('enabled') && <Notice kind="good">Enabled.</Notice>}
      <DisabledEndpoints endpoints={disabled} />
      {c.req.query('rotated') && (
        <Notice kind="good">
          There is a new signing secret. Reveal it below and give it to your receivers. Deliveries
          are signed with the previous one as well for 24 hours.
        </Notice>
      )}
      <section class="card" aria-labelledby="url-heading">
        <h2 id="url-heading">Default URL</h2>
        <PostForm action="/console/settings/webhooks/url" novalidate>
          <Field
            name="url"
            label="URL"
            type="url"
            value={organisation.defaultWebhookUrl ?? ''}
            placeholder="https://shop.example/webhooks/try-on"
            hint="Leave it empty to have events only for jobs that name their own."
            required={false}
            state={state}
          />
          <Button>Save</Button>
        </PostForm>
      </section>
      <Secret organisation={organisation} isOwner={role === 'owner'} revealed={revealed} />
      <TestEvent organisation={organisation} />
      <Deliveries page={pageOf(rows, DEFAULT_PAGE_SIZE)} paged={before !== undefined} />
    </>,
  )
}

const Secret = ({
  organisation,
  isOwner,
  revealed,
}: {
  organisation: OrganisationRow
  isOwner: boolean
  revealed: string | undefined
}) => {
  const { webhookSecretPreviousUntil: until } = organisation
  const overlapping = until !== null && until.getTime() > Date.now()
  return (
    <section class="card" aria-labelledby="secret-heading">
      <h2 id="secret-heading">Signing secret</h2>
      <p>
        Deliveries are signed as <a href="https://www.standardwebhooks.com">Standard Webhooks</a>{' '}
        describes. Verify the signature with this secret.
      </p>
      {revealed === undefined ? (
        <p>
          <code>whsec_••••••••</code>
        </p>
      ) : (
        <Copyable label="Signing secret" text={revealed} />
      )}
      {overlapping && (
        <p class="quiet">
          Deliveries are signed with the previous secret as well until <When at={until} />.
        </p>
      )}
      {isOwner ? (
        <div class="buttons">
          {revealed === undefined && (
            <ActionForm
              action="/console/settings/webhooks/reveal"
              label="Reveal"
              on="the signing secret"
            />
          )}
          <ActionForm
            action="/console/settings/webhooks/rotate"
            label="Rotate"
            on="the signing secret"
            kind="danger"
            confirm={
              overlapping ? (
                <>
                  Create a new secret? For 24 hours, deliveries are signed with it and the current
                  one. <strong>The secret before the current one stops working at once</strong>, not
                  at the time above: receivers that still use it reject your deliveries.
                </>
              ) : (
                'Create a new secret? For 24 hours, deliveries are signed with both, so that you can switch.'
              )
            }
          />
        </div>
      ) : (
        <p class="quiet">Owners of this organisation can reveal and rotate it.</p>
      )}
    </section>
  )
}

const TestEvent = ({ organisation }: { organisation: OrganisationRow }) => (
  <section class="card" aria-labelledby="test-heading">
    <h2 id="test-heading">Send a test event</h2>
    {organisation.defaultWebhookUrl ? (
      <>
        <p>Runs a free test job whose event goes to the default URL.</p>
        <PostForm action="/console/settings/webhooks/test" class="buttons">
          <input type="hidden" name="nonce" value={crypto.randomUUID()} />
          <Button kind="secondary" name="outcome" value="completed">
            Send job.completed
          </Button>
          <Button kind="secondary" name="outcome" value="failed">
            Send job.failed
          </Button>
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
        <Empty title="No deliveries yet">
          <p>They appear here as soon as a job with a webhook URL has ended.</p>
        </Empty>
      ) : (
        <Table
          label="Deliveries"
          columns={['Event', 'Type', 'State', 'Attempts', 'Job ended']}
          numeric={['Attempts']}
          rows={page.rows.map((event) => [
            <IdLink href={`/console/settings/webhooks/${event.id}`} id={event.id} />,
            event.type,
            <Delivery status={event.status} />,
            event.attempts,
            <When at={event.createdAt} />,
          ])}
        />
      )}
      <nav aria-label="Pages" class="pages">
        {paged && <a href="/console/settings/webhooks#deliveries-heading">Newest</a>}
        {page.hasMore && last && (
          <a href={`/console/settings/webhooks?before=${last.id}#deliveries-heading`}>Older</a>
        )}
      </nav>
    </section>
  )
}
