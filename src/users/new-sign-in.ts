// Informs a user about a sign-in from a browser that has not signed in to the account before.
import { sql } from 'drizzle-orm'
import { mutedNotifications, sessions, users } from '../platform/db/auth-schema.ts'
import { database } from '../platform/db/database.ts'
import { log } from '../platform/log.ts'
import { newSignInEmail } from '../mail/notification-mail.tsx'
import { sendEmail } from '../mail/send.ts'
import { settingsOf } from '../platform/settings.ts'
import { canSendEmail } from '../mail/notify.ts'

/** A user who has just signed up has no earlier session. */
const SIGN_UP_MS = 60 * 60_000

/**
 * Sends the email, except for the first session after the sign-up. Does not throw: a failure is logged.
 * Call it in `waitUntil`, after the session has been created.
 * @param device such as "Firefox on Linux"
 * @param mayMail whether another email is within the budget. Called for emails that would be sent
 */
export async function notifyNewSignIn({
  env,
  userId,
  device,
  ipAddress,
  mayMail,
}: {
  env: Env
  userId: string
  device: string
  ipAddress: string | null
  mayMail: () => Promise<boolean>
}): Promise<void> {
  if (!canSendEmail(env)) return
  try {
    const at = new Date()
    const [user] = await database(env)
      .select({
        email: users.email,
        createdAt: users.createdAt,
        sessions: sql<number>`(select count(*) from ${sessions}
          where ${sessions.userId} = ${userId})`,
      })
      .from(users)
      .where(
        sql`${users.id} = ${userId} and not exists (select 1 from ${mutedNotifications}
          where ${mutedNotifications.userId} = ${userId}
            and ${mutedNotifications.kind} = 'new_sign_in')`,
      )
    if (!user) return
    const isSignUp = user.sessions <= 1 && at.getTime() - user.createdAt.getTime() < SIGN_UP_MS
    if (isSignUp || !(await mayMail())) return
    const link = `${settingsOf(env).baseUrl ?? ''}/console/account`
    const email = newSignInEmail({ at, device, ipAddress, link })
    await sendEmail({ env, to: user.email, email })
  } catch (error) {
    log.error('user not notified', error, { userId })
  }
}
