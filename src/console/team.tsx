// The people of an organisation: its owners invite, remove and give roles, everybody may leave.
import { Hono } from 'hono'
import { z } from 'zod'
import { requireMail } from '../accounts/auth.ts'
import {
  changeRole,
  invite,
  removeMember,
  teamOf,
  withdrawInvitation,
} from '../accounts/members.ts'
import type { Member } from '../accounts/members.ts'
import { ROLES } from '../db/people.ts'
import { AppError } from '../errors.ts'
import { invitationLetter } from '../mail/letters.ts'
import { sendMail } from '../mail/send.ts'
import { baseUrlOf } from '../api/base-url.ts'
import type { ConsoleApp, ConsoleContext } from './context.ts'
import { email } from './fields.ts'
import { ActionForm, Button, Field, Notice, PostForm, readForm } from './form.tsx'
import type { FieldState } from './form.tsx'
import { memberPage } from './layout.tsx'
import { limitInvitation } from './limits.tsx'
import { Table, When } from './parts.tsx'

const role = z.enum(ROLES, 'Choose a role.')
const Invitation = z.object({ email, role })

export const team = new Hono<ConsoleApp>()
  .get('/', (c) => teamPage(c))
  .post('/invitations', async (c) => {
    ownersOnly(c)
    const form = await readForm(c, Invitation)
    if (!form.ok) return teamPage(c, form)
    const { email: address, role: given } = form.value
    requireMail(c.env)
    const tooMany = await limitInvitation(c, address)
    if (tooMany) return tooMany
    const { organisation } = c.var.membership
    const invited = await invite(c.env, organisation.id, address, given)
    if (!invited) {
      const complaints = { email: 'This person is a member already.' }
      return teamPage(c, { complaints, entered: { email: address, role: given } })
    }
    const link = `${baseUrlOf(c)}/console/invitations/${invited.token}`
    const letter = invitationLetter(link, organisation.name, c.var.person.email)
    c.executionCtx.waitUntil(sendMail(c.env, address, letter))
    const changed = invited.replaced !== undefined && invited.replaced !== given
    return c.redirect(`/console/settings/team?invited=${changed ? given : 1}`, 303)
  })
  .post('/invitations/:invitationId/withdraw', async (c) => {
    ownersOnly(c)
    const { id } = c.var.membership.organisation
    if (!(await withdrawInvitation(c.env, id, c.req.param('invitationId')))) {
      throw new AppError('not_found')
    }
    return c.redirect('/console/settings/team?withdrawn=1', 303)
  })
  .post('/members/:userId/role', async (c) => {
    ownersOnly(c)
    const form = await readForm(c, z.object({ role }))
    const { id } = c.var.membership.organisation
    if (!form.ok) throw new AppError('not_found')
    const changed = await changeRole(c.env, id, c.req.param('userId'), form.value.role)
    return c.redirect(`/console/settings/team?${changed ? 'role' : 'stays'}=1`, 303)
  })
  .post('/members/:userId/remove', async (c) => {
    const userId = c.req.param('userId')
    const leaving = userId === c.var.person.id
    if (!leaving) ownersOnly(c)
    const removed = await removeMember(c.env, c.var.membership.organisation.id, userId)
    if (!removed) return c.redirect('/console/settings/team?stays=1', 303)
    return c.redirect(leaving ? '/console' : '/console/settings/team?removed=1', 303)
  })

/** @throws AppError not_found: what members may not do is not there for them */
function ownersOnly(c: ConsoleContext): void {
  if (c.var.membership.role !== 'owner') throw new AppError('not_found')
}

async function teamPage(c: ConsoleContext, state: FieldState = {}) {
  const { organisation, role: own } = c.var.membership
  const { members, invitations } = await teamOf(c.env, organisation.id)
  const isOwner = own === 'owner'
  const owners = members.filter((member) => member.role === 'owner')
  const invited = c.req.query('invited')
  return memberPage(
    c,
    { title: 'Team', status: state.complaints ? 422 : 200 },
    <>
      <h1>Team</h1>
      <p>
        Members see and do everything here but this: inviting and removing people, and giving roles,
        is for owners.
      </p>
      {invited && (
        <Notice kind="good">
          The invitation is on its way.
          {(invited === 'owner' || invited === 'member') &&
            ` It replaces the open one of this address, whose role is now ${invited}.`}
        </Notice>
      )}
      {c.req.query('role') && <Notice kind="good">The role is changed.</Notice>}
      {c.req.query('withdrawn') && <Notice kind="good">The invitation is withdrawn.</Notice>}
      {c.req.query('removed') && (
        <Notice kind="good">
          The person is removed and sees nothing of {organisation.name} from now on.
        </Notice>
      )}
      {c.req.query('stays') && (
        <Notice kind="bad">The last owner of an organisation stays its owner.</Notice>
      )}
      <Table
        label="Members"
        columns={['Person', 'Role', 'Since', 'Action']}
        rows={members.map((member) => {
          const self = member.userId === c.var.person.id
          return [
            <>
              {member.email} {self && <span class="quiet">(you)</span>}
            </>,
            member.role,
            <When at={member.createdAt} />,
            self && isOwner && owners.length === 1 ? (
              <span class="quiet">the last owner stays</span>
            ) : (
              <div class="actions">
                {isOwner && <ChangeRole member={member} />}
                {(isOwner || self) && (
                  <ActionForm
                    action={`/console/settings/team/members/${member.userId}/remove`}
                    label={self ? 'Leave' : 'Remove'}
                    on={self ? organisation.name : member.email}
                    kind="danger"
                    confirm={
                      self
                        ? `Leave ${organisation.name}?`
                        : `Remove ${member.email} from ${organisation.name}?`
                    }
                  />
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
            columns={['Address', 'Role', 'Open until', 'Action']}
            rows={invitations.map((invitation) => [
              invitation.email,
              invitation.role,
              <When at={invitation.expiresAt} />,
              isOwner && (
                <ActionForm
                  action={`/console/settings/team/invitations/${invitation.id}/withdraw`}
                  label="Withdraw"
                  on={`the invitation of ${invitation.email}`}
                />
              ),
            ])}
          />
        </section>
      )}
      {isOwner && (
        <section class="card" aria-labelledby="invite-heading">
          <h2 id="invite-heading">Invite somebody</h2>
          <PostForm action="/console/settings/team/invitations" novalidate>
            <Field name="email" label="Email" type="email" autocomplete="off" state={state} />
            <div class="field">
              <label for="role">Role</label>
              <select id="role" name="role">
                <option value="member">Member</option>
                <option value="owner" selected={state.entered?.['role'] === 'owner' || undefined}>
                  Owner
                </option>
              </select>
            </div>
            <Button>Send the invitation</Button>
          </PostForm>
        </section>
      )}
    </>,
  )
}

const ChangeRole = ({ member: { userId, email: address, role: current } }: { member: Member }) => (
  <ActionForm
    action={`/console/settings/team/members/${userId}/role`}
    label={current === 'owner' ? 'Make a member' : 'Make an owner'}
    fields={{ role: current === 'owner' ? 'member' : 'owner' }}
    confirm={
      current === 'owner'
        ? `Make ${address} a member, who can no longer invite or remove people?`
        : `Make ${address} an owner, who can invite and remove people, you included?`
    }
  />
)
