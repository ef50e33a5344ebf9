// The sessions on the account page.
import type { listSessions } from '../../users/sessions.ts'
import type { ConsoleContext } from '../console-context.ts'
import { ActionForm } from '../components/form.tsx'
import { Table } from '../components/table.tsx'
import { Timestamp } from '../components/time.tsx'
import { Section } from '../components/section.tsx'
import { deviceOf } from '../device.ts'

export const SessionSection = ({
  c,
  sessions,
}: {
  c: ConsoleContext
  sessions: Awaited<ReturnType<typeof listSessions>>
}) => {
  const currentId = c.var.user.sessionId
  return (
    <Section id="sessions-heading" title="Sessions" card>
      <p>
        The browsers that are signed in to your account. Sign out those that you do not recognise,
        and change your password.
      </p>
      <Table
        label="Sessions"
        columns={['Device', 'IP address', 'Signed in', 'Last active', 'Actions']}
        rows={sessions.map((session) => [
          deviceOf(session.userAgent),
          <span class="id">{session.ipAddress || 'Unknown'}</span>,
          <Timestamp at={session.signedInAt} />,
          <Timestamp at={session.lastActiveAt} />,
          session.id === currentId ? (
            <strong>This session</strong>
          ) : (
            <ActionForm
              action={`/console/account/sessions/${session.id}/sign-out`}
              label="Sign out"
              on={deviceOf(session.userAgent)}
            />
          ),
        ])}
      />
      <div class="buttons">
        {sessions.length > 1 && (
          <ActionForm
            action="/console/account/sessions/sign-out-others"
            label="Sign out all others"
          />
        )}
        <ActionForm action="/console/account/sign-out-everywhere" label="Sign out everywhere" />
      </div>
    </Section>
  )
}
