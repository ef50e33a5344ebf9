// The page of the user's account. Its forms are handled in account-forms.tsx.
import type { NotificationKind } from '../../domain/notification.ts'
import { listPasskeys } from '../../users/passkeys.ts'
import { listSessions } from '../../users/sessions.ts'
import {
  readPreferences,
  type NotificationPreference,
} from '../../users/notification-preferences.ts'
import type { ConsoleContext } from '../console-context.ts'
import { Button, Field, PostForm } from '../components/form.tsx'
import { memberPage } from '../components/layout.tsx'
import { Section, Tabs } from '../components/section.tsx'
import type { FormState } from '../forms.ts'
import { Security } from './account-security.tsx'

/** @param state of the form that was rejected; the names of the fields of all forms differ */
export async function accountPage(c: ConsoleContext, state: FormState = {}) {
  const { id, name, email } = c.var.user
  const [passkeys, sessions, preferences] = await Promise.all([
    listPasskeys(c.env, id),
    listSessions(c.env, id),
    readPreferences(c.env, id),
  ])
  // A rejected form is shown.
  const isSecurity = state.errors && !('display_name' in state.errors || 'email' in state.errors)
  return memberPage(
    c,
    { title: 'Your account', state, script: '/static/passkeys.js' },
    <>
      <p class="address">{name ? `${name} · ${email}` : email}</p>
      <Tabs
        label="Your account"
        shown={isSecurity ? 'security' : 'profile'}
        tabs={[
          ['profile', 'Profile', <Profile name={name} state={state} />],
          ['security', 'Security', <Security {...{ c, passkeys, sessions, state }} />],
          ['notifications', 'Notifications', <Notifications preferences={preferences} />],
        ]}
      />
    </>,
  )
}

const Profile = ({ name, state }: { name: string; state: FormState }) => (
  <>
    <Section id="profile-heading" title="Profile" card>
      <PostForm action="/console/account/name" state={state}>
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
      <details class="confirm plain" open={state.errors?.['email'] ? true : undefined}>
        <summary role="button" class="secondary">
          Change email address
        </summary>
        <PostForm action="/console/account/email" state={state}>
          <Field
            name="email"
            label="New work email"
            type="email"
            autocomplete="email"
            hint="We send a link to the new address. Nothing changes until you open it."
          />
          <Button kind="primary">Send link</Button>
        </PostForm>
      </details>
    </Section>
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
  </>
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

const Notifications = ({ preferences }: { preferences: NotificationPreference[] }) => {
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
                    checked={isOn || undefined}
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
