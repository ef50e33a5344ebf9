// Sends email to members of an organisation: to its owners, or a notification to the members whose role fits
// and who have not switched it off.
import { and, eq, inArray, isNull, sql } from 'drizzle-orm'
import { consolePath } from '../domain/console-path.ts'
import { RECIPIENTS, type OrganisationNotification } from '../domain/notification.ts'
import { members, mutedNotifications, users } from '../platform/db/auth-schema.ts'
import { database } from '../platform/db/database.ts'
import { organisations } from '../platform/db/schema.ts'
import { log } from '../platform/log.ts'
import { settingsOf } from '../platform/settings.ts'
import { canSendEmail, sendEmail } from './send.ts'
import type { MemberEmail } from './templates.tsx'

const TO_OWNERS = 'You receive this email because you are an owner of the organisation.'
const BECAUSE_OF_ROLE =
  'You receive this email because of your role in the organisation. You can switch it off under “Your account”.'

/**
 * Sends an email to members. Does not throw: a failure is logged and stops no action. Run it in `waitUntil`
 * where a user waits for the response.
 * @param to the owners, or the recipients of a notification
 * @param page of the organisation in the console, where the email's link leads
 * @param baseUrl the start of the link. Relative without BASE_URL, which email requires anyway
 * @returns false when the email has to be sent again: no recipient has received it
 */
export async function mailMembers(message: {
  env: Env
  organisationId: string
  to: 'owners' | OrganisationNotification
  page: `/${string}`
  email: MemberEmail
  baseUrl?: string | undefined
}): Promise<boolean> {
  const { env, organisationId, to, page } = message
  // Without email in this deployment, a repetition does not help.
  if (!canSendEmail(env)) return true
  try {
    const recipients = await recipientsOf(env, organisationId, to)
    const [first] = recipients
    if (!first) return true
    const footer = to === 'owners' ? TO_OWNERS : BECAUSE_OF_ROLE
    const { baseUrl = settingsOf(env).baseUrl ?? '' } = message
    const link = baseUrl + consolePath(organisationId, page)
    const email = { footer, ...message.email(first.organisationName) }
    const sent = await Promise.all(
      recipients.map(({ address }) => sendEmail({ env, to: address, link, email })),
    )
    return sent.includes(true)
  } catch (error) {
    log.error('members not notified', error, { organisationId, to })
    return false
  }
}

const recipientsOf = (env: Env, organisationId: string, to: 'owners' | OrganisationNotification) =>
  database(env)
    .select({ address: users.email, organisationName: organisations.name })
    .from(members)
    .innerJoin(users, eq(users.id, members.userId))
    .innerJoin(organisations, eq(organisations.id, members.organisationId))
    .where(
      and(
        eq(members.organisationId, organisationId),
        to === 'owners' ? eq(members.role, 'owner') : hasSwitchedOn(to),
      ),
    )

const hasSwitchedOn = (kind: OrganisationNotification) =>
  and(
    inArray(members.role, RECIPIENTS[kind]),
    isNull(users.deleteAfter),
    sql`not exists (select 1 from ${mutedNotifications}
      where ${mutedNotifications.userId} = ${members.userId}
        and ${mutedNotifications.organisationId} = ${members.organisationId}
        and ${mutedNotifications.kind} = ${kind})`,
  )
