// Sends email through Cloudflare's `send_email` binding. With DEV_MAILBOX, stores it in memory for the
// development mailbox and prints its link instead, so that development needs no mail server.
import { log } from '../platform/log.ts'
import { record } from '../platform/metrics.ts'
import { settingsOf } from '../platform/settings.ts'
import { emailFrom, type EmailContent } from './templates.tsx'

type MailboxEntry = ReturnType<typeof emailFrom> & { to: string; at: Date }

/** The mailbox of this isolate, newest first. A development server has only one isolate. */
const mailbox: MailboxEntry[] = []
const MAILBOX_SIZE = 50

/**
 * Does not throw. Failures are logged, and every page that sends email can send it again.
 * @param link where the email's button leads
 * @returns whether it was sent
 */
export async function sendEmail(message: {
  env: Env
  to: string
  link: string
  email: EmailContent
}) {
  const { env, to, link } = message
  const email = emailFrom(link, message.email)
  const { baseUrl, devMailbox, mailFrom } = settingsOf(env)
  if (devMailbox) {
    mailbox.unshift({ ...email, to, at: new Date() })
    mailbox.length = Math.min(mailbox.length, MAILBOX_SIZE)
    // Does not use `log`, which would redact the token in the link.
    // eslint-disable-next-line no-console
    console.info(`\n  Mail to ${to}: ${email.subject}\n  ${link}\n`)
    return true
  }
  try {
    if (!mailFrom) throw new Error('MAIL_FROM is not set: set the sender address of all email')
    // Without BASE_URL, a link would start with the Host header of a request.
    if (!baseUrl) throw new Error('BASE_URL is not set: set the URL that links start with')
    const from = { email: mailFrom, name: 'Try-On' }
    const { subject, text, html } = email
    const { messageId } = await env.MAIL.send({ from, to, subject, text, html })
    log.info('mail sent', { messageId, subject })
    record(env, 'mail', { outcome: 'sent' })
    return true
  } catch (error) {
    log.error('mail not sent', error, { subject: email.subject })
    record(env, 'mail', { outcome: 'failed' })
    return false
  }
}

/** Whether this deployment is set up to send email. */
export const canSendEmail = (env: Env): boolean => {
  const { devMailbox, mailFrom } = settingsOf(env)
  return devMailbox || mailFrom !== undefined
}

/** The emails that were stored instead of sent, newest first. */
export const developmentMailbox = (): readonly MailboxEntry[] => mailbox
