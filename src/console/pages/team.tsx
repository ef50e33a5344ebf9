// The members of an organisation and the open invitations.
import { Hono } from 'hono'
import { createMiddleware } from 'hono/factory'
import { z } from 'zod'
import { requireMail } from '../../accounts/auth.ts'
import { invite, withdrawInvitation } from '../../accounts/invitations.ts'
import { changeRole, readTeam } from '../../accounts/members.ts'
import type { Member } from '../../accounts/members.ts'
import { ROLES } from '../../domain/role.ts'
import { AppError } from '../../domain/errors.ts'
import { baseUrlOf } from '../../http/base-url.ts'
import type { ConsoleApp, ConsoleContext } from '../context.ts'
import { email } from '../fields.ts'
import { ActionForm, Button, Field, FormError, PostForm } from '../components/form.tsx'
import { Notice } from '../components/notice.tsx'
import { readForm, formStateOf } from '../read-form.ts'
import type { FormState } from '../read-form.ts'
import { memberPage } from '../components/layout.tsx'
import { limitInvitation } from '../middleware/throttle.tsx'
import { Table } from '../components/table.tsx'
import { Timestamp } from '../components/time.tsx'
import { requireRecentSignIn } from '../middleware/recent-sign-in.tsx'
import { requireOwner, scopeOf } from '../middleware/session.ts'
import { Link } from '../components/link.tsx'
import { redirectTo } from '../organisation-path.ts'

const role = z.enum(ROLES, 'Choose a role.')
const Invitation = z.object({ email, role })

/** A new owner can reveal the signing secret, so creating one requires a recent sign-in. */
const recentSignInForOwners = createMiddleware<ConsoleApp>(async (c, next) => {
  const { role } = await c.req.parseBody()
  return role === 'owner' ? requireRecentSignIn(c, next) : next()
})

export const team = new Hono<ConsoleApp>()
  .get('/', (c) => teamPage(c))
  .post('/invitations', requireOwner, recentSignInForOwners, async (c) => {
    const form = await readForm(c, Invitation)
    if (!form.ok) return teamPage(c, form)
    const { email: address, role: invitedRole } = form.data
    requireMail(c.env)
    const tooMany = await limitInvitation(c, address)
    if (tooMany) return tooMany
    const organisationName = c.var.membership.organisation.name
    let invited
    try {
      invited = await invite({
        ...scopeOf(c),
        ...form.data,
        organisationName,
        baseUrl: baseUrlOf(c),
      })
    } catch (error) {
      return teamPage(c, formStateOf(error, form.data))
    }
    if (!invited) {
      const errors = { email: 'This user is already a member.' }
      return teamPage(c, { errors, values: { email: address, role: invitedRole } })
    }
    const changed = invited.replaced !== undefined && invited.replaced !== invitedRole
    return redirectTo(c, `/settings/team?invited=${changed ? invitedRole : 1}`)
  })
  .post('/invitations/:invitationId/withdraw', async (c) => {
    await withdrawInvitation({ ...scopeOf(c), invitationId: c.req.param('invitationId') })
    return redirectTo(c, '/settings/team?withdrawn=1')
  })
  .post('/members/:userId/role', requireOwner, recentSignInForOwners, async (c) => {
    const form = await readForm(c, z.object({ role }))
    if (!form.ok) throw new AppError('not_found')
    const userId = c.req.param('userId')
    const changed = await changeRole({ ...scopeOf(c), userId, role: form.data.role })
    return redirectTo(c, `/settings/team?${changed ? 'role' : 'last_owner'}=1`)
  })

async function teamPage(c: ConsoleContext, state: FormState = {}) {
  const { organisation, role: ownRole } = c.var.membership
  const { members, invitations } = await readTeam(scopeOf(c))
  const isOwner = ownRole === 'owner'
  const owners = members.filter((member) => member.role === 'owner')
  const invited = c.req.query('invited')
  return memberPage(
    c,
    { title: 'Team', status: state.errors ? 422 : 200 },
    <>
      <h1>Team</h1>
      <p>
        Only owners can manage the team and billing, reveal and rotate the signing secret, change
        the organisation settings and read the audit log. Members can do everything else.
      </p>
      {invited && (
        <Notice kind="good">
          Invitation sent.
          {(invited === 'owner' || invited === 'developer') &&
            ` It replaces the earlier invitation. The role is now ${invited}.`}
        </Notice>
      )}
      {c.req.query('role') && <Notice kind="good">Role changed.</Notice>}
      {c.req.query('withdrawn') && <Notice kind="good">Invitation withdrawn.</Notice>}
      {c.req.query('removed') && (
        <Notice kind="good">
          Member removed. They no longer have access to {organisation.name}.
        </Notice>
      )}
      {c.req.query('last_owner') && (
        <Notice kind="bad">An organisation must have at least one owner.</Notice>
      )}
      <Table
        label="Members"
        columns={['Email', 'Role', 'Joined', 'Actions']}
        rows={members.map((member) => {
          const isSelf = member.userId === c.var.user.id
          return [
            <>
              {member.email} {isSelf && <span class="muted">(you)</span>}
            </>,
            member.role,
            <Timestamp at={member.createdAt} />,
            isSelf && isOwner && owners.length === 1 ? (
              <span class="muted">Only owner</span>
            ) : (
              <div class="actions">
                {isOwner && <ChangeRole member={member} />}
                {(isOwner || isSelf) && (
                  <Link
                    to={`/settings/team/members/${member.userId}/remove`}
                    role="button"
                    class="secondary"
                    aria-label={isSelf ? `Leave ${organisation.name}` : `Remove ${member.email}`}
                  >
                    {isSelf ? 'Leave' : 'Remove'}
                  </Link>
                )}
              </div>
            ),
          ]
        })}
      />
      {invitations.length > 0 && (
        <section aria-labelledby="invitations-heading">
          <h2 id="invitations-heading">Open invitations</h2>
          <Table
            label="Open invitations"
            columns={['Email', 'Role', 'Expires', 'Actions']}
            rows={invitations.map((invitation) => [
              invitation.email,
              invitation.role,
              <Timestamp at={invitation.expiresAt} />,
              isOwner && (
                <ActionForm
                  to={`/settings/team/invitations/${invitation.id}/withdraw`}
                  label="Withdraw"
                  on={`the invitation to ${invitation.email}`}
                />
              ),
            ])}
          />
        </section>
      )}
      {isOwner && (
        <section class="card" aria-labelledby="invite-heading">
          <h2 id="invite-heading">Invite a member</h2>
          <PostForm to="/settings/team/invitations" novalidate>
            <FormError state={state} />
            <Field name="email" label="Email" type="email" autocomplete="off" state={state} />
            <div class="field">
              <label for="role">Role</label>
              <select id="role" name="role">
                <option value="member">Member</option>
                <option value="owner" selected={state.values?.['role'] === 'owner' || undefined}>
                  Owner
                </option>
              </select>
            </div>
            <Button>Send invitation</Button>
          </PostForm>
        </section>
      )}
    </>,
  )
}

const ChangeRole = ({ member: { userId, email: address, role: current } }: { member: Member }) => (
  <ActionForm
    to={`/settings/team/members/${userId}/role`}
    label={current === 'owner' ? 'Make member' : 'Make owner'}
    fields={{ role: current === 'owner' ? 'developer' : 'owner' }}
    confirm={
      current === 'owner'
        ? `Make ${address} a member? They will no longer be able to manage the team.`
        : `Make ${address} an owner? They will be able to manage the team and to remove you.`
    }
  />
)
