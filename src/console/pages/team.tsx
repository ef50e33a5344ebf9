// The members of an organisation and the open invitations; the role of one member, and the removal, which lists the
// API keys that the member created. A member leaves on the page of their own removal.
import { z } from 'zod'
import { requireMail } from '../../users/auth.ts'
import { invite, withdrawInvitation } from '../../organisations/invitations.ts'
import { activeKeysCreatedBy } from '../../organisations/api-keys.ts'
import {
  changeRole,
  readMember,
  readTeam,
  removeMember,
  type Member,
} from '../../organisations/members.ts'
import { listWorkspaces } from '../../organisations/workspaces.ts'
import { AppError } from '../../domain/errors.ts'
import { baseUrlOf } from '../../http/base-url.ts'
import { email, pageWith, readForm, resultOf, textIn, textsOf } from '../forms.ts'
import { ActionForm, Button, Field, PostForm } from '../components/form.tsx'
import { memberPage } from '../components/layout.tsx'
import { capitalised, ModeBadge, Timestamp, ButtonLink } from '../components/text.tsx'
import {
  recentSignInForRoles,
  RoleFields,
  RoleForm,
  RoleTable,
  workspaceNames,
} from '../components/roles.tsx'
import { Section, Table } from '../components/section.tsx'
import { may, createApp, scopeOf, type ConsoleContext } from '../console-context.ts'
import { limitInvitation } from '../middleware/throttle.tsx'
import { notFoundPage } from '../error-pages.tsx'
import { redirectTo } from '../form-notices.ts'
import { KeyText } from './key.tsx'

const TEAM = '/settings/team'
const Invitation = z.object({ email }).and(RoleForm)

export const team = createApp()
  .get('/', (c) => teamPage(c))
  .post('/invitations', recentSignInForRoles, async (c) => {
    const { email: address, ...access } = await readForm(c, Invitation, teamPage)
    requireMail(c.env)
    await limitInvitation(c, address)
    const inviting = invite({
      ...scopeOf(c),
      email: address,
      ...access,
      organisationName: c.var.membership.organisation.name,
      baseUrl: baseUrlOf(c),
    })
    const invited = await resultOf(c, teamPage, inviting)
    if (!invited) {
      const errors = { email: 'This user is already a member.' }
      const values = { ...textsOf(await c.req.parseBody()), email: address }
      return pageWith(c, teamPage, { errors, values })
    }
    const changed = invited.replaced !== undefined && invited.replaced !== access.role
    return redirectTo(c, TEAM, 'invitation_sent', changed ? access.role : '')
  })
  .post('/invitations/:invitationId/withdraw', async (c) => {
    await withdrawInvitation({ ...scopeOf(c), invitationId: c.req.param('invitationId') })
    return redirectTo(c, TEAM, 'invitation_withdrawn')
  })

  .get('/members/:userId', (c) => rolePage(c, c.req.param('userId')))
  .get('/members/:userId/role', (c) =>
    redirectTo(c, `${TEAM}/members/${encodeURIComponent(c.req.param('userId'))}`),
  )
  .post('/members/:userId/role', recentSignInForRoles, async (c) => {
    const change = await readForm(c, RoleForm, notFoundPage)
    const userId = c.req.param('userId')
    const page = () => rolePage(c, userId)
    const changed = await resultOf(c, page, changeRole({ ...scopeOf(c), userId, ...change }))
    return redirectTo(c, TEAM, changed ? 'role_changed' : 'last_owner')
  })

  .get('/members/:userId/remove', (c) => removalPage(c, c.req.param('userId')))
  .post('/members/:userId/remove', async (c) => {
    const userId = c.req.param('userId')
    const revokeKeys = (await textIn(c, 'revoke_keys')) === 'on'
    const removed = await removeMember({ ...scopeOf(c), userId, revokeKeys })
    if (!removed) return redirectTo(c, TEAM, 'last_owner')
    const isSelf = userId === c.var.user.id
    return isSelf ? c.redirect('/console', 303) : redirectTo(c, TEAM, 'member_removed')
  })

async function readTeamPage(c: ConsoleContext) {
  const scope = scopeOf(c)
  const [team, workspaces] = await Promise.all([readTeam(scope), listWorkspaces(scope)])
  return { ...team, workspaces, mayManage: may(c, 'administer') }
}

type Team = Awaited<ReturnType<typeof readTeamPage>>

async function teamPage(c: ConsoleContext) {
  const team = await readTeamPage(c)
  const { invitations, mayManage, workspaces } = team
  return memberPage(
    { c, title: 'Team' },
    <>
      {!mayManage && <p>Only owners can invite members and change roles.</p>}
      <Members c={c} {...team} />
      {mayManage && invitations.length > 0 && <Invitations {...team} />}
      {mayManage && (
        <Section id="invite-heading" title="Invite a member" card>
          <PostForm to={`${TEAM}/invitations`}>
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
        capitalised(member.role),
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
  const path = `${TEAM}/members/${member.userId}`
  const isSelf = member.userId === c.var.user.id
  const removal = isSelf
    ? { label: 'Leave', on: c.var.membership.organisation.name }
    : { label: 'Remove', on: member.email }
  return (
    <div class="buttons">
      {mayManage && <ButtonLink to={path} label="Change role" on={`of ${member.email}`} />}
      {(mayManage || isSelf) && <ButtonLink to={`${path}/remove`} {...removal} />}
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
        capitalised(invitation.role),
        workspaceNames(invitation.workspaceIds, workspaces),
        <Timestamp at={invitation.expiresAt} />,
        <ActionForm
          to={`${TEAM}/invitations/${invitation.id}/withdraw`}
          label="Withdraw"
          on={`the invitation to ${invitation.email}`}
        />,
      ])}
    />
  </Section>
)

async function rolePage(c: ConsoleContext, userId: string) {
  const [{ email, role, workspaceIds }, workspaces] = await Promise.all([
    readMember({ ...scopeOf(c), userId }),
    listWorkspaces(scopeOf(c)),
  ])
  return memberPage(
    { c, title: `Role of ${email}`, above: { [TEAM]: 'Team' } },
    <>
      {userId === c.var.user.id && (
        <p>This is your own role. If you give it up, another owner must give it back.</p>
      )}
      <section class="card" aria-label="Role and workspaces">
        <PostForm to={`${TEAM}/members/${userId}/role`}>
          <RoleFields {...{ workspaces, role, workspaceIds }} />
          <p class="muted">
            A change has effect at once. API keys that the member created continue to work and reach
            all workspaces.
          </p>
          <div class="buttons">
            <Button>Save</Button>
            <ButtonLink to={TEAM} label="Cancel" />
          </div>
        </PostForm>
      </section>
      <RoleTable />
    </>,
  )
}

async function removalPage(c: ConsoleContext, userId: string) {
  const { organisation, role } = c.var.membership
  const isSelf = userId === c.var.user.id
  if (!isSelf && role !== 'owner') throw new AppError('not_found')
  const { email } = await readMember({ ...scopeOf(c), userId })
  const keys = await activeKeysCreatedBy({ ...scopeOf(c), userId })
  const title = isSelf ? `Leave ${organisation.name}` : `Remove ${email}`
  const [keysText, them] =
    keys.length === 1 ? ['this key', 'it'] : [`these ${keys.length} keys`, 'them']
  return memberPage(
    { c, title, above: { [TEAM]: 'Team' } },
    <>
      <p>
        {isSelf ? 'You' : 'They'} will lose access to {organisation.name}.{' '}
        {keys.length > 0
          ? `The API keys that ${isSelf ? 'you' : 'they'} created continue to work unless you revoke them.`
          : `${isSelf ? 'You have' : 'They have'} not created any active API keys.`}
      </p>
      {keys.length > 0 && (
        <Table
          label="Active API keys"
          columns={['Name', 'Mode', 'Key', 'Created', 'Last used']}
          rows={keys.map((key) => [
            key.name,
            <ModeBadge mode={key.mode} />,
            <KeyText of={key} />,
            <Timestamp at={key.createdAt} />,
            <Timestamp at={key.lastUsedAt} />,
          ])}
        />
      )}
      <section class="card" aria-label={title}>
        <PostForm to={`${TEAM}/members/${userId}/remove`}>
          {keys.length > 0 && (
            <label>
              <input type="checkbox" name="revoke_keys" checked />
              Also revoke {keysText}. Requests with {them} will be rejected immediately.
            </label>
          )}
          <div class="buttons">
            <Button kind="danger">{isSelf ? 'Leave' : 'Remove'}</Button>
            <ButtonLink to={TEAM} label="Cancel" />
          </div>
        </PostForm>
      </section>
    </>,
  )
}
