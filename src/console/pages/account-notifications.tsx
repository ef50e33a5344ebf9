// The section "Notifications" of the account page: a checkbox for each notification.
import { Hono } from 'hono'
import type { NotificationKind } from '../../domain/notification.ts'
import type { NotificationPreference } from '../../users/notification-preferences.ts'
import { updatePreferences } from '../../users/notification-preferences.ts'
import type { ConsoleApp } from '../console-context.ts'
import { actorOf } from '../middleware/session.ts'
import { redirectWithNotice } from '../form-notices.ts'
import { Button, PostForm } from '../components/form.tsx'

const LABELS: Record<NotificationKind, { label: string; text: string }> = {
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

export const NotificationSettings = ({
  preferences,
}: {
  preferences: NotificationPreference[]
}) => {
  const groups = Map.groupBy(preferences, ({ organisation }) => organisation?.id ?? '')
  return (
    <section class="card" id="notifications" aria-labelledby="notifications-heading">
      <h2 id="notifications-heading">Notifications</h2>
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
                  {LABELS[kind].label}
                </label>
                <small id={`${name}-hint`}>{LABELS[kind].text}</small>
              </div>
            ))}
          </fieldset>
        ))}
        <Button>Save notifications</Button>
      </PostForm>
    </section>
  )
}

export const notifications = new Hono<ConsoleApp>().post('/', async (c) => {
  const form = await c.req.formData()
  const on = new Set(form.getAll('on'))
  const choices = new Map(form.getAll('shown').map((name) => [String(name), on.has(name)]))
  await updatePreferences({ env: c.env, actor: actorOf(c), choices })
  return redirectWithNotice(c, '/console/account#notifications', 'notifications_saved')
})
