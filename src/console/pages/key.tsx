// The page of one API key: what is known about it, its name, its replacement and its revocation.
import { z } from 'zod'
import {
  isActive,
  readApiKey,
  renameApiKey,
  type ListedApiKey,
} from '../../organisations/api-keys.ts'
import { OVERLAP_HOURS, rollApiKey } from '../../organisations/create-api-key.ts'
import { updateKeyLimits, readCreditUse } from '../../organisations/key-limits.ts'
import { listWorkspaces } from '../../organisations/workspaces.ts'
import type { Mode } from '../../domain/job.ts'
import { isId, newId } from '../../platform/ids.ts'
import { ModeBadge, StatusBadge, Link, Notice, Timestamp } from '../components/text.tsx'
import { memberPage } from '../components/layout.tsx'
import { CopyableId, CopyableText } from '../components/copyable-text.tsx'
import { ActionForm, Button, Field, PostForm, Select } from '../components/form.tsx'
import { keyLimitFields, LimitsForm, limitTexts } from '../components/key-limit-fields.tsx'
import { idIn, name, readForm, resultOf } from '../forms.ts'
import { requireRecentSignIn } from '../middleware/recent-sign-in.tsx'
import { mayInAllWorkspaces, createApp, scopeOf, type ConsoleContext } from '../console-context.ts'
import { redirectTo } from '../form-notices.ts'
import { detailList, Section } from '../components/section.tsx'

const OVERLAP_LABELS: Record<(typeof OVERLAP_HOURS)[number], string> = {
  0: 'Immediately',
  1: 'In 1 hour',
  24: 'In 24 hours',
  72: 'In 72 hours',
}
const DEFAULT_OVERLAP_HOURS = 24

const Roll = z.object({
  overlap: z
    .string()
    .transform(Number)
    .pipe(z.literal([...OVERLAP_HOURS], 'Choose when the old key stops working.')),
  /** Generated with the form, so that sending it twice creates one key. */
  id: z.string().refine((id) => isId('key', id)),
})

export const apiKey = createApp()
  .get('/:keyId', (c) => keyPage(c))
  // The address of a form that was rejected.
  .get('/:keyId/:form', (c) => redirectTo(c, pageOf(c)))
  .post('/:keyId/rename', async (c) => {
    const named = await readForm(c, z.object({ name }), keyPage)
    const renamed = await renameApiKey({ ...keyIn(c), ...named })
    return redirectTo(c, pageOf(c), renamed ? 'key_renamed' : 'key_ended')
  })
  // Wider limits let a key that may have leaked do more.
  .post('/:keyId/limits', requireRecentSignIn, async (c) => {
    const limits = await readForm(c, LimitsForm, keyPage)
    const isSaved = await resultOf(c, keyPage, updateKeyLimits({ ...keyIn(c), limits }))
    return redirectTo(c, pageOf(c), isSaved ? 'key_limits_saved' : 'key_ended')
  })
  // A live key can spend credits, and the page shows the new key.
  .post('/:keyId/roll', requireRecentSignIn, async (c) => {
    const { overlap, id } = await readForm(c, Roll, keyPage)
    const rolling = rollApiKey({ ...keyIn(c), overlapHours: overlap, id })
    const rolled = await resultOf(c, keyPage, rolling)
    if (!rolled) return redirectTo(c, '/settings/api-keys', 'key_repeated')
    const replaced = await readApiKey(keyIn(c))
    return newKeyPage(c, { key: rolled.key, mode: replaced.mode, replaced })
  })

const keyIdIn = (c: ConsoleContext) => idIn(c, 'keyId', 'key')

const keyIn = (c: ConsoleContext) => ({ ...scopeOf(c), keyId: keyIdIn(c) })

const pageOf = (c: ConsoleContext) => `/settings/api-keys/${keyIdIn(c)}`

/** Shows a new key, which cannot be shown again. @param replaced the old key, with the time of its end */
export const newKeyPage = (
  c: ConsoleContext,
  { key, mode, replaced }: { key: string; mode: Mode; replaced?: ListedApiKey },
) =>
  memberPage(
    { c, title: 'Your new API key', heading: `Your new ${mode} API key` },
    <>
      <Notice kind="info">
        <strong>This key is shown only once.</strong> Store it in a safe place.
      </Notice>
      <CopyableText label="Your new API key" text={key} />
      {replaced && (
        <p>
          The old key <KeyText of={replaced} />{' '}
          {isActive(replaced) ? (
            <>
              works until <Timestamp at={replaced.revokedAt} />. Replace it in your application
              before then.
            </>
          ) : (
            'no longer works.'
          )}
        </p>
      )}
      <p>
        <a href="/docs/quick-start">Use the key in a first request</a>
      </p>
      <p>
        <Link to="/settings/api-keys">I have stored the key. Back to API keys</Link>
      </p>
    </>,
  )

export const KeyText = ({ of: key }: { of: Pick<ListedApiKey, 'mode' | 'lastFour'> }) => (
  <code class="key-text">{`svc_${key.mode}_sk_…${key.lastFour}`}</code>
)

async function keyPage(c: ConsoleContext) {
  const [key, workspaces] = await Promise.all([readApiKey(keyIn(c)), listWorkspaces(scopeOf(c))])
  const use = await readCreditUse(scopeOf(c), [key])
  const active = isActive(key)
  const page = pageOf(c)
  return memberPage(
    { c, title: key.name, above: { '/settings/api-keys': 'API keys' } },
    <>
      {detailList({
        Status: (
          <>
            <ModeBadge mode={key.mode} /> <StatusBadge status={active ? 'active' : 'revoked'} />
          </>
        ),
        Key: <KeyText of={key} />,
        'Key ID': <CopyableId id={key.id} label="key ID" />,
        Created: (
          <>
            <Timestamp at={key.createdAt} />
            {key.creatorEmail && ` by ${key.creatorEmail}`}
          </>
        ),
        'Last used': <Timestamp at={key.lastUsedAt} />,
        [active ? 'Expires' : 'Ended']: key.revokedAt ? (
          <Timestamp at={key.revokedAt} />
        ) : (
          'No expiry'
        ),
        Limits: limitTexts(key, workspaces, use.get(key.id)).join(', '),
        Jobs: <Link to={`/jobs?key=${key.id}`}>View jobs submitted with this key</Link>,
      })}
      {mayInAllWorkspaces(c, 'develop') && active && (
        <>
          <Section id="rename" title="Rename" card>
            <PostForm to={`${page}/rename`}>
              <Field name="name" label="Name" value={key.name} maxlength={100} />
              <Button kind="secondary">Rename</Button>
            </PostForm>
          </Section>
          <Section id="limits" title="Limits" card>
            <PostForm to={`${page}/limits`}>
              {keyLimitFields(workspaces, key)}
              <Button kind="secondary">Save limits</Button>
            </PostForm>
          </Section>
          {c.var.membership.organisation.deleteAfter === null && rollForm(key, `${page}/roll`)}
          <Section id="revoke" title="Revoke" card>
            <p>Requests with this key will be rejected immediately. You cannot undo this.</p>
            <ActionForm
              to={`${page}/revoke`}
              label="Revoke this key"
              kind="danger"
              confirm={`Revoke “${key.name}”?`}
            />
          </Section>
        </>
      )}
    </>,
  )
}

const rollForm = ({ name: label, revokedAt }: ListedApiKey, to: string) => (
  <Section id="roll" title="Replace" card>
    <p>
      Creates a new key with the name “{label}”. The old key continues to work for the time that you
      choose, so that you can deploy the new one first.
      {revokedAt && (
        <>
          {' '}
          Like the old key, the new one expires on <Timestamp at={revokedAt} />.
        </>
      )}
    </p>
    <PostForm to={to} fields={{ id: newId('key') }}>
      <Select
        name="overlap"
        label="The old key stops working"
        value={String(DEFAULT_OVERLAP_HOURS)}
        options={OVERLAP_HOURS.map((hours) => [String(hours), OVERLAP_LABELS[hours]])}
      />
      <Button kind="secondary">Replace key</Button>
    </PostForm>
  </Section>
)
