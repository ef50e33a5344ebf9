// The page of the user's account. Its forms are handled in account-forms.tsx.
import type { NotificationKind } from '../../domain/notification.ts'
import type { PasskeyRow } from '../../platform/db/auth-schema.ts'
import { listPasskeys, MAX_PASSKEYS } from '../../users/passkeys.ts'
import { listSessions } from '../../users/sessions.ts'
import { readPreferences } from '../../users/notification-preferences.ts'
import { IdentityFields } from '../confirm-identity.tsx'
import type { ConsoleContext } from '../console-context.ts'
import { NewPasswordField, PasskeyInput } from '../components/credential-fields.tsx'
import {
  ActionForm,
  Button,
  Field,
  FoldedForm,
  FormError,
  NameField,
  PostForm,
} from '../components/form.tsx'
import { Aside, memberPage } from '../components/layout.tsx'
import { Section, Table, Tabs } from '../components/section.tsx'
import { Timestamp, ButtonLink } from '../components/text.tsx'
import { deviceOf } from '../device.ts'

export function accountPage(c: ConsoleContext) {
  const { name, email } = c.var.user
  // A rejected form is shown.
  const { errors } = c.var.form ?? {}
  const isSecurity = errors && !('display_name' in errors || 'email' in errors)
  return memberPage(
    { c, title: 'Your account', script: '/static/passkeys.js' },
    <>
      <p class="address">{name ? `${name} · ${email}` : email}</p>
      <Tabs
        label="Your account"
        shown={isSecurity ? 'security' : 'profile'}
        tabs={[
          ['profile', 'Profile', <Profile name={name} />],
          ['security', 'Security', <Security c={c} />],
          ['notifications', 'Notifications', <Notifications c={c} />],
        ]}
      />
    </>,
  )
}

const Profile = ({ name }: { name: string }) => (
  <>
    <Section id="profile-heading" title="Profile" card>
      <PostForm action="/console/account/name">
        <Field
          name="display_name"
          label="Name"
          required={false}
          maxlength={100}
          autocomplete="name"
          hint="Shown to the members of your organisations."
          value={name}
        />
        <Button kind="secondary">Save name</Button>
      </PostForm>
      <FoldedForm action="/console/account/email" label="Change email address">
        <Field
          name="email"
          label="New work email"
          type="email"
          autocomplete="email"
          hint="We send a link to the new address. Nothing changes until you open it."
        />
        <Button kind="primary">Send link</Button>
      </FoldedForm>
    </Section>
    <Section id="data-heading" title="Your data" card>
      <p>Downloads your profile, passkeys, sessions and memberships as a JSON file.</p>
      <PostForm action="/console/account/export" data-download>
        <Button kind="secondary">Export as JSON</Button>
      </PostForm>
    </Section>
    <Section id="delete-heading" title="Delete your account" card>
      <p>The next page shows what will be deleted and asks for your password.</p>
      <ButtonLink href="/console/account/delete" label="Delete your account" />
    </Section>
    <Aside links={[['/console/invitations', 'Your invitations']]} />
  </>
)

const Security = async ({ c }: { c: ConsoleContext }) => {
  const { id, hasTwoFactor } = c.var.user
  const [passkeys, sessions] = await Promise.all([listPasskeys(c.env, id), listSessions(c.env, id)])
  return (
    <>
      <Section id="password-heading" title="Password" card>
        <PostForm action="/console/account/password">
          <IdentityFields user={c.var.user} label="Current password" passwordName="current" />
          <NewPasswordField
            label="New password"
            consequence="You will be signed out everywhere else."
          />
          <Button>Change password</Button>
        </PostForm>
      </Section>
      <Section
        id="two-factor-heading"
        title={
          <>
            Two-factor authentication{' '}
            <span class={hasTwoFactor ? 'badge good' : 'badge off'}>
              {hasTwoFactor ? 'on' : 'off'}
            </span>
          </>
        }
        card
      >
        <p>
          {hasTwoFactor
            ? 'Signing in with your password also requires a code of your authenticator app.'
            : 'Protect your account with a code of an authenticator app, in addition to your password.'}
        </p>
        <ButtonLink
          href="/console/account/two-factor"
          label={hasTwoFactor ? 'Manage' : 'Set up'}
          on="two-factor authentication"
        />
      </Section>
      <Section id="passkeys-heading" title="Passkeys" card>
        <p>
          Sign in with your fingerprint, face or PIN, without password and code. A passkey works
          only on this website, so it cannot be phished.
        </p>
        <FormError state={c.var.form} of="credential" />
        {/* Of a new name. */}
        <FormError state={c.var.form} of="name" />
        {passkeys.length > 0 && <Passkeys passkeys={passkeys} />}
        {passkeys.length >= MAX_PASSKEYS ? (
          <p class="muted">You have the maximum of {MAX_PASSKEYS} passkeys.</p>
        ) : (
          <NewPasskey device={deviceOf(c.req.header('User-Agent'))} />
        )}
      </Section>
      <Section id="sessions-heading" title="Sessions" card>
        <p>
          The browsers that are signed in to your account. Sign out those that you do not recognise,
          and change your password.
        </p>
        {sessionTable(sessions, c.var.user.sessionId)}
        <div class="buttons">
          {sessions.length > 1 && (
            <ActionForm
              action="/console/account/sessions/sign-out-others"
              label="Sign out all others"
            />
          )}
          <ActionForm action="/console/account/sign-out-everywhere" label="Sign out everywhere" />
        </div>
      </Section>
    </>
  )
}

const Passkeys = ({ passkeys }: { passkeys: PasskeyRow[] }) => (
  <Table
    label="Passkeys"
    columns={['Name', 'Created', 'Last used', 'Actions']}
    rows={passkeys.map(({ id, name, createdAt, lastUsedAt }) => [
      <strong class="name">{name}</strong>,
      <Timestamp at={createdAt} />,
      <Timestamp at={lastUsedAt} />,
      <div class="buttons">
        <FoldedForm
          action={`/console/account/passkeys/${id}/rename`}
          label="Rename"
          on={name}
          state={{}}
        >
          <NameField id={`name-${id}`} value={name} />
          <Button aria-label={`Save ${name}`}>Save</Button>
        </FoldedForm>
        <ActionForm
          action={`/console/account/passkeys/${id}/remove`}
          label="Remove"
          on={name}
          confirm="This passkey will no longer sign in. Also delete it on your device."
          kind="danger"
        />
      </div>,
    ])}
  />
)

const NewPasskey = ({ device }: { device: string }) => (
  <>
    <PostForm
      action="/console/account/passkeys"
      data-passkey="create"
      data-options="/console/account/passkeys/options"
      hidden
    >
      <NameField name="passkey_name" label="Name of the new passkey" value={device} />
      <PasskeyInput label="Add a passkey" />
    </PostForm>
    <p class="muted" data-without-passkeys>
      Passkeys need JavaScript and a browser that supports them.
    </p>
  </>
)

const sessionTable = (sessions: Awaited<ReturnType<typeof listSessions>>, currentId: string) => (
  <Table
    label="Sessions"
    columns={['Device', 'IP address', 'Signed in', 'Last active', 'Actions']}
    rows={sessions.map(({ id, userAgent, ipAddress, signedInAt, lastActiveAt }) => [
      deviceOf(userAgent),
      <span class="id">{ipAddress || 'Unknown'}</span>,
      <Timestamp at={signedInAt} />,
      <Timestamp at={lastActiveAt} />,
      id === currentId ? (
        <strong>This session</strong>
      ) : (
        <ActionForm
          action={`/console/account/sessions/${id}/sign-out`}
          label="Sign out"
          on={deviceOf(userAgent)}
        />
      ),
    ])}
  />
)

const NOTIFICATIONS: Record<NotificationKind, { label: string; text: string }> = {
  new_sign_in: {
    label: 'New sign-in',
    text: 'Someone signs in to your account with a browser that was not used before.',
  },
  api_key_created: { label: 'New API key', text: 'A member or support staff creates an API key.' },
  webhook_failing: {
    label: 'Failing webhooks',
    text: 'Deliveries to an endpoint fail for 30 minutes, or the endpoint is disabled.',
  },
  low_balance: { label: 'Low balance', text: 'Credits are running low or are used up.' },
  credit_limit: {
    label: 'Credit limits',
    text: 'An API key or a workspace has used 80% of its credits of the month.',
  },
}

const Notifications = async ({ c }: { c: ConsoleContext }) => {
  const preferences = await readPreferences(c.env, c.var.user.id)
  const groups = Map.groupBy(preferences, ({ organisation }) => organisation?.id)
  return (
    <Section id="notifications-heading" title="Notifications" card>
      <p>We send these emails to you. Emails about changes of your sign-in are always sent.</p>
      <PostForm action="/console/account/notifications">
        {[...groups.values()].map((group) => (
          <fieldset>
            <legend>{group[0]?.organisation?.name ?? 'Your account'}</legend>
            {group.map(({ name, kind, isOn }) => (
              <div class="field">
                {/* Names the checkboxes of the form: a browser sends only checked ones. */}
                <input type="hidden" name="shown" value={name} />
                <label>
                  <input
                    type="checkbox"
                    name="on"
                    value={name}
                    checked={isOn}
                    aria-describedby={`${name}-hint`}
                  />
                  {NOTIFICATIONS[kind].label}
                </label>
                <small id={`${name}-hint`}>{NOTIFICATIONS[kind].text}</small>
              </div>
            ))}
          </fieldset>
        ))}
        <Button>Save notifications</Button>
      </PostForm>
    </Section>
  )
}
