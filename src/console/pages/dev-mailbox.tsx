// Development only: shows the emails that are stored instead of sent.
import { AppError } from '../../domain/errors.ts'
import { developmentMailbox } from '../../mail/send.ts'
import { settingsOf } from '../../platform/settings.ts'
import { guestPage } from '../components/layout.tsx'
import { Timestamp, Notice } from '../components/text.tsx'
import { createApp, type ConsoleContext } from '../console-context.ts'

export const devMailbox = createApp().get('/dev/mail', (c) => {
  if (!settingsOf(c.env).devMailbox) throw new AppError('not_found')
  const emails = developmentMailbox()
  return guestPage(
    { c, title: 'Development mailbox' },
    <>
      <h1>Development mailbox</h1>
      {emails.length === 0 && <p>No email yet.</p>}
      {emails.map(({ to, subject, text, link, at }) => (
        <article class="mail">
          <h2>{subject}</h2>
          <p class="muted">
            To {to} · <Timestamp at={at} />
          </p>
          <pre>{text}</pre>
          <a href={link}>Open the link</a>
        </article>
      ))}
    </>,
  )
})

/** In development, links to the mailbox page, because no email is sent. */
export const DevMailboxNotice = ({ c }: { c: ConsoleContext }) =>
  settingsOf(c.env).devMailbox ? (
    <Notice kind="info">
      Development mode: no email is sent. <a href="/console/dev/mail">Open the mailbox</a>.
    </Notice>
  ) : null
