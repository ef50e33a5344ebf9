// Lists, creates, renames, archives and restores workspaces.
import { z } from 'zod'
import { readCreditUse } from '../../organisations/key-limits.ts'
import { createWorkspace, listWorkspaces, updateWorkspace } from '../../organisations/workspaces.ts'
import { WORKSPACE_STATUSES } from '../../domain/organisation.ts'
import type { WorkspaceRow } from '../../platform/db/schema.ts'
import { monthlyCredits, name, pageWith, readForm, resultOf } from '../forms.ts'
import {
  ActionForm,
  Button,
  Field,
  FoldedForm,
  FormError,
  NameField,
  PostForm,
} from '../components/form.tsx'
import { monthlyCreditsField, usedOf } from '../components/key-limit-fields.tsx'
import { memberPage } from '../components/layout.tsx'
import { StatusBadge, Timestamp } from '../components/text.tsx'
import { CopyableId } from '../components/copyable-text.tsx'
import { Table, Section } from '../components/section.tsx'
import { may, createApp, scopeOf, type ConsoleContext } from '../console-context.ts'
import { redirectTo } from '../form-notices.ts'

const PAGE = '/settings/workspaces'
const Named = z.object({ name })
const Limited = z.object({ monthly_credits: monthlyCredits })
const WithStatus = z.object({ status: z.enum(WORKSPACE_STATUSES) })

export const workspaces = createApp()
  .get('/', (c) => workspacesPage(c))
  .post('/', async (c) => {
    const named = await readForm(c, Named, workspacesPage)
    await resultOf(c, workspacesPage, createWorkspace({ ...scopeOf(c), ...named }))
    return redirectTo(c, PAGE, 'workspace_created')
  })
  .post('/:workspaceId/rename', async (c) => {
    const workspaceId = c.req.param('workspaceId')
    const page = () => {
      const { errors, values } = c.var.form ?? {}
      // Every error of the form is one of its only field.
      const problem = errors?.['name'] ?? errors?.[''] ?? ''
      return pageWith(c, workspacesPage, { errors: { name: problem }, values })
    }
    const change = await readForm(c, Named, page)
    await resultOf(c, page, updateWorkspace({ ...scopeOf(c), workspaceId, change }))
    return redirectTo(c, PAGE, 'workspace_renamed')
  })
  .post('/:workspaceId/limit', async (c) => {
    const workspaceId = c.req.param('workspaceId')
    const limited = await readForm(c, Limited, workspacesPage)
    const change = { monthlyCredits: limited.monthly_credits }
    await resultOf(c, workspacesPage, updateWorkspace({ ...scopeOf(c), workspaceId, change }))
    return redirectTo(c, PAGE, 'workspace_limit_saved')
  })
  .post('/:workspaceId/status', async (c) => {
    const workspaceId = c.req.param('workspaceId')
    // Its errors are shown at the top of the page.
    const change = await readForm(c, WithStatus, workspacesPage)
    await resultOf(c, workspacesPage, updateWorkspace({ ...scopeOf(c), workspaceId, change }))
    const isActive = change.status === 'active'
    return redirectTo(c, PAGE, isActive ? 'workspace_restored' : 'workspace_archived')
  })

async function workspacesPage(c: ConsoleContext) {
  const { form } = c.var
  const workspaces = await listWorkspaces(scopeOf(c))
  const use = await readCreditUse(scopeOf(c), workspaces)
  const mayManage = may(c, 'administer')
  const columns = ['Name', 'ID', 'Status', 'Credits this month', 'Created']
  return memberPage(
    { c, title: 'Workspaces' },
    <>
      <p>
        Every job belongs to a workspace. A job without <code>workspace_id</code> is assigned to the
        oldest active workspace.
      </p>
      <FormError state={form} />
      <Table
        label="Workspaces"
        columns={mayManage ? [...columns, 'Actions'] : columns}
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
          actionsOn(workspace),
        ])}
      />
      {mayManage ? (
        <Section id="new-workspace" title="Create a workspace" card>
          {/* An error of the whole form is at the top of the page. */}
          <PostForm to={PAGE} state={form?.errors?.[''] ? { values: form.values } : undefined}>
            <Field name="name" label="Name" maxlength={100} />
            <Button>Create workspace</Button>
          </PostForm>
        </Section>
      ) : (
        <p class="muted">
          {c.var.membership.workspaceIds && 'You are limited to these workspaces. '}
          Only owners can create and change workspaces.
        </p>
      )}
    </>,
  )
}

const actionsOn = ({ id, name: current, status, monthlyCredits: limit }: WorkspaceRow) => (
  <div class="buttons">
    <FoldedForm to={`${PAGE}/${id}/rename`} label="Rename" on={current}>
      <NameField id={`name-${id}`} label="New name" value={current} />
      <Button aria-label={`Rename ${current}`}>Rename</Button>
    </FoldedForm>
    <FoldedForm to={`${PAGE}/${id}/limit`} label="Limit" on={current}>
      {monthlyCreditsField(limit, `limit-${id}`)}
      <Button aria-label={`Save limit of ${current}`}>Save limit</Button>
    </FoldedForm>
    <ActionForm
      to={`${PAGE}/${id}/status`}
      label={status === 'active' ? 'Archive' : 'Restore'}
      on={current}
      kind={status === 'active' ? 'danger' : 'secondary'}
      fields={{ status: status === 'active' ? 'archived' : 'active' }}
      confirm={
        status === 'active' &&
        `Archive “${current}”? Its current jobs continue. New jobs are rejected with workspace_not_found.`
      }
    />
  </div>
)
