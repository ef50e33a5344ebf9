// Lists, creates, renames, archives and restores workspaces.
import { Hono } from 'hono'
import { z } from 'zod'
import { readCreditUse } from '../../organisations/read-credit-use.ts'
import { createWorkspace, listWorkspaces, updateWorkspace } from '../../organisations/workspaces.ts'
import { permits } from '../../domain/role.ts'
import { WORKSPACE_STATUSES } from '../../domain/organisation.ts'
import type { WorkspaceRow } from '../../platform/db/schema.ts'
import type { ConsoleApp, ConsoleContext } from '../console-context.ts'
import { monthlyCredits, name } from '../fields.ts'
import { ActionForm, Button, Field, FormError, PostForm, RenameForm } from '../components/form.tsx'
import { MonthlyCreditsField, usedOf } from '../components/key-limit-fields.tsx'
import { readForm, formStateOf } from '../read-form.ts'
import type { FormState } from '../read-form.ts'
import { memberPage } from '../components/layout.tsx'
import { StatusBadge } from '../components/badges.tsx'
import { CopyableId } from '../components/copyable-text.tsx'
import { Table } from '../components/table.tsx'
import { Timestamp } from '../components/time.tsx'
import { scopeOf } from '../middleware/session.ts'
import { Section } from '../components/section.tsx'
import { redirectTo } from '../organisation-path.ts'

export const workspaces = new Hono<ConsoleApp>()
  .get('/', (c) => workspacesPage(c))
  .post('/', async (c) => {
    const form = await readForm(c, z.object({ name }))
    if (!form.ok) return workspacesPage(c, form)
    try {
      await createWorkspace({ ...scopeOf(c), name: form.data.name })
    } catch (error) {
      return workspacesPage(c, formStateOf(error, form.data))
    }
    return redirectTo(c, '/settings/workspaces', 'workspace_created')
  })
  .post('/:workspaceId/rename', async (c) => {
    const form = await readForm(c, z.object({ name }))
    if (!form.ok) return workspacesPage(c, {}, { id: c.req.param('workspaceId'), renaming: form })
    const workspaceId = c.req.param('workspaceId')
    try {
      await updateWorkspace({ ...scopeOf(c), workspaceId, change: form.data })
    } catch (error) {
      const errors = { name: formStateOf(error).errors?.[''] ?? '' }
      return workspacesPage(c, {}, { id: workspaceId, renaming: { errors, values: form.data } })
    }
    return redirectTo(c, '/settings/workspaces', 'workspace_renamed')
  })
  .post('/:workspaceId/limit', async (c) => {
    const workspaceId = c.req.param('workspaceId')
    const form = await readForm(c, z.object({ monthly_credits: monthlyCredits }))
    if (!form.ok) return workspacesPage(c, {}, { id: workspaceId, limiting: form })
    const change = { monthlyCredits: form.data.monthly_credits }
    try {
      await updateWorkspace({ ...scopeOf(c), workspaceId, change })
    } catch (error) {
      return workspacesPage(c, formStateOf(error))
    }
    return redirectTo(c, '/settings/workspaces', 'workspace_limit_saved')
  })
  .post('/:workspaceId/status', async (c) => {
    const form = await readForm(c, z.object({ status: z.enum(WORKSPACE_STATUSES) }))
    if (!form.ok) return redirectTo(c, '/settings/workspaces')
    const workspaceId = c.req.param('workspaceId')
    try {
      await updateWorkspace({ ...scopeOf(c), workspaceId, change: form.data })
    } catch (error) {
      return workspacesPage(c, formStateOf(error))
    }
    const done = form.data.status === 'active' ? 'workspace_restored' : 'workspace_archived'
    return redirectTo(c, '/settings/workspaces', done)
  })

/**
 * @param state of the form that creates a workspace
 * @param rejected the workspace with a form that has errors
 */
async function workspacesPage(
  c: ConsoleContext,
  state: FormState = {},
  rejected?: { id: string; renaming?: FormState; limiting?: FormState },
) {
  const workspaces = await listWorkspaces(scopeOf(c))
  const use = await readCreditUse(scopeOf(c), workspaces)
  const { role, workspaceIds } = c.var.membership
  const mayManage = permits(role, 'administer')
  const hasErrors = state.errors ?? rejected
  return memberPage(
    c,
    { title: 'Workspaces', status: hasErrors ? 422 : 200 },
    <>
      <h1>Workspaces</h1>
      <p>
        Every job belongs to a workspace. A job without <code>workspace_id</code> is assigned to the
        oldest active workspace.
      </p>
      <FormError state={state} />
      <Table
        label="Workspaces"
        columns={[
          'Name',
          'ID',
          'Status',
          'Credits this month',
          'Created',
          ...(mayManage ? ['Actions'] : []),
        ]}
        rows={workspaces.map((workspace) => [
          workspace.name,
          <CopyableId id={workspace.id} label={`the ID of ${workspace.name}`} />,
          <StatusBadge status={workspace.status} />,
          workspace.monthlyCredits === null ? (
            <span class="muted">No limit</span>
          ) : (
            usedOf(workspace.monthlyCredits, use.get(workspace.id))
          ),
          <Timestamp as="day" at={workspace.createdAt} />,
          <div class="actions">
            <RenameForm
              to={`/settings/workspaces/${workspace.id}/rename`}
              current={workspace.name}
              id={`name-${workspace.id}`}
              label="New name"
              state={rejected?.id === workspace.id ? rejected.renaming : undefined}
              isOpen={rejected?.id === workspace.id && rejected.renaming !== undefined}
            />
            <LimitForm
              workspace={workspace}
              state={rejected?.id === workspace.id ? rejected.limiting : undefined}
            />
            <Archive workspace={workspace} />
          </div>,
        ])}
      />
      {mayManage ? (
        <Section id="new-workspace" title="Create a workspace" card>
          <PostForm to="/settings/workspaces" novalidate>
            <Field name="name" label="Name" state={state} maxlength={100} />
            <Button>Create workspace</Button>
          </PostForm>
        </Section>
      ) : (
        <p class="muted">
          {workspaceIds && 'You are limited to these workspaces. '}
          Only owners can create and change workspaces.
        </p>
      )}
    </>,
  )
}

/** A button that opens the form of the limit. */
const LimitForm = ({
  workspace: { id, name: current, monthlyCredits: limit },
  state,
}: {
  workspace: WorkspaceRow
  state: FormState | undefined
}) => (
  <details class="confirm plain" open={state !== undefined || undefined}>
    <summary role="button" class="secondary" aria-label={`Limit ${current}`}>
      Limit
    </summary>
    <PostForm to={`/settings/workspaces/${id}/limit`} novalidate>
      <MonthlyCreditsField id={`limit-${id}`} state={state ?? {}} value={limit} />
      <Button ariaLabel={`Save limit of ${current}`}>Save limit</Button>
    </PostForm>
  </details>
)

const Archive = ({ workspace: { id, name: current, status } }: { workspace: WorkspaceRow }) =>
  status === 'active' ? (
    <ActionForm
      to={`/settings/workspaces/${id}/status`}
      label="Archive"
      on={current}
      kind="danger"
      fields={{ status: 'archived' }}
      confirm={`Archive “${current}”? Its current jobs continue. New jobs are rejected with workspace_not_found.`}
    />
  ) : (
    <ActionForm
      to={`/settings/workspaces/${id}/status`}
      label="Restore"
      on={current}
      fields={{ status: 'active' }}
    />
  )
