// Removes a member, or lets a member leave. Lists the API keys that the member created, with the option
// to revoke them.
import { Hono } from 'hono'
import { z } from 'zod'
import { activeKeysCreatedBy } from '../../organisations/api-keys.ts'
import { readMember, removeMember as remove } from '../../organisations/members.ts'
import { AppError } from '../../domain/errors.ts'
import { ModeBadge } from '../components/badges.tsx'
import { Button, PostForm } from '../components/form.tsx'
import { memberPage } from '../components/layout.tsx'
import { Table } from '../components/table.tsx'
import { Timestamp } from '../components/time.tsx'
import type { ConsoleApp, ConsoleContext } from '../console-context.ts'
import { scopeOf } from '../middleware/session.ts'
import { readForm } from '../read-form.ts'
import { Link } from '../components/link.tsx'
import { redirectTo } from '../organisation-path.ts'

const Removal = z.object({ revoke_keys: z.literal('on').optional() })

export const removeMember = new Hono<ConsoleApp>()
  .get('/members/:userId/remove', (c) => confirmPage(c, c.req.param('userId')))
  .post('/members/:userId/remove', async (c) => {
    const userId = c.req.param('userId')
    const isSelf = userId === c.var.user.id
    const form = await readForm(c, Removal)
    const revokeKeys = form.ok && form.data.revoke_keys !== undefined
    const removed = await remove({ ...scopeOf(c), userId, revokeKeys })
    if (!removed) return redirectTo(c, '/settings/team', 'last_owner')
    return isSelf ? c.redirect('/console', 303) : redirectTo(c, '/settings/team', 'member_removed')
  })

async function confirmPage(c: ConsoleContext, userId: string) {
  const { organisation, role } = c.var.membership
  const isSelf = userId === c.var.user.id
  if (!isSelf && role !== 'owner') throw new AppError('not_found')
  const member = await readMember({ ...scopeOf(c), userId })
  const keys = await activeKeysCreatedBy({ ...scopeOf(c), userId })
  const title = isSelf ? `Leave ${organisation.name}` : `Remove ${member.email}`
  return memberPage(
    c,
    { title },
    <>
      <p class="breadcrumb">
        <Link to="/settings/team">Team</Link>
      </p>
      <h1>{title}</h1>
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
            <code>
              svc_{key.mode}_sk_…{key.lastFour}
            </code>,
            <Timestamp at={key.createdAt} />,
            <Timestamp at={key.lastUsedAt} />,
          ])}
        />
      )}
      <section class="card" aria-label={title}>
        <PostForm to={`/settings/team/members/${userId}/remove`}>
          {keys.length > 0 && (
            <label>
              <input type="checkbox" name="revoke_keys" checked />
              Also revoke {keys.length === 1 ? 'this key' : `these ${keys.length} keys`}. Requests
              with {keys.length === 1 ? 'it' : 'them'} will be rejected immediately.
            </label>
          )}
          <div class="buttons">
            <Button kind="danger">{isSelf ? 'Leave' : 'Remove'}</Button>
            <Link to="/settings/team" role="button" class="secondary">
              Cancel
            </Link>
          </div>
        </PostForm>
      </section>
    </>,
  )
}
