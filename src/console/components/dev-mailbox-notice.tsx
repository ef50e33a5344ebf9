import { settingsOf } from '../../settings.ts'
import type { ConsoleContext } from '../context.ts'
import { Notice } from './notice.tsx'

/** In development, links to the mailbox page, because no email is sent. */
export const DevMailboxNotice = ({ c }: { c: ConsoleContext }) =>
  settingsOf(c.env).devMailbox ? (
    <Notice kind="info">
      Development mode: no email is sent. <a href="/console/dev/mail">Open the mailbox</a>.
    </Notice>
  ) : null
