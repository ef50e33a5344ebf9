// The roles of members: labels, explanations, and the fields that choose a role and its workspaces.
import { z } from 'zod'
import type { WorkspaceRow } from '../../platform/db/schema.ts'
import { permits, ROLES, type Permission, type Role } from '../../domain/role.ts'
import type { Membership } from '../../organisations/members.ts'
import { isId } from '../../platform/ids.ts'
import { requireRecentSignInIf } from '../middleware/recent-sign-in.tsx'
import { detailList, Section, Table } from './section.tsx'
import { capitalised } from './text.tsx'
import { Select, useFormState } from './form.tsx'

const ROLE_DESCRIPTIONS = {
  Owner: 'Can do everything, including managing the team and deleting the organisation.',
  Developer: 'Submits jobs, and manages API keys and webhooks.',
  Billing: 'Buys credits, and manages the plan and payments. Sees no jobs and no images.',
  Viewer: 'Reads jobs, images and webhook deliveries. Cannot change anything.',
} satisfies Record<Capitalize<Role>, string>

/** What members can do. Without a permission: what every member can do. */
const ABILITIES: [label: string, permission?: Permission][] = [
  ['See the overview, the credit balance and the team'],
  ['Read jobs, images, webhook deliveries and the request log', 'jobs'],
  ['Submit and cancel jobs, delete images', 'develop'],
  ['Manage API keys and webhooks', 'develop'],
  ['Buy credits, manage the plan and payments', 'billing'],
  ['Manage the team and workspaces', 'administer'],
  ['Change, export and delete the organisation', 'administer'],
  ['Read the audit log', 'administer'],
]

/** Such as "a developer". */
export const roleWithArticle = (role: Role): string =>
  role === 'billing' ? 'a member with the role billing' : `${role === 'owner' ? 'an' : 'a'} ${role}`

export const RoleTable = () => (
  <Section id="roles-heading" title="Roles">
    {detailList(ROLE_DESCRIPTIONS, 'roles')}
    <details>
      <summary>Compare the roles</summary>
      <Table
        label="What each role can do"
        columns={['Action', ...ROLES.map(capitalised)]}
        rows={ABILITIES.map(([label, permission]) => [
          label,
          ...ROLES.map((role) =>
            !permission || permits(role, permission) ? 'Yes' : <span class="muted">No</span>,
          ),
        ])}
      />
    </details>
    <p class="muted">
      Developers and viewers can be limited to some workspaces. They then see only the jobs of these
      workspaces, and cannot manage API keys and webhooks, which concern all workspaces.
    </p>
  </Section>
)

/** The workspaces of a member or invitation, as a cell of a table. */
export const workspaceNames = (workspaceIds: string[] | null, workspaces: WorkspaceRow[]) =>
  workspaceIds?.map((id) => workspaces.find((one) => one.id === id)?.name ?? id).join(', ') ?? (
    <span class="muted">All</span>
  )

type RoleFieldsProps = Pick<Membership, 'role' | 'workspaceIds'> & { workspaces: WorkspaceRow[] }

/**
 * The role and the workspaces. The fields of workspaces have their ids as names, so that every field
 * has one value.
 */
export const RoleFields = ({ workspaces, role, workspaceIds }: RoleFieldsProps) => {
  const { values } = useFormState()
  const isLimited = values ? values['access'] === 'limited' : workspaceIds !== null
  const isChecked = (id: string) => (values ? id in values : workspaceIds?.includes(id))
  return (
    <>
      <Select
        name="role"
        label="Role"
        value={role}
        options={ROLES.map((known) => [known, capitalised(known)])}
      />
      {workspaces.length > 1 && (
        <fieldset class="choices workspace-access">
          <legend>Workspaces</legend>
          <label>
            <input type="radio" name="access" value="all" checked={!isLimited} />
            <span>All workspaces</span>
          </label>
          <label>
            <input type="radio" name="access" value="limited" checked={isLimited} />
            <span>Only some workspaces</span>
          </label>
          <div class="workspace-list">
            {workspaces.map(({ id, name, status }) => (
              <label>
                <input type="checkbox" name={id} checked={isChecked(id)} />
                <span>
                  {name} {status === 'archived' && <span class="muted">(archived)</span>}
                </span>
              </label>
            ))}
          </div>
        </fieldset>
      )}
    </>
  )
}

/** Each chosen workspace is a field whose name is the workspace's id. */
export const RoleForm = z
  .looseObject({
    role: z.enum(ROLES, 'Choose a role.'),
    access: z.enum(['all', 'limited']).default('all'),
  })
  .transform(({ role, access, ...form }) => ({
    role,
    workspaceIds: access === 'all' ? null : Object.keys(form).filter((name) => isId('ws', name)),
  }))

export const recentSignInForRoles = requireRecentSignInIf(({ role: name }) => {
  const role = ROLES.find((known) => known === name)
  return role !== undefined && (permits(role, 'develop') || permits(role, 'billing'))
})
