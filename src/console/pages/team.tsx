// The members of an organisation and the open invitations.
import { z } from 'zod'
import { requireMail } from '../../users/auth.ts'
import { invite, withdrawInvitation } from '../../organisations/invitations.ts'
import { readTeam, type Member } from '../../organisations/members.ts'
import { listWorkspaces } from '../../organisations/workspaces.ts'
import { permits } from '../../domain/role.ts'
import { baseUrlOf } from '../../http/base-url.ts'
import { email, readForm, resultOf, textsOf, type FormState } from '../forms.ts'
import { ActionForm, Button, Field, PostForm } from '../components/form.tsx'
import { memberPage } from '../components/layout.tsx'
import { Link, Timestamp } from '../components/text.tsx'
import {
  chosenWorkspaces,
  recentSignInForRoles,
  ROLE_LABELS,
  RoleFields,
  roleFields,
  RoleTable,
  workspaceNames,
} from '../components/roles.tsx'
import { Section, Table } from '../components/section.tsx'
import { createApp, scopeOf, type ConsoleContext } from '../console-context.ts'
import { limitInvitation } from '../middleware/throttle.tsx'
import { redirectTo } from '../form-notices.ts'

const Invitation = z.looseObject({ email, ...roleFields })

export const team = createApp()
  .get('/', (c) => teamPage(c))
  .post('/invitations', recentSignInForRoles, async (c) => {
    const form = await readForm(c, Invitation, teamPage)
    const { email: address, role } = form
    requireMail(c.env)
    await limitInvitation(c, address)
    const inviting = invite({
      ...scopeOf(c),
      email: address,
      role,
      workspaceIds: chosenWorkspaces(form),
      organisationName: c.var.membership.organisation.name,
      baseUrl: baseUrlOf(c),
    })
    const invited = await resultOf(c, teamPage, inviting)
    if (!invited) {
      const errors = { email: 'This user is already a member.' }
      return teamPage(c, { errors, values: textsOf(form) })
    }
    const changed = invited.replaced !== undefined && invited.replaced !== role
    return redirectTo(c, '/settings/team', 'invitation_sent', changed ? role : '')
  })
  .post('/invitations/:invitationId/withdraw', async (c) => {
    await withdrawInvitation({ ...scopeOf(c), invitationId: c.req.param('invitationId') })
    return redirectTo(c, '/settings/team', 'invitation_withdrawn')
  })

async function readTeamPage(c: ConsoleContext) {
  const scope = scopeOf(c)
  const [team, workspaces] = await Promise.all([readTeam(scope), listWorkspaces(scope)])
  return { ...team, workspaces, mayManage: permits(c.var.membership.role, 'administer') }
}

type Team = Awaited<ReturnType<typeof readTeamPage>>

async function teamPage(c: ConsoleContext, state: FormState = {}) {
  const team = await readTeamPage(c)
  const { invitations, mayManage, workspaces } = team
  return memberPage(
    c,
    { title: 'Team', state },
    <>
      {!mayManage && <p>Only owners can invite members and change roles.</p>}
      <Members c={c} {...team} />
      {mayManage && invitations.length > 0 && <Invitations {...team} />}
      {mayManage && (
        <Section id="invite-heading" title="Invite a member" card>
          <PostForm to="/settings/team/invitations" state={state}>
            <Field name="email" label="Email" type="email" autocomplete="off" />
            <RoleFields workspaces={workspaces} role="developer" workspaceIds={null} />
            <Button>Send invitation</Button>
          </PostForm>
        </Section>
      )}
      <RoleTable />
    </>,
  )
}

const Members = ({ c, members, workspaces, mayManage }: Team & { c: ConsoleContext }) => {
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
        ...(mayManage ? [workspaceNames(member.workspaceIds, workspaces)] : []),
        <Timestamp at={member.createdAt} />,
        member.role === 'owner' && owners.length === 1 ? (
          <span class="muted">Only owner</span>
        ) : (
          memberActions(c, member, mayManage)
        ),
      ])}
    />
  )
}

function memberActions(c: ConsoleContext, member: Member, mayManage: boolean) {
  const path = `/settings/team/members/${member.userId}`
  const isSelf = member.userId === c.var.user.id
  const leave = ['Leave', `Leave ${c.var.membership.organisation.name}`] as const
  const remove = ['Remove', `Remove ${member.email}`] as const
  const button = (to: string, [text, label]: readonly [text: string, label: string]) => (
    <Link to={to} role="button" class="secondary" aria-label={label}>
      {text}
    </Link>
  )
  return (
    <div class="buttons">
      {mayManage && button(path, ['Change role', `Change role of ${member.email}`])}
      {(mayManage || isSelf) && button(`${path}/remove`, isSelf ? leave : remove)}
    </div>
  )
}

const Invitations = ({ invitations, workspaces }: Team) => (
  <Section id="invitations-heading" title="Open invitations">
    <Table
      label="Open invitations"
      columns={['Email', 'Role', 'Workspaces', 'Expires', 'Actions']}
      rows={invitations.map((invitation) => [
        <span class="address">{invitation.email}</span>,
        ROLE_LABELS[invitation.role],
        workspaceNames(invitation.workspaceIds, workspaces),
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
