import { env } from 'cloudflare:workers'
import { describe, expect, it, vi } from 'vitest'
import { invitationEmail, verificationEmail } from '../../src/mail/templates.ts'
import { keptMail, sendMail } from '../../src/mail/send.ts'

const production = (vars: Record<string, string> = { MAIL_FROM: 'hello@try-on.example' }) => ({
  ...env,
  DEV_MAILBOX: 'false',
  BASE_URL: 'https://try-on.test',
  ...vars,
})
const letter = verificationEmail('https://try-on.test/console/verify?token=t&x=1')

describe('mail', () => {
  it('goes out as text and HTML, from the configured sender', async () => {
    const send = vi.spyOn(env.MAIL, 'send').mockResolvedValue({ messageId: 'm1' })
    await sendMail(production(), 'ada@shop.example', letter)
    expect(send).toHaveBeenCalledExactlyOnceWith({
      from: { email: 'hello@try-on.example', name: 'Try-On' },
      to: 'ada@shop.example',
      subject: 'Verify your email address',
      text: expect.stringContaining('https://try-on.test/console/verify?token=t&x=1'),
      html: expect.stringContaining('href="https://try-on.test/console/verify?token=t&amp;x=1"'),
    })
    expect(keptMail()).toEqual([])
  })

  it('that cannot be sent is logged, without its link, and fails nobody', async () => {
    vi.spyOn(env.MAIL, 'send').mockRejectedValue(new Error('no such sender'))
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    await sendMail(production(), 'ada@shop.example', letter)
    await sendMail(production({ MAIL_FROM: '' }), 'ada@shop.example', letter)
    await sendMail(
      production({ MAIL_FROM: 'hello@try-on.example', BASE_URL: '' }),
      'ada@shop.example',
      letter,
    )
    const lines = log.mock.calls.map(([line]) => String(line))
    expect(lines[0]).toContain('no such sender')
    expect(lines[1]).toContain('MAIL_FROM is not set')
    expect(lines[2]).toContain('BASE_URL is not set')
    expect(lines.join('')).not.toContain('token=t')
  })

  it('is kept instead of being sent in development', async () => {
    const send = vi.spyOn(env.MAIL, 'send')
    await sendMail(env, 'ada@shop.example', letter)
    expect(keptMail()[0]).toMatchObject({ to: 'ada@shop.example', link: letter.link })
    expect(send).not.toHaveBeenCalled()
  })

  it('lets no name become markup or another header', () => {
    const { subject, html } = invitationEmail('https://x.test/', 'A\r\nBcc: b <b>', 'c@d.example')
    expect(subject).toBe('Join A Bcc: b <b> on Try-On')
    expect(html).not.toContain('<b>')
  })
})
