// The pages of one member: the role and the workspaces, and the removal, which lists the API keys that the
// member created, with the option to revoke them. A member leaves on the page of their own removal.
import { z } from 'zod'
import { activeKeysCreatedBy } from '../../organisations/api-keys.ts'
import { changeRole, readMember, removeMember } from '../../organisations/members.ts'
import { listWorkspaces } from '../../organisations/workspaces.ts'
import { AppError } from '../../domain/errors.ts'
import { ModeBadge, Link, Timestamp } from '../components/text.tsx'
import { memberPage } from '../components/layout.tsx'
import { Button, PostForm } from '../components/form.tsx'
import {
  chosenWorkspaces,
  recentSignInForRoles,
  RoleFields,
  roleFields,
  RoleTable,
} from '../components/roles.tsx'
import { Table } from '../components/section.tsx'
import { createApp, scopeOf, type ConsoleContext } from '../console-context.ts'
import { redirectTo } from '../form-notices.ts'
import { notFoundPage } from '../error-pages.tsx'
import { readForm, resultOf, textIn, type FormState } from '../forms.ts'
import { KeyText } from './key.tsx'

const TEAM = '/settings/team'

export const member = createApp()
  .get('/:userId', (c) => rolePage(c, c.req.param('userId')))
  .get('/:userId/role', (c) =>
    redirectTo(c, `${TEAM}/members/${encodeURIComponent(c.req.param('userId'))}`),
  )
  .post('/:userId/role', recentSignInForRoles, async (c) => {
    const form = await readForm(c, z.looseObject(roleFields), notFoundPage)
    const userId = c.req.param('userId')
    const change = { role: form.role, workspaceIds: chosenWorkspaces(form) }
    const changed = await resultOf(
      c,
      (_, state) => rolePage(c, userId, state),
      changeRole({ ...scopeOf(c), userId, ...change }),
    )
    return redirectTo(c, TEAM, changed ? 'role_changed' : 'last_owner')
  })

  .get('/:userId/remove', (c) => removalPage(c, c.req.param('userId')))
  .post('/:userId/remove', async (c) => {
    const userId = c.req.param('userId')
    const revokeKeys = (await textIn(c, 'revoke_keys')) === 'on'
    const removed = await removeMember({ ...scopeOf(c), userId, revokeKeys })
    if (!removed) return redirectTo(c, TEAM, 'last_owner')
    const isSelf = userId === c.var.user.id
    return isSelf ? c.redirect('/console', 303) : redirectTo(c, TEAM, 'member_removed')
  })

async function rolePage(c: ConsoleContext, userId: string, state: FormState = {}) {
  const [{ email, role, workspaceIds }, workspaces] = await Promise.all([
    readMember({ ...scopeOf(c), userId }),
    listWorkspaces(scopeOf(c)),
  ])
  return memberPage(
    c,
    { title: `Role of ${email}`, above: { [TEAM]: 'Team' }, state },
    <>
      {userId === c.var.user.id && (
        <p>This is your own role. If you give it up, another owner must give it back.</p>
      )}
      <section class="card" aria-label="Role and workspaces">
        <PostForm to={`${TEAM}/members/${userId}/role`} state={state}>
          <RoleFields {...{ workspaces, role, workspaceIds }} />
          <p class="muted">
            A change has effect at once. API keys that the member created continue to work and reach
            all workspaces.
          </p>
          <div class="buttons">
            <Button>Save</Button>
            <Cancel />
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
    c,
    { title, above: { [TEAM]: 'Team' } },
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
            <Cancel />
          </div>
        </PostForm>
      </section>
    </>,
  )
}

const Cancel = () => (
  <Link to={TEAM} role="button" class="secondary">
    Cancel
  </Link>
)
