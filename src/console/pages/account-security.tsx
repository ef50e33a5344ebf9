// The tab "Security" of the account page: password, two-factor authentication, passkeys and sessions.
import type { listSessions } from '../../users/sessions.ts'
import { MAX_PASSKEYS } from '../../users/passkeys.ts'
import type { PasskeyRow } from '../../platform/db/auth-schema.ts'
import type { ConsoleContext } from '../console-context.ts'
import { NewPasswordField, PasskeyInput } from '../components/credential-fields.tsx'
import { IdentityFields } from '../confirm-identity.tsx'
import { ActionForm, Button, Field, FormError, PostForm, RenameForm } from '../components/form.tsx'
import { Section, Table } from '../components/section.tsx'
import { Timestamp } from '../components/text.tsx'
import { deviceOf } from '../device.ts'
import type { FormState } from '../forms.ts'

interface SecurityProps {
  c: ConsoleContext
  passkeys: PasskeyRow[]
  sessions: Awaited<ReturnType<typeof listSessions>>
  state: FormState
}

export const Security = ({ c, passkeys, sessions, state }: SecurityProps) => {
  const { hasTwoFactor } = c.var.user
  return (
    <>
      <Section id="password-heading" title="Password" card>
        <PostForm action="/console/account/password" state={state}>
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
        <a href="/console/account/two-factor" role="button" class="secondary">
          {hasTwoFactor ? 'Manage' : 'Set up'}{' '}
          <span class="visually-hidden">two-factor authentication</span>
        </a>
      </Section>
      <Section id="passkeys-heading" title="Passkeys" card>
        <p>
          Sign in with your fingerprint, face or PIN, without password and code. A passkey works
          only on this website, so it cannot be phished.
        </p>
        {state.errors?.['credential'] && (
          <FormError state={{ errors: { '': state.errors['credential'] } }} />
        )}
        {passkeys.length > 0 && <Passkeys passkeys={passkeys} />}
        {passkeys.length >= MAX_PASSKEYS ? (
          <p class="muted">You have the maximum of {MAX_PASSKEYS} passkeys.</p>
        ) : (
          <NewPasskey device={deviceOf(c.req.header('User-Agent'))} state={state} />
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

const Passkeys = ({ passkeys }: Pick<SecurityProps, 'passkeys'>) => (
  <Table
    label="Passkeys"
    columns={['Name', 'Created', 'Last used', 'Actions']}
    rows={passkeys.map(({ id, name, createdAt, lastUsedAt }) => [
      <strong class="name">{name}</strong>,
      <Timestamp at={createdAt} />,
      <Timestamp at={lastUsedAt} />,
      <div class="buttons">
        <RenameForm
          action={`/console/account/passkeys/${id}/rename`}
          current={name}
          id={`name-${id}`}
          label="Name"
          submit="Save"
        />
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

const NewPasskey = ({ device, state }: { device: string; state: FormState }) => (
  <>
    <PostForm
      action="/console/account/passkeys"
      data-passkey="create"
      data-options="/console/account/passkeys/options"
      hidden
    >
      <Field
        name="passkey_name"
        label="Name of the new passkey"
        maxlength={100}
        autocomplete="off"
        value={device}
        state={state}
      />
      <PasskeyInput label="Add a passkey" />
    </PostForm>
    <p class="muted" data-without-passkeys>
      Passkeys need JavaScript and a browser that supports them.
    </p>
  </>
)

const sessionTable = (sessions: SecurityProps['sessions'], currentId: string) => (
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
