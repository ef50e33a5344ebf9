// Lists, creates and revokes API keys. A new key is shown once.
import { Hono } from 'hono'
import { createMiddleware } from 'hono/factory'
import { z } from 'zod'
import { createApiKey, listApiKeys, revokeApiKey } from '../../accounts/api-keys.ts'
import { isId, newId } from '../../ids.ts'
import { permitsUnlimited } from '../../domain/role.ts'
import { MODES } from '../../domain/job.ts'
import type { ConsoleApp, ConsoleContext } from '../context.ts'
import { name } from '../fields.ts'
import { ActionForm, Button, Field, FormError, PostForm, ModeField } from '../components/form.tsx'
import { Notice } from '../components/notice.tsx'
import { readForm, formStateOf } from '../read-form.ts'
import type { FormState } from '../read-form.ts'
import { memberPage } from '../components/layout.tsx'
import { CopyableText } from '../components/copyable-text.tsx'
import { EmptyState, Table } from '../components/table.tsx'
import { ModeBadge, StatusBadge } from '../components/badges.tsx'
import { Timestamp } from '../components/time.tsx'
import { requireRecentSignIn } from '../middleware/recent-sign-in.tsx'
import { scopeOf } from '../middleware/session.ts'
import { Link } from '../components/link.tsx'
import { redirectTo } from '../organisation-path.ts'

const NewKey = z.object({
  name,
  mode: z.enum(MODES, 'Choose a mode.'),
  /** Generated with the form: sending the form twice, or reloading the response, creates one key. */
  id: z.string().refine((id) => isId('key', id)),
})

/** A live key can spend credits, so creating one requires a recent sign-in. */
const recentSignInForLive = createMiddleware<ConsoleApp>(async (c, next) => {
  const { mode } = await c.req.parseBody()
  return mode === 'live' ? requireRecentSignIn(c, next) : next()
})

export const keys = new Hono<ConsoleApp>()
  .get('/', (c) => keysPage(c))
  .post('/', recentSignInForLive, async (c) => {
    const form = await readForm(c, NewKey)
    if (!form.ok) return keysPage(c, form)
    let created
    try {
      created = await createApiKey({ ...scopeOf(c), ...form.data })
    } catch (error) {
      return keysPage(c, formStateOf(error, { name: form.data.name, mode: form.data.mode }))
    }
    if (!created) return redirectTo(c, '/settings/api-keys?repeated=1')
    return memberPage(
      c,
      { title: 'Your new API key' },
      <>
        <h1>Your new {form.data.mode} API key</h1>
        <Notice kind="info">
          <strong>This key is shown only once.</strong> Store it in a safe place.
        </Notice>
        <CopyableText label="Your new API key" text={created.key} />
        <p>
          <Link to="/settings/api-keys">I have stored the key. Back to API keys</Link>
        </p>
      </>,
    )
  })
  .post('/:keyId/revoke', async (c) => {
    await revokeApiKey({ ...scopeOf(c), keyId: c.req.param('keyId') })
    return redirectTo(c, '/settings/api-keys?revoked=1')
  })

async function keysPage(c: ConsoleContext, state: FormState = {}) {
  const isScheduledForDeletion = c.var.membership.organisation.deleteAfter !== null
  const mayManage = permitsUnlimited(c.var.membership, 'develop')
  const rows = await listApiKeys(scopeOf(c))
  return memberPage(
    c,
    { title: 'API keys', status: state.errors ? 422 : 200 },
    <>
      <h1>API keys</h1>
      <p>
        An API key is shown only once, when you create it. To replace a lost key, create a new one
        and then revoke the old one. Revoked keys are listed for 90 days. See{' '}
        <a href="/docs/authentication">how to authenticate</a> and the{' '}
        <a href="/docs/quick-start">quick start</a>.
      </p>
      {c.req.query('revoked') && (
        <Notice kind="good">API key revoked. Requests with it are rejected.</Notice>
      )}
      {c.req.query('repeated') && (
        <Notice kind="info">
          This key was already created and shown. It cannot be shown again. If you did not store it,
          revoke it and create a new one.
        </Notice>
      )}
      <FormError state={state} />
      {state.errors?.['id'] && <Notice kind="bad">The form is invalid. Try again.</Notice>}
      {rows.length === 0 ? (
        <EmptyState title="No API keys yet" />
      ) : (
        <Table
          label="API keys"
          columns={['Name', 'Mode', 'Key', 'Created', 'Last used', 'Status', 'Actions']}
          rows={rows.map((key) => [
            key.name,
            <ModeBadge mode={key.mode} />,
            <code>
              svc_{key.mode}_sk_…{key.lastFour}
            </code>,
            <>
              <Timestamp at={key.createdAt} />
              {key.creatorEmail && <span class="subline">by {key.creatorEmail}</span>}
            </>,
            <Timestamp at={key.lastUsedAt} />,
            <StatusBadge status={key.revokedAt ? 'revoked' : 'active'} />,
            key.revokedAt ? (
              <Timestamp at={key.revokedAt} />
            ) : (
              mayManage && (
                <ActionForm
                  to={`/settings/api-keys/${key.id}/revoke`}
                  label="Revoke"
                  on={key.name}
                  kind="danger"
                  confirm={`Revoke “${key.name}”? Requests with this key will be rejected immediately. You cannot undo this.`}
                />
              )
            ),
          ])}
        />
      )}
      {!mayManage && (
        <p class="muted">
          You are limited to some workspaces. An API key reaches all workspaces, so only members
          with access to all of them can create and revoke keys.
        </p>
      )}
      {mayManage && !isScheduledForDeletion && <NewKeyForm state={state} />}
    </>,
  )
}

const NewKeyForm = ({ state }: { state: FormState }) => (
  <section class="card" aria-labelledby="new-key">
    <h2 id="new-key">Create an API key</h2>
    <PostForm to="/settings/api-keys" novalidate>
      <input type="hidden" name="id" value={newId('key')} />
      <Field
        name="name"
        label="Name"
        hint="A name to identify the key, such as “Shop, production”."
        state={state}
        maxlength={100}
      />
      <ModeField
        state={state}
        hints={{ test: 'Placeholder results, free', live: 'Real results, 1 credit each' }}
      />
      <Button>Create API key</Button>
    </PostForm>
  </section>
)
