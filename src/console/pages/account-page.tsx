// The page of the user's account. Its forms are handled in the other files account-*.tsx.
import { listPasskeys } from '../../accounts/passkeys.ts'
import { listSessions } from '../../accounts/sessions.ts'
import { readPreferences } from '../../notifications/preferences.ts'
import type { ConsoleContext } from '../context.ts'
import {
  Button,
  CodeField,
  CurrentPasswordField,
  Field,
  NewPasswordField,
  PostForm,
} from '../components/form.tsx'
import { memberPage } from '../components/layout.tsx'
import { NotificationSettings } from '../components/notification-settings.tsx'
import { Notice } from '../components/notice.tsx'
import type { FormState } from '../read-form.ts'
import { PasskeySection } from './account-passkeys-section.tsx'
import { SessionSection } from './account-sessions-section.tsx'

export const ACCOUNT_PAGE = '/console/account'

/** By the query parameter `done`. */
const DONE: Record<string, string> = {
  name: 'Name saved.',
  email: 'Email address changed. All other sessions have been signed out.',
  passkey: 'Passkey added. You can now sign in with it.',
  'passkey-renamed': 'Passkey renamed.',
  'passkey-removed': 'Passkey removed. It no longer signs in.',
  session: 'Session signed out.',
  sessions: 'All other sessions have been signed out.',
}

/** @param state of the form that was rejected; the names of the fields of all forms differ */
export async function accountPage(c: ConsoleContext, state: FormState = {}) {
  const { user } = c.var
  const [passkeys, sessions, preferences] = await Promise.all([
    listPasskeys(c.env, user.id),
    listSessions(c.env, user.id),
    readPreferences(c.env, user.id),
  ])
  const done = DONE[c.req.query('done') ?? '']
  return memberPage(
    c,
    {
      title: 'Your account',
      status: state.errors ? 422 : 200,
      stylesheet: '/static/account.css',
      script: '/static/passkeys.js',
    },
    <>
      <h1>Your account</h1>
      <p class="address">{user.name ? `${user.name} · ${user.email}` : user.email}</p>
      {done && <Notice kind="good">{done}</Notice>}
      {c.req.query('notifications') && <Notice kind="good">Notifications saved.</Notice>}
      {c.req.query('changed') && (
        <Notice kind="good">Password changed. All other sessions have been signed out.</Notice>
      )}
      <Profile c={c} state={state} />
      <section class="card" aria-labelledby="password-heading">
        <h2 id="password-heading">Password</h2>
        <PostForm action="/console/account/password" novalidate>
          <input type="hidden" autocomplete="username" value={user.email} />
          <CurrentPasswordField name="current" label="Current password" state={state} />
          {user.hasTwoFactor && (
            <CodeField name="code" label="Code of your authenticator app" state={state} />
          )}
          <NewPasswordField
            label="New password"
            consequence="You will be signed out everywhere else."
            state={state}
          />
          <Button>Change password</Button>
        </PostForm>
      </section>
      <section class="card" aria-labelledby="two-factor-heading">
        <h2 id="two-factor-heading">
          Two-factor authentication{' '}
          <span class={user.hasTwoFactor ? 'badge good' : 'badge off'}>
            {user.hasTwoFactor ? 'on' : 'off'}
          </span>
        </h2>
        <p>
          {user.hasTwoFactor
            ? 'Signing in with your password also requires a code of your authenticator app.'
            : 'Protect your account with a code of an authenticator app, in addition to your password.'}
        </p>
        <a href="/console/account/two-factor" role="button" class="secondary">
          {user.hasTwoFactor ? 'Manage' : 'Set up'}{' '}
          <span class="visually-hidden">two-factor authentication</span>
        </a>
      </section>
      <PasskeySection c={c} passkeys={passkeys} state={state} />
      <SessionSection c={c} sessions={sessions} />
      <NotificationSettings preferences={preferences} />
      <section class="card" aria-labelledby="data-heading">
        <h2 id="data-heading">Your data</h2>
        <p>Downloads your profile, passkeys, sessions and memberships as a JSON file.</p>
        <PostForm action="/console/account/export" data-download>
          <Button kind="secondary">Export as JSON</Button>
        </PostForm>
      </section>
      <section class="card" aria-labelledby="delete-heading">
        <h2 id="delete-heading">Delete your account</h2>
        <p>The next page shows what will be deleted and asks for your password.</p>
        <a href="/console/account/delete" role="button" class="secondary">
          Delete your account
        </a>
      </section>
      <p class="aside">
        <a href="/console/invitations">Your invitations</a>
      </p>
    </>,
  )
}

const Profile = ({ c, state }: { c: ConsoleContext; state: FormState }) => (
  <section class="card" aria-labelledby="profile-heading">
    <h2 id="profile-heading">Profile</h2>
    <PostForm action="/console/account/name" novalidate>
      <Field
        name="display_name"
        label="Name"
        required={false}
        maxlength={100}
        autocomplete="name"
        hint="Shown to the members of your organisations."
        value={c.var.user.name}
        state={state}
      />
      <Button kind="secondary">Save name</Button>
    </PostForm>
    <details class="confirm plain" open={state.errors?.['email'] ? true : undefined}>
      <summary role="button" class="secondary">
        Change email address
      </summary>
      <PostForm action="/console/account/email" novalidate>
        <Field
          name="email"
          label="New work email"
          type="email"
          autocomplete="email"
          hint="We send a link to the new address. Nothing changes until you open it."
          state={state}
        />
        <Button kind="primary">Send link</Button>
      </PostForm>
    </details>
    {c.req.query('sent') && (
      <Notice kind="info">
        We sent a link to the new address. Open it within one hour to complete the change.
      </Notice>
    )}
  </section>
)
