// Informs users by email about changes of how they sign in, in case they did not make them.
import { securityEmail, type SecurityChange } from '../mail/security-mail.ts'
import { sendEmail } from '../mail/send.ts'
import { baseUrlOf } from '../http/base-url.ts'
import type { ConsoleContext } from './console-context.ts'

/** Sent after the response. A failure is logged and does not affect the change. */
export function sendSecurityEmail(c: ConsoleContext, to: string, change: SecurityChange): void {
  const link = `${baseUrlOf(c)}/console/account`
  const email = securityEmail(change, new Date())
  c.executionCtx.waitUntil(sendEmail({ env: c.env, to, link, email }))
}
