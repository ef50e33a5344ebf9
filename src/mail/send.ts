// Sends mail through Cloudflare's `send_email` binding or, where DEV_MAILBOX is on, keeps it for the
// development page and prints it, so that nobody needs a mail server.
import { log } from '../log.ts'
import { settingsOf } from '../settings.ts'
import type { EmailTemplate } from './templates.ts'

export interface KeptMail extends EmailTemplate {
  to: string
  at: Date
}

/** Of this isolate, newest first; a development server has one. */
const mailbox: KeptMail[] = []
const MAILBOX_SIZE = 50

/** Sends one letter. Does not throw: whoever waits for mail can have it sent again. */
export async function sendMail(env: Env, to: string, letter: EmailTemplate): Promise<void> {
  const { baseUrl, devMailbox, mailFrom } = settingsOf(env)
  if (devMailbox) {
    keep(to, letter)
    return
  }
  try {
    if (!mailFrom) throw new Error('MAIL_FROM is not set: give the sender address of all mail')
    // Without it, a link would start with the Host header of a request.
    if (!baseUrl) throw new Error('BASE_URL is not set: give the address that links start with')
    const from = { email: mailFrom, name: 'Try-On' }
    const { subject, text, html } = letter
    const { messageId } = await env.MAIL.send({ from, to, subject, text, html })
    log.info('mail sent', { messageId, subject })
  } catch (error) {
    log.error('mail not sent', error, { subject: letter.subject })
  }
}

/** The mail that was kept instead of being sent, newest first. */
export const keptMail = (): readonly KeptMail[] => mailbox

function keep(to: string, letter: EmailTemplate): void {
  mailbox.unshift({ ...letter, to, at: new Date() })
  mailbox.length = Math.min(mailbox.length, MAILBOX_SIZE)
  // Not `log`, which would take the token out of the link that is the point of it.
  // eslint-disable-next-line no-console
  console.info(`\n  Mail to ${to}: ${letter.subject}\n  ${letter.link}\n`)
}
