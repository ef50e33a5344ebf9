// Development only: the mail that would have been sent.
import { Hono } from 'hono'
import { AppError } from '../../domain/errors.ts'
import { developmentMailbox } from '../../mail/send.ts'
import { settingsOf } from '../../settings.ts'
import type { ConsoleApp, ConsoleContext } from '../context.ts'
import { Notice } from '../components/form.tsx'
import { guestPage } from '../components/layout.tsx'
import { When } from '../components/parts.tsx'

export const mailbox = new Hono<ConsoleApp>().get('/dev/mail', (c) => {
  if (!settingsOf(c.env).devMailbox) throw new AppError('not_found')
  const mails = developmentMailbox()
  return guestPage(
    c,
    { title: 'Development mailbox' },
    <>
      <h1>Development mailbox</h1>
      {mails.length === 0 && <p>No mail yet.</p>}
      {mails.map(({ to, subject, text, link, at }) => (
        <article class="mail">
          <h2>{subject}</h2>
          <p class="quiet">
            To {to} · <When at={at} />
          </p>
          <pre>{text}</pre>
          <a href={link}>Open the link</a>
        </article>
      ))}
    </>,
  )
})

/** Where the mail went, when it was not sent. */
export const DevMailbox = ({ c }: { c: ConsoleContext }) =>
  settingsOf(c.env).devMailbox ? (
    <Notice kind="info">
      Development: mail is not sent. <a href="/console/dev/mail">Open the mailbox</a>.
    </Notice>
  ) : null
