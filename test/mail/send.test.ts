// Alone: it reads all mails.
import { env } from 'cloudflare:workers'
import { describe, expect, it, vi } from 'vitest'
import {
  accountDeletionEmail,
  emailFrom,
  invitationEmail,
  organisationDeletionEmail,
  verificationEmail,
} from '../../src/mail/templates.tsx'
import { developmentMailbox, sendEmail } from '../../src/mail/send.ts'

const production = (vars: Record<string, string> = { MAIL_FROM: 'hello@try-on.example' }) => ({
  ...env,
  DEV_MAILBOX: 'false',
  BASE_URL: 'https://try-on.test',
  ...vars,
})
const to = 'ada@shop.example'
const link = 'https://try-on.test/console/verify?token=t&x=1'
const email = verificationEmail

describe('sendEmail', () => {
  it('sends text and HTML from the configured sender', async () => {
    const send = vi.spyOn(env.MAIL, 'send').mockResolvedValue({ messageId: 'm1' })
    await sendEmail({ env: production(), to, link, email })
    expect(send).toHaveBeenCalledExactlyOnceWith({
      from: { email: 'hello@try-on.example', name: 'Try-On' },
      to: 'ada@shop.example',
      subject: 'Verify your email address',
      text: expect.stringContaining('https://try-on.test/console/verify?token=t&x=1'),
      html: expect.stringContaining('href="https://try-on.test/console/verify?token=t&amp;x=1"'),
    })
    expect(developmentMailbox()).toEqual([])
  })

  it('logs a failure without the link and does not throw', async () => {
    vi.spyOn(env.MAIL, 'send').mockRejectedValue(new Error('no such sender'))
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    await sendEmail({ env: production(), to, link, email })
    await sendEmail({ env: production({ MAIL_FROM: '' }), to, link, email })
    await sendEmail({
      env: production({ MAIL_FROM: 'hello@try-on.example', BASE_URL: '' }),
      to,
      link,
      email,
    })
    const lines = log.mock.calls.map(([line]) => String(line))
    expect(lines[0]).toContain('no such sender')
    expect(lines[1]).toContain('MAIL_FROM is not set')
    expect(lines[2]).toContain('BASE_URL is not set')
    expect(lines.join('')).not.toContain('token=t')
  })

  it('stores email in the development mailbox instead of sending it', async () => {
    const send = vi.spyOn(env.MAIL, 'send')
    await sendEmail({ env, to, link, email })
    expect(developmentMailbox()[0]).toMatchObject({ to, link })
    expect(send).not.toHaveBeenCalled()
  })
})

describe('email templates', () => {
  it('escape names in HTML and remove line breaks from the subject', () => {
    const invitation = invitationEmail('A\r\nBcc: b <b>', 'c@d.example')
    const { subject, html } = emailFrom('https://x.test/', invitation)
    expect(subject).toBe('Join A Bcc: b <b> on Try-On')
    expect(html).not.toContain('<b>')
  })

  it('escape links in attributes', () => {
    const { html } = emailFrom('https://x.test/?a="><script>', verificationEmail)
    expect(html).toContain('href="https://x.test/?a=&quot;&gt;&lt;script&gt;"')
    expect(html).not.toContain('<script')
  })

  it('have the same content as text and as HTML', () => {
    const deleteAfter = new Date('2027-01-02T03:04:00Z')
    for (const content of [
      { footer: 'Footer', ...organisationDeletionEmail(deleteAfter)('Shop') },
      accountDeletionEmail(deleteAfter, ['Shop', 'Other']),
    ]) {
      const { text, html } = emailFrom('https://x.test/', content)
      expect(html).toMatch(/^<!doctype html><html lang="en"><body style="margin:0;/)
      expect(text).toContain('2 January 2027')
      for (const paragraph of text.split(/\n+/)) {
        expect(html).toContain(paragraph.replace(/:$/, ''))
      }
    }
  })
})
