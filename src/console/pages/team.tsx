// The people of an organisation. Owners invite, remove and change roles; every member can leave.
import { Hono } from 'hono'
import { createMiddleware } from 'hono/factory'
import { z } from 'zod'
import { activeKeysCreatedBy } from '../../accounts/api-keys.ts'
import { requireMail } from '../../accounts/auth.ts'
import { invite, withdrawInvitation } from '../../accounts/invitations.ts'
import { changeRole, readMember, readTeam, removeMember } from '../../accounts/members.ts'
import type { Member } from '../../accounts/members.ts'
import { ROLES } from '../../db/auth-schema.ts'
import { AppError } from '../../domain/errors.ts'
import { invitationEmail } from '../../mail/templates.tsx'
import { sendEmail } from '../../mail/send.ts'
import { baseUrlOf } from '../../http/base-url.ts'
import type { ConsoleApp, ConsoleContext } from '../context.ts'
import { email } from '../fields.ts'
import {
  ActionForm,
  Button,
  Field,
  FormError,
  Notice,
  PostForm,
  readForm,
  rejectedForm,
} from '../components/form.tsx'
import type { FieldState } from '../components/form.tsx'
import { memberPage } from '../components/layout.tsx'
import { limitInvitation } from '../middleware/throttle.tsx'
import { Mode, Table, When } from '../components/parts.tsx'
import { recentSignIn } from '../middleware/recent-sign-in.tsx'
import { ownersOnly, requestOf } from '../middleware/session.ts'

const role = z.enum(ROLES, 'Choose a role.')
const Invitation = z.object({ email, role })
const Removal = z.object({ revoke_keys: z.literal('on').optional() })

/** A new owner may reveal the signing secret, so a session that was left open cannot add one. */
const recentSignInForOwners = createMiddleware<ConsoleApp>(async (c, next) => {
  const { role: given } = await c.req.parseBody()
  return given === 'owner' ? recentSignIn(c, next) : next()
})

export const team = new Hono<ConsoleApp>()
  .get('/', (c) => teamPage(c))
  .post('/invitations', ownersOnly, recentSignInForOwners, async (c) => {
    const form = await readForm(c, Invitation)
    if (!form.ok) return teamPage(c, form)
    const { email: address, role: given } = form.value
    requireMail(c.env)
    const tooMany = await limitInvitation(c, address)
    if (tooMany) return tooMany
    const { organisation } = c.var.membership
    let invited
    try {
      invited = await invite({ ...requestOf(c), ...form.value })
    } catch (error) {
      return teamPage(c, rejectedForm(error, form.value))
    }
    if (!invited) {
      const complaints = { email: 'This person is a member already.' }
      return teamPage(c, { complaints, entered: { email: address, role: given } })
    }
    const link = `${baseUrlOf(c)}/console/invitations/${invited.token}`
    const email = invitationEmail({
      link,
      organisationName: organisation.name,
      invitedBy: c.var.person.email,
    })
    c.executionCtx.waitUntil(sendEmail({ env: c.env, to: address, email }))
    const changed = invited.replaced !== undefined && invited.replaced !== given
    return c.redirect(`/console/settings/team?invited=${changed ? given : 1}`, 303)
  })
  .post('/invitations/:invitationId/withdraw', async (c) => {
    await withdrawInvitation({ ...requestOf(c), invitationId: c.req.param('invitationId') })
    return c.redirect('/console/settings/team?withdrawn=1', 303)
  })
  .post('/members/:userId/role', ownersOnly, recentSignInForOwners, async (c) => {
    const form = await readForm(c, z.object({ role }))
    if (!form.ok) throw new AppError('not_found')
    const userId = c.req.param('userId')
    const changed = await changeRole({ ...requestOf(c), userId, role: form.value.role })
    return c.redirect(`/console/settings/team?${changed ? 'role' : 'stays'}=1`, 303)
  })
  .get('/members/:userId/remove', (c) => removalPage(c, c.req.param('userId')))
  .post('/members/:userId/remove', async (c) => {
    const userId = c.req.param('userId')
    const leaving = userId === c.var.person.id
    const form = await readForm(c, Removal)
    const revokeKeys = form.ok && form.value.revoke_keys !== undefined
    const removed = await removeMember({ ...requestOf(c), userId, revokeKeys })
    if (!removed) return c.redirect('/console/settings/team?stays=1', 303)
    return c.redirect(leaving ? '/console' : '/console/settings/team?removed=1', 303)
  })

/** Asks before a member is removed or leaves, and lists the keys that they can still use. */
async function removalPage(c: ConsoleContext, userId: string) {
  const { organisation, role: own } = c.var.membership
  const self = userId === c.var.person.id
  if (!self && own !== 'owner') throw new AppError('not_found')
  const member = await readMember({ ...requestOf(c), userId })
  const keys = await activeKeysCreatedBy({ ...requestOf(c), userId })
  const title = self ? `Leave ${organisation.name}` : `Remove ${member.email}`
  return memberPage(
    c,
    { title },
    <>
      <p class="crumb">
        <a href="/console/settings/team">Team</a>
      </p>
      <h1>{title}</h1>
      <p>
        {self
          ? `You will no longer see anything of ${organisation.name}.`
          : `They will no longer see anything of ${organisation.name}.`}{' '}
        {keys.length > 0
          ? `The API keys that ${self ? 'you' : 'they'} created continue to work unless they are revoked.`
          : `No active API key was created by ${self ? 'you' : 'them'}.`}
      </p>
      {keys.length > 0 && (
        <Table
          label="Active API keys"
          columns={['Name', 'Mode', 'Key', 'Created', 'Last used']}
          rows={keys.map((key) => [
            key.name,
            <Mode mode={key.mode} />,
            <code>
              svc_{key.mode}_sk_…{key.lastFour}
            </code>,
            <When at={key.createdAt} />,
            <When at={key.lastUsedAt} />,
          ])}
        />
      )}
      <section class="card" aria-label={title}>
        <PostForm action={`/console/settings/team/members/${userId}/remove`}>
          {keys.length > 0 && (
            <label>
              <input type="checkbox" name="revoke_keys" checked />
              Also revoke {keys.length === 1 ? 'this key' : `these ${keys.length} keys`}. Requests
              with {keys.length === 1 ? 'it' : 'them'} are rejected at once.
            </label>
          )}
          <div class="buttons">
            <Button kind="danger">{self ? 'Leave' : 'Remove'}</Button>
            <a href="/console/settings/team" role="button" class="secondary">
              Cancel
            </a>
          </div>
        </PostForm>
      </section>
    </>,
  )
}

async function teamPage(c: ConsoleContext, state: FieldState = {}) {
  const { organisation, role: own } = c.var.membership
  const { members, invitations } = await readTeam(requestOf(c))
  const isOwner = own === 'owner'
  const owners = members.filter((member) => member.role === 'owner')
  const invited = c.req.query('invited')
  return memberPage(
    c,
    { title: 'Team', status: state.complaints ? 422 : 200 },
    <>
      <h1>Team</h1>
      <p>
        Only owners can invite and remove people, change roles, reveal or rotate the signing secret
        and read the audit log. Members can do everything else.
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
                  <a
                    href={`/console/settings/team/members/${member.userId}/remove`}
                    role="button"
                    class="secondary"
                    aria-label={self ? `Leave ${organisation.name}` : `Remove ${member.email}`}
                  >
                    {self ? 'Leave' : 'Remove'}
                  </a>
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
          <h2 id="invite-heading">Invite a person</h2>
          <PostForm action="/console/settings/team/invitations" novalidate>
            <FormError state={state} />
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
