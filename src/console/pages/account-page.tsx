// The page of the user's account. Its forms are handled in the other files account-*.tsx.
import { listPasskeys } from '../../users/passkeys.ts'
import { listSessions } from '../../users/sessions.ts'
import { readPreferences } from '../../users/notification-preferences.ts'
import type { ConsoleContext, SessionUser } from '../console-context.ts'
import {
  CodeField,
  CurrentPasswordField,
  NewPasswordField,
} from '../components/credential-fields.tsx'
import { Button, Field, PostForm } from '../components/form.tsx'
import { memberPage } from '../components/layout.tsx'
import { NotificationSettings } from './account-notifications.tsx'
import type { FormState } from '../read-form.ts'
import { PasskeySection } from './account-passkeys-section.tsx'
import { Section } from '../components/section.tsx'
import { Tabs } from '../components/tabs.tsx'
import { SessionSection } from './account-sessions-section.tsx'

export const ACCOUNT_PAGE = '/console/account'

/** @param state of the form that was rejected; the names of the fields of all forms differ */
export async function accountPage(c: ConsoleContext, state: FormState = {}) {
  const { user } = c.var
  const [passkeys, sessions, preferences] = await Promise.all([
    listPasskeys(c.env, user.id),
    listSessions(c.env, user.id),
    readPreferences(c.env, user.id),
  ])
  // A rejected form is shown.
  const isSecurity = state.errors && !('display_name' in state.errors || 'email' in state.errors)
  return memberPage(
    c,
    {
      title: 'Your account',
      status: state.errors ? 422 : 200,
      script: '/static/passkeys.js',
    },
    <>
      <h1>Your account</h1>
      <p class="address">{user.name ? `${user.name} · ${user.email}` : user.email}</p>
      <Tabs
        label="Your account"
        shown={isSecurity ? 'security' : 'profile'}
        tabs={[
          [
            'profile',
            'Profile',
            <>
              <Profile user={user} state={state} />
              <Section id="data-heading" title="Your data" card>
                <p>Downloads your profile, passkeys, sessions and memberships as a JSON file.</p>
                <PostForm action="/console/account/export" data-download>
                  <Button kind="secondary">Export as JSON</Button>
                </PostForm>
              </Section>
              <Section id="delete-heading" title="Delete your account" card>
                <p>The next page shows what will be deleted and asks for your password.</p>
                <a href="/console/account/delete" role="button" class="secondary">
                  Delete your account
                </a>
              </Section>
              <p class="aside">
                <a href="/console/invitations">Your invitations</a>
              </p>
            </>,
          ],
          [
            'security',
            'Security',
            <>
              <Section id="password-heading" title="Password" card>
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
              </Section>
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
            </>,
          ],
          ['notifications', 'Notifications', <NotificationSettings preferences={preferences} />],
        ]}
      />
    </>,
  )
}

const Profile = ({ user, state }: { user: SessionUser; state: FormState }) => (
  <Section id="profile-heading" title="Profile" card>
    <PostForm action="/console/account/name" novalidate>
      <Field
        name="display_name"
        label="Name"
        required={false}
        maxlength={100}
        autocomplete="name"
        hint="Shown to the members of your organisations."
        value={user.name}
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
  </Section>
)
