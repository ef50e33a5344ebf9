// Workspaces: created, renamed, archived and restored.
import { Hono } from 'hono'
import { z } from 'zod'
import { createWorkspace, listWorkspaces, updateWorkspace } from '../../accounts/workspaces.ts'
import { WORKSPACE_STATUSES } from '../../domain/organisation.ts'
import type { WorkspaceRow } from '../../db/schema.ts'
import type { ConsoleApp, ConsoleContext } from '../context.ts'
import { name } from '../fields.ts'
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
import { Status, Table, When } from '../components/parts.tsx'
import { requestOf } from '../middleware/session.ts'

const DONE: Record<string, string> = {
  created: 'The workspace is created.',
  renamed: 'The workspace is renamed.',
  archived: 'The workspace is archived; new jobs for it are refused.',
  restored: 'The workspace is restored and takes jobs again.',
}

export const workspaces = new Hono<ConsoleApp>()
  .get('/', (c) => workspacesPage(c))
  .post('/', async (c) => {
    const form = await readForm(c, z.object({ name }))
    if (!form.ok) return workspacesPage(c, form)
    try {
      await createWorkspace({ ...requestOf(c), name: form.value.name })
    } catch (error) {
      return workspacesPage(c, rejectedForm(error, form.value))
    }
    return c.redirect('/console/settings/workspaces?done=created', 303)
  })
  .post('/:workspaceId/rename', async (c) => {
    const form = await readForm(c, z.object({ name }))
    if (!form.ok) return workspacesPage(c, {}, { id: c.req.param('workspaceId'), state: form })
    const workspaceId = c.req.param('workspaceId')
    await updateWorkspace({ ...requestOf(c), workspaceId, change: form.value })
    return c.redirect('/console/settings/workspaces?done=renamed', 303)
  })
  .post('/:workspaceId/status', async (c) => {
    const form = await readForm(c, z.object({ status: z.enum(WORKSPACE_STATUSES) }))
    if (!form.ok) return c.redirect('/console/settings/workspaces', 303)
    const workspaceId = c.req.param('workspaceId')
    try {
      await updateWorkspace({ ...requestOf(c), workspaceId, change: form.value })
    } catch (error) {
      return workspacesPage(c, rejectedForm(error))
    }
    const done = form.value.status === 'active' ? 'restored' : 'archived'
    return c.redirect(`/console/settings/workspaces?done=${done}`, 303)
  })

/**
 * @param state of the form that creates
 * @param renaming of the form that renames one of them
 */
async function workspacesPage(
  c: ConsoleContext,
  state: FieldState = {},
  renaming?: { id: string; state: FieldState },
) {
  const workspaces = await listWorkspaces(requestOf(c))
  const refused = state.complaints ?? renaming?.state.complaints
  const done = DONE[c.req.query('done') ?? '']
  return memberPage(
    c,
    { title: 'Workspaces', status: refused ? 422 : 200 },
    <>
      <h1>Workspaces</h1>
      <p>
        Every job belongs to one. Without a <code>workspace_id</code>, a job goes to the oldest
        active workspace.
      </p>
      {done && <Notice kind="good">{done}</Notice>}
      <FormError state={state} />
      <Table
        label="Workspaces"
        columns={['Name', 'Id', 'State', 'Created', 'Actions']}
        rows={workspaces.map((workspace) => [
          workspace.name,
          <span class="id">{workspace.id}</span>,
          <Status status={workspace.status} />,
          <When at={workspace.createdAt} />,
          <div class="actions">
            <Rename
              workspace={workspace}
              state={renaming?.id === workspace.id ? renaming.state : undefined}
            />
            <Archive workspace={workspace} />
          </div>,
        ])}
      />
      <section class="card" aria-labelledby="new-workspace">
        <h2 id="new-workspace">Create a workspace</h2>
        <PostForm action="/console/settings/workspaces" novalidate>
          <Field name="name" label="Name" state={state} maxlength={100} />
          <Button>Create workspace</Button>
        </PostForm>
      </section>
    </>,
  )
}

const Rename = ({
  workspace: { id, name: current },
  state,
}: {
  workspace: WorkspaceRow
  state: FieldState | undefined
}) => (
  <details class="confirm plain" open={state !== undefined || undefined}>
    <summary role="button" class="secondary" aria-label={`Rename ${current}`}>
      Rename
    </summary>
    <PostForm action={`/console/settings/workspaces/${id}/rename`}>
      <Field
        id={`name-${id}`}
        name="name"
        label="New name"
        value={current}
        maxlength={100}
        {...(state && { state })}
      />
      <Button spoken={`Rename ${current}`}>Rename</Button>
    </PostForm>
  </details>
)

const Archive = ({ workspace: { id, name: current, status } }: { workspace: WorkspaceRow }) =>
  status === 'active' ? (
    <ActionForm
      action={`/console/settings/workspaces/${id}/status`}
      label="Archive"
      on={current}
      kind="danger"
      fields={{ status: 'archived' }}
      confirm={`Archive “${current}”? Its jobs go on; new ones are refused with workspace_not_found.`}
    />
  ) : (
    <ActionForm
      action={`/console/settings/workspaces/${id}/status`}
      label="Restore"
      on={current}
      fields={{ status: 'active' }}
    />
  )
