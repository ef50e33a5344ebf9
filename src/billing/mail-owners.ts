// Email about billing to the owners of an organisation.
import { ownerEmailsOf } from '../organisations/owners.ts'
import { consolePath } from '../domain/console-path.ts'
import { log } from '../platform/log.ts'
import { sendEmail } from '../mail/send.ts'
import type { Email } from '../mail/templates.tsx'
import { settingsOf } from '../platform/settings.ts'

/** The address of the billing page. Relative without BASE_URL, which email requires anyway. */
export const billingUrl = (env: Env, organisationId: string): string =>
  `${settingsOf(env).baseUrl ?? ''}${consolePath(organisationId, '/billing')}`

/**
 * Does not throw, because a failure of email must not stop a payment. Failures are logged.
 * @returns false when the email has to be sent again: no owner has received it
 */
export async function mailOwners(env: Env, organisationId: string, email: Email): Promise<boolean> {
  const { devMailbox, mailFrom } = settingsOf(env)
  // Without email in this deployment, a repetition does not help.
  if (!devMailbox && !mailFrom) return true
  try {
    const addresses = await ownerEmailsOf(env, organisationId)
    const sent = await Promise.all(addresses.map((to) => sendEmail({ env, to, email })))
    return addresses.length === 0 || sent.includes(true)
  } catch (error) {
    log.error('owners not informed', error, { organisationId, subject: email.subject })
    return false
  }
}
