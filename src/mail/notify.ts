// Sends notifications by email to the members whose role fits and who have not switched them off.
import { and, eq, inArray, isNull, sql } from 'drizzle-orm'
import { members, mutedNotifications, users } from '../platform/db/auth-schema.ts'
import { database } from '../platform/db/database.ts'
import { organisations } from '../platform/db/schema.ts'
import { consolePath } from '../domain/console-path.ts'
import { rolesFor } from '../domain/notification.ts'
import type { OrganisationNotification } from '../domain/notification.ts'
import { log } from '../platform/log.ts'
import { apiKeyCreatedEmail, webhookFailingEmail } from './notification-mail.tsx'
import type { ApiKeyCreated, WebhookFailing } from './notification-mail.tsx'
import { sendEmail } from './send.ts'
import type { Email } from './templates.tsx'
import { settingsOf } from '../platform/settings.ts'

interface Recipients {
  env: Env
  organisationId: string
}

type Notification =
  ({ kind: 'api_key_created' } & ApiKeyCreated) | ({ kind: 'webhook_failing' } & WebhookFailing)

/**
 * Notifies the members of an organisation. Does not throw: a failure is logged and stops no action. Run
 * it in `waitUntil` where a user waits for the response.
 */
export async function notify({
  env,
  organisationId,
  notification,
}: Recipients & { notification: Notification }): Promise<void> {
  const { kind } = notification
  if (!canSendEmail(env)) return
  try {
    const [organisation] = await database(env)
      .select({ name: organisations.name })
      .from(organisations)
      .where(eq(organisations.id, organisationId))
    if (!organisation) return
    const isKey = kind === 'api_key_created'
    const path = consolePath(organisationId, isKey ? '/settings/api-keys' : '/settings/webhooks')
    // Relative without BASE_URL, which email requires anyway.
    const link = `${settingsOf(env).baseUrl ?? ''}${path}`
    const shared = { organisationName: organisation.name, link }
    const email = isKey
      ? apiKeyCreatedEmail({ ...shared, ...notification })
      : webhookFailingEmail({ ...shared, ...notification })
    await mailRecipients({ env, organisationId, kind, email })
  } catch (error) {
    log.error('members not notified', error, { organisationId, kind })
  }
}

/**
 * Sends an email to the recipients of a kind. Does not throw. Failures are logged.
 * @returns false when the email has to be sent again: no recipient has received it
 */
export async function mailRecipients({
  env,
  organisationId,
  kind,
  email,
}: Recipients & { kind: OrganisationNotification; email: Email }): Promise<boolean> {
  // Without email in this deployment, a repetition does not help.
  if (!canSendEmail(env)) return true
  try {
    const addresses = await recipientsOf(env, organisationId, kind)
    const sent = await Promise.all(addresses.map((to) => sendEmail({ env, to, email })))
    return addresses.length === 0 || sent.includes(true)
  } catch (error) {
    log.error('members not notified', error, { organisationId, kind })
    return false
  }
}

async function recipientsOf(
  env: Env,
  organisationId: string,
  kind: OrganisationNotification,
): Promise<string[]> {
  const rows = await database(env)
    .select({ email: users.email })
    .from(members)
    .innerJoin(users, eq(users.id, members.userId))
    .where(
      and(
        eq(members.organisationId, organisationId),
        inArray(members.role, rolesFor(kind)),
        isNull(users.deleteAfter),
        sql`not exists (select 1 from ${mutedNotifications}
          where ${mutedNotifications.userId} = ${members.userId}
            and ${mutedNotifications.organisationId} = ${members.organisationId}
            and ${mutedNotifications.kind} = ${kind})`,
      ),
    )
  return rows.map(({ email }) => email)
}

export const canSendEmail = (env: Env): boolean => {
  const { devMailbox, mailFrom } = settingsOf(env)
  return devMailbox || mailFrom !== undefined
}
