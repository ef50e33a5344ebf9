// The members of an organisation and the open invitations.
import { Hono } from 'hono'
import { z } from 'zod'
import { requireMail } from '../../users/auth.ts'
import { invite, withdrawInvitation } from '../../organisations/invitations.ts'
import { readTeam } from '../../organisations/members.ts'
import type { Member } from '../../organisations/members.ts'
import { listWorkspaces } from '../../organisations/workspaces.ts'
import type { InvitationRow } from '../../platform/db/auth-schema.ts'
import type { WorkspaceRow } from '../../platform/db/schema.ts'
import { permits } from '../../domain/role.ts'
import { baseUrlOf } from '../../http/base-url.ts'
import type { ConsoleApp, ConsoleContext } from '../console-context.ts'
import { email } from '../fields.ts'
import { ActionForm, Button, Field, FormError, PostForm } from '../components/form.tsx'
import { memberPage } from '../components/layout.tsx'
import { Link } from '../components/link.tsx'
import { ROLE_LABELS, RoleFields, RoleTable, WorkspaceNames } from '../components/roles.tsx'
import { Table } from '../components/table.tsx'
import { Timestamp } from '../components/time.tsx'
import { recentSignInForRoles } from '../components/roles.tsx'
import { scopeOf } from '../middleware/session.ts'
import { limitInvitation } from '../middleware/throttle.tsx'
import { redirectTo } from '../organisation-path.ts'
import { formStateOf, readForm, textsOf } from '../read-form.ts'
import type { FormState } from '../read-form.ts'
import { Section } from '../components/section.tsx'
import { chosenWorkspaces, roleFields } from '../components/roles.tsx'

const Invitation = z.looseObject({ email, ...roleFields })

export const team = new Hono<ConsoleApp>()
  .get('/', (c) => teamPage(c))
  .post('/invitations', recentSignInForRoles, async (c) => {
    const form = await readForm(c, Invitation)
    if (!form.ok) return teamPage(c, form)
    const { email: address, role } = form.data
    requireMail(c.env)
    const tooMany = await limitInvitation(c, address)
    if (tooMany) return tooMany
    let invited
    try {
      invited = await invite({
        ...scopeOf(c),
        email: address,
        role,
        workspaceIds: chosenWorkspaces(form.data),
        organisationName: c.var.membership.organisation.name,
        baseUrl: baseUrlOf(c),
      })
    } catch (error) {
      return teamPage(c, formStateOf(error, textsOf(form.data)))
    }
    if (!invited) {
      const errors = { email: 'This user is already a member.' }
      return teamPage(c, { errors, values: textsOf(form.data) })
    }
    const changed = invited.replaced !== undefined && invited.replaced !== role
    return redirectTo(c, '/settings/team', 'invitation_sent', changed ? role : '')
  })
  .post('/invitations/:invitationId/withdraw', async (c) => {
    await withdrawInvitation({ ...scopeOf(c), invitationId: c.req.param('invitationId') })
    return redirectTo(c, '/settings/team', 'invitation_withdrawn')
  })

async function teamPage(c: ConsoleContext, state: FormState = {}) {
  const [{ members, invitations }, workspaces] = await Promise.all([
    readTeam(scopeOf(c)),
    listWorkspaces(scopeOf(c)),
  ])
  const mayManage = permits(c.var.membership.role, 'administer')
  return memberPage(
    c,
    { title: 'Team', status: state.errors ? 422 : 200 },
    <>
      <h1>Team</h1>
      {!mayManage && <p>Only owners can invite members and change roles.</p>}
      <Members c={c} members={members} workspaces={workspaces} />
      {mayManage && invitations.length > 0 && (
        <Invitations invitations={invitations} workspaces={workspaces} />
      )}
      {mayManage && (
        <Section id="invite-heading" title="Invite a member" card>
          <PostForm to="/settings/team/invitations" novalidate>
            <FormError state={state} />
            <Field name="email" label="Email" type="email" autocomplete="off" state={state} />
            <RoleFields
              workspaces={workspaces}
              current={{ role: 'developer', workspaceIds: null }}
              state={state}
            />
            <Button>Send invitation</Button>
          </PostForm>
        </Section>
      )}
      <RoleTable />
    </>,
  )
}

const Members = ({
  c,
  members,
  workspaces,
}: {
  c: ConsoleContext
  members: Member[]
  workspaces: WorkspaceRow[]
}) => {
  const mayManage = permits(c.var.membership.role, 'administer')
  const owners = members.filter(({ role }) => role === 'owner')
  return (
    <Table
      label="Members"
      columns={['Email', 'Role', ...(mayManage ? ['Workspaces'] : []), 'Joined', 'Actions']}
      rows={members.map((member) => [
        <span class="address">
          {member.name && <strong class="subline">{member.name}</strong>} {member.email}{' '}
          {member.userId === c.var.user.id && <span class="muted">(you)</span>}
        </span>,
        ROLE_LABELS[member.role],
        ...(mayManage
          ? [<WorkspaceNames workspaceIds={member.workspaceIds} workspaces={workspaces} />]
          : []),
        <Timestamp at={member.createdAt} />,
        member.role === 'owner' && owners.length === 1 ? (
          <span class="muted">Only owner</span>
        ) : (
          <MemberActions c={c} member={member} />
        ),
      ])}
    />
  )
}

const MemberActions = ({
  c,
  member: { userId, email: address },
}: {
  c: ConsoleContext
  member: Member
}) => {
  const { role, organisation } = c.var.membership
  const isSelf = userId === c.var.user.id
  const mayManage = permits(role, 'administer')
  return (
    <div class="actions">
      {mayManage && (
        <Link
          to={`/settings/team/members/${userId}`}
          role="button"
          class="secondary"
          aria-label={`Change role of ${address}`}
        >
          Change role
        </Link>
      )}
      {(mayManage || isSelf) && (
        <Link
          to={`/settings/team/members/${userId}/remove`}
          role="button"
          class="secondary"
          aria-label={isSelf ? `Leave ${organisation.name}` : `Remove ${address}`}
        >
          {isSelf ? 'Leave' : 'Remove'}
        </Link>
      )}
    </div>
  )
}

const Invitations = ({
  invitations,
  workspaces,
}: {
  invitations: InvitationRow[]
  workspaces: WorkspaceRow[]
}) => (
  <Section id="invitations-heading" title="Open invitations">
    <Table
      label="Open invitations"
      columns={['Email', 'Role', 'Workspaces', 'Expires', 'Actions']}
      rows={invitations.map((invitation) => [
        <span class="address">{invitation.email}</span>,
        ROLE_LABELS[invitation.role],
        <WorkspaceNames workspaceIds={invitation.workspaceIds} workspaces={workspaces} />,
        <Timestamp at={invitation.expiresAt} />,
        <ActionForm
          to={`/settings/team/invitations/${invitation.id}/withdraw`}
          label="Withdraw"
          on={`the invitation to ${invitation.email}`}
        />,
      ])}
    />
  </Section>
)
