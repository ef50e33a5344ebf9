// API keys: seen, created, shown once, revoked.
import { Hono } from 'hono'
import { z } from 'zod'
import { createApiKey, listApiKeys, revokeApiKey } from '../../accounts/api-keys.ts'
import { isId, newId } from '../../ids.ts'
import { MODES } from '../../domain/job.ts'
import type { ConsoleApp, ConsoleContext } from '../context.ts'
import { name } from '../fields.ts'
import {
  ActionForm,
  Button,
  Field,
  FormError,
  Notice,
  PostForm,
  readForm,
  rejectedForm,
} from '../components/form.tsx'
import type { FieldState } from '../components/form.tsx'
import { memberPage } from '../components/layout.tsx'
import { Copyable, Empty, Mode, Status, Table, When } from '../components/parts.tsx'
import { requestOf } from '../middleware/session.ts'

const NewKey = z.object({
  name,
  mode: z.enum(MODES, 'Choose a mode.'),
  /** Made with the form: sending the form twice, or reloading its answer, makes one key. */
  id: z.string().refine((id) => isId('key', id)),
})

export const keys = new Hono<ConsoleApp>()
  .get('/', (c) => keysPage(c))
  .post('/', async (c) => {
    const form = await readForm(c, NewKey)
    if (!form.ok) return keysPage(c, form)
    let created
    try {
      created = await createApiKey({ ...requestOf(c), ...form.value })
    } catch (error) {
      return keysPage(c, rejectedForm(error, { name: form.value.name, mode: form.value.mode }))
    }
    if (!created) return c.redirect('/console/settings/api-keys?repeated=1', 303)
    return memberPage(
      c,
      { title: 'Your new API key' },
      <>
        <h1>Your new {form.value.mode} key</h1>
        <Notice kind="info">
          <strong>This key is shown only once.</strong> Store it in a safe place before you leave.
        </Notice>
        <Copyable label="Your new API key" text={created.key} />
        <p>
          <a href="/console/settings/api-keys">I have stored the key: back to the list</a>
        </p>
      </>,
    )
  })
  .post('/:keyId/revoke', async (c) => {
    await revokeApiKey({ ...requestOf(c), keyId: c.req.param('keyId') })
    return c.redirect('/console/settings/api-keys?revoked=1', 303)
  })

async function keysPage(c: ConsoleContext, state: FieldState = {}) {
  const isScheduledForDeletion = c.var.membership.organisation.deleteAfter !== null
  const rows = await listApiKeys(requestOf(c))
  return memberPage(
    c,
    { title: 'API keys', status: state.complaints ? 422 : 200 },
    <>
      <h1>API keys</h1>
      <p>
        A key is shown once, when it is created. To replace a lost key, create a new one, switch to
        it, then revoke the old one. Revoked keys are listed for 90 days.
      </p>
      {c.req.query('revoked') && (
        <Notice kind="good">The key is revoked; requests with it are refused from now on.</Notice>
      )}
      {c.req.query('repeated') && (
        <Notice kind="info">
          This key was created already and shown once; it cannot be shown again. If you have not
          stored it, revoke it and create another.
        </Notice>
      )}
      <FormError state={state} />
      {state.complaints?.['id'] && (
        <Notice kind="bad">This form could not be read. Please send it again.</Notice>
      )}
      {rows.length === 0 ? (
        <Empty title="No keys yet" />
      ) : (
        <Table
          label="API keys"
          columns={['Name', 'Mode', 'Key', 'Created', 'Last used', 'State', 'Action']}
          rows={rows.map((key) => [
            key.name,
            <Mode mode={key.mode} />,
            <code>
              svc_{key.mode}_sk_…{key.lastFour}
            </code>,
            <>
              <When at={key.createdAt} />
              {key.creatorEmail && <span class="by">by {key.creatorEmail}</span>}
            </>,
            <When at={key.lastUsedAt} />,
            <Status status={key.revokedAt ? 'revoked' : 'active'} />,
            key.revokedAt ? (
              <When at={key.revokedAt} />
            ) : (
              <ActionForm
                action={`/console/settings/api-keys/${key.id}/revoke`}
                label="Revoke"
                on={key.name}
                kind="danger"
                confirm={`Revoke “${key.name}” for good? Requests with it are refused at once.`}
              />
            ),
          ])}
        />
      )}
      {!isScheduledForDeletion && <NewKeyForm state={state} />}
    </>,
  )
}

const NewKeyForm = ({ state }: { state: FieldState }) => (
  <section class="card" aria-labelledby="new-key">
    <h2 id="new-key">Create a key</h2>
    <PostForm action="/console/settings/api-keys" novalidate>
      <input type="hidden" name="id" value={newId('key')} />
      <Field
        name="name"
        label="Name"
        hint="For you to tell keys apart, such as “Shop, production”."
        state={state}
        maxlength={100}
      />
      <fieldset class="choices inline">
        <legend>Mode</legend>
        {(['test', 'live'] as const).map((mode) => (
          <label>
            <input
              type="radio"
              name="mode"
              value={mode}
              checked={mode === (state.entered?.['mode'] === 'live' ? 'live' : 'test') || undefined}
            />
            <span>{mode === 'test' ? 'Test' : 'Live'}</span>{' '}
            <small>
              {mode === 'test' ? 'placeholder pictures, free' : 'real pictures, 1 credit each'}
            </small>
          </label>
        ))}
      </fieldset>
      <Button>Create key</Button>
    </PostForm>
  </section>
)
