// The role and the workspaces of one member. For owners.
import { Hono } from 'hono'
import { z } from 'zod'
import { changeRole, readMember } from '../../organisations/members.ts'
import { listWorkspaces } from '../../organisations/workspaces.ts'
import { AppError } from '../../domain/errors.ts'
import { Button, FormError, PostForm } from '../components/form.tsx'
import { memberPage } from '../components/layout.tsx'
import { Link } from '../components/link.tsx'
import { RoleFields, RoleTable } from '../components/roles.tsx'
import type { ConsoleApp, ConsoleContext } from '../console-context.ts'
import { recentSignInForRoles } from '../components/roles.tsx'
import { scopeOf } from '../middleware/session.ts'
import { redirectTo } from '../organisation-path.ts'
import { formStateOf, readForm, textsOf } from '../read-form.ts'
import type { FormState } from '../read-form.ts'
import { chosenWorkspaces, roleFields } from '../components/roles.tsx'

export const member = new Hono<ConsoleApp>()
  .get('/members/:userId', (c) => rolePage(c, c.req.param('userId')))
  .get('/members/:userId/role', (c) =>
    redirectTo(c, `/settings/team/members/${encodeURIComponent(c.req.param('userId'))}`),
  )
  .post('/members/:userId/role', recentSignInForRoles, async (c) => {
    const form = await readForm(c, z.looseObject(roleFields))
    if (!form.ok) throw new AppError('not_found')
    const userId = c.req.param('userId')
    const { role } = form.data
    const workspaceIds = chosenWorkspaces(form.data)
    let changed
    try {
      changed = await changeRole({ ...scopeOf(c), userId, role, workspaceIds })
    } catch (error) {
      return rolePage(c, userId, formStateOf(error, textsOf(form.data)))
    }
    return redirectTo(c, '/settings/team', changed ? 'role_changed' : 'last_owner')
  })

async function rolePage(c: ConsoleContext, userId: string, state: FormState = {}) {
  const [current, workspaces] = await Promise.all([
    readMember({ ...scopeOf(c), userId }),
    listWorkspaces(scopeOf(c)),
  ])
  const title = `Role of ${current.email}`
  return memberPage(
    c,
    { title, status: state.errors ? 422 : 200 },
    <>
      <p class="breadcrumb">
        <Link to="/settings/team">Team</Link>
      </p>
      <h1 class="address">{title}</h1>
      {userId === c.var.user.id && (
        <p>This is your own role. If you give it up, another owner must give it back.</p>
      )}
      <section class="card" aria-label="Role and workspaces">
        <PostForm to={`/settings/team/members/${userId}/role`}>
          <FormError state={state} />
          <RoleFields workspaces={workspaces} current={current} state={state} />
          <p class="muted">
            A change has effect at once. API keys that the member created continue to work and reach
            all workspaces.
          </p>
          <div class="buttons">
            <Button>Save</Button>
            <Link to="/settings/team" role="button" class="secondary">
              Cancel
            </Link>
          </div>
        </PostForm>
      </section>
      <RoleTable />
    </>,
  )
}
