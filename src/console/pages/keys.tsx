// Lists the API keys of the current mode, and creates and revokes keys. A new key is shown once.
import { z } from 'zod'
import {
  isActive,
  listApiKeys,
  revokeApiKey,
  type ListedApiKey,
} from '../../organisations/api-keys.ts'
import { readCreditUse } from '../../organisations/key-limits.ts'
import { listWorkspaces } from '../../organisations/workspaces.ts'
import { createApiKey } from '../../organisations/create-api-key.ts'
import type { WorkspaceRow } from '../../platform/db/schema.ts'
import { isId, newId } from '../../platform/ids.ts'
import { MODES, type Mode } from '../../domain/job.ts'
import { DAY_MS } from '../../domain/limits.ts'
import { name, readForm, resultOf } from '../forms.ts'
import { ActionForm, Button, Field, PostForm } from '../components/form.tsx'
import { ModeField } from '../components/radio-cards.tsx'
import { keyLimitFields, LimitsForm, limitTexts } from '../components/key-limit-fields.tsx'
import { Notice, Timestamp, Link } from '../components/text.tsx'
import { memberPage } from '../components/layout.tsx'
import { OtherMode } from '../components/mode-switch.tsx'
import { EmptyState, Table, Section } from '../components/section.tsx'
import { requireRecentSignInIf } from '../middleware/recent-sign-in.tsx'
import { mayInAllWorkspaces, createApp, scopeOf, type ConsoleContext } from '../console-context.ts'
import { redirectTo } from '../form-notices.ts'
import { apiKey, KeyText, newKeyPage } from './key.tsx'

const MAX_EXPIRY_DAYS = 3_650

/** The end of the last day; null without one. */
const expires = z
  .string()
  .default('')
  .transform((date) => (date === '' ? null : Date.parse(`${date}T00:00:00Z`) + DAY_MS))
  .refine((at) => !Number.isNaN(at), 'Enter a date.')
  .refine((at) => at === null || at > Date.now(), 'Choose today or a later date.')
  .refine(
    (at) => at === null || at < Date.now() + MAX_EXPIRY_DAYS * DAY_MS,
    'Choose a date in the next 10 years.',
  )
  .transform((at) => (at === null ? null : new Date(at)))

const NewKey = z
  .object({
    name,
    mode: z.enum(MODES, 'Choose a mode.'),
    expires,
    /** Generated with the form: sending the form twice, or reloading the response, creates one key. */
    id: z.string().refine((id) => isId('key', id)),
  })
  .and(LimitsForm)

/** A live key can spend credits, so creating one requires a recent sign-in. */
const recentSignInForLive = requireRecentSignInIf(({ mode }) => mode === 'live')

export const keys = createApp()
  .get('/', (c) => keysPage(c))
  .post('/', recentSignInForLive, async (c) => {
    const { name, mode, id, expires: expiresAt, ...limits } = await readForm(c, NewKey, keysPage)
    const creating = createApiKey({ ...scopeOf(c), name, mode, id, expiresAt, limits })
    const created = await resultOf(c, keysPage, creating)
    if (!created) return redirectTo(c, '/settings/api-keys', 'key_repeated')
    return newKeyPage(c, { key: created.key, mode })
  })
  .post('/:keyId/revoke', async (c) => {
    await revokeApiKey({ ...scopeOf(c), keyId: c.req.param('keyId') })
    return redirectTo(c, '/settings/api-keys', 'key_revoked')
  })
  .route('/', apiKey)

async function keysPage(c: ConsoleContext) {
  const { mode, membership } = c.var
  const mayManage = mayInAllWorkspaces(c, 'develop')
  const [all, workspaces] = await Promise.all([listApiKeys(scopeOf(c)), listWorkspaces(scopeOf(c))])
  const ofMode = all.filter((key) => key.mode === mode)
  const active = ofMode.filter(isActive)
  const ended = ofMode.filter((key) => !isActive(key))
  const use = await readCreditUse(scopeOf(c), active)
  const inOtherMode = all.filter((key) => key.mode !== mode && isActive(key)).length
  const otherMode = <OtherMode mode={mode} count={inOtherMode} noun="API key" />
  return memberPage(
    { c, title: 'API keys' },
    <>
      <p>
        An API key is shown only once, when you create it. To replace a lost or leaked key, open the
        key and replace it. See <a href="/docs/authentication">how to authenticate</a> and the{' '}
        <a href="/docs/quick-start">quick start</a>.
      </p>
      {c.var.form?.errors?.['id'] && <Notice kind="bad">The form is invalid. Try again.</Notice>}
      <Table
        label="API keys"
        empty={<EmptyState title={`No ${mode} API keys`}>{otherMode}</EmptyState>}
        columns={['Name', 'Key', 'Limits', 'Created', 'Last used', 'Expires', 'Actions']}
        rows={active.map((key) => [
          <KeyLink to={key} />,
          <KeyText of={key} />,
          limitTexts(key, workspaces, use.get(key.id)).map((text, index) =>
            index === 0 ? text : <span class="subline">{text}</span>,
          ),
          <Created of={key} />,
          <Timestamp as="ago" at={key.lastUsedAt} />,
          <Timestamp as="day" at={key.revokedAt} none="No expiry" />,
          mayManage && (
            <ActionForm
              to={`/settings/api-keys/${key.id}/revoke`}
              label="Revoke"
              on={key.name}
              kind="danger"
              confirm={`Revoke “${key.name}”? Requests with this key will be rejected immediately. You cannot undo this.`}
            />
          ),
        ])}
      />
      {active.length > 0 && otherMode}
      {ended.length > 0 && <EndedKeys keys={ended} />}
      {!mayManage && (
        <p class="muted">
          You are limited to some workspaces. Only members with access to all of them can create,
          change and revoke API keys.
        </p>
      )}
      {mayManage && membership.organisation.deleteAfter === null && newKeyForm(mode, workspaces)}
    </>,
  )
}

const EndedKeys = ({ keys }: { keys: ListedApiKey[] }) => (
  <details class="more">
    <summary>
      {keys.length} revoked or expired {keys.length === 1 ? 'key' : 'keys'}
    </summary>
    <p class="muted">Revoked and expired keys are listed for 90 days.</p>
    <Table
      label="Revoked and expired API keys"
      columns={['Name', 'Key', 'Created', 'Last used', 'Ended']}
      rows={keys.map((key) => [
        <KeyLink to={key} />,
        <KeyText of={key} />,
        <Created of={key} />,
        <Timestamp as="ago" at={key.lastUsedAt} />,
        <Timestamp as="day" at={key.revokedAt} />,
      ])}
    />
  </details>
)

/** A long name is cut. It is shown in full on hover and on focus. */
const KeyLink = ({ to: { id, name: label } }: { to: ListedApiKey }) => (
  <Link class="name" to={`/settings/api-keys/${id}`}>
    <span title={label}>{label}</span>
  </Link>
)

const Created = ({ of: { createdAt, creatorEmail } }: { of: ListedApiKey }) => (
  <>
    <Timestamp as="day" at={createdAt} />
    {creatorEmail && <span class="subline">by {creatorEmail}</span>}
  </>
)

const newKeyForm = (mode: Mode, workspaces: WorkspaceRow[]) => (
  <Section id="new-key" title="Create an API key" card>
    <PostForm to="/settings/api-keys" fields={{ id: newId('key') }}>
      <Field
        name="name"
        label="Name"
        hint="A name to identify the key, such as “Shop, production”."
        maxlength={100}
      />
      <Field
        name="expires"
        label="Last day"
        type="date"
        required={false}
        min={new Date().toISOString().slice(0, 10)}
        hint="Requests with the key are rejected after this day (UTC). Without a date, the key does not expire."
      />
      <ModeField
        mode={mode}
        hints={{ test: 'Placeholder results, free', live: 'Real results, 1 credit each' }}
      />
      {keyLimitFields(workspaces)}
      <Button>Create API key</Button>
    </PostForm>
  </Section>
)
