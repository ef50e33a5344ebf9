// The roles of an organisation's members and what each one permits.

export const ROLES = ['owner', 'developer', 'billing', 'viewer'] as const
export type Role = (typeof ROLES)[number]

/**
 * `jobs`: read jobs, images, webhook deliveries and the request log. `develop`: submit, cancel and
 * delete jobs, manage API keys and webhooks. `billing`: buy credits, manage plan and payments.
 * `administer`: manage members, workspaces and the organisation, read the audit log.
 */
export type Permission = 'jobs' | 'develop' | 'billing' | 'administer'

const PERMISSIONS: Record<Role, readonly Permission[]> = {
  owner: ['jobs', 'develop', 'billing', 'administer'],
  developer: ['jobs', 'develop'],
  billing: ['billing'],
  viewer: ['jobs'],
}

export const permits = (role: Role, permission: Permission): boolean =>
  PERMISSIONS[role].includes(permission)

export const rolesWith = (permission: Permission): Role[] =>
  ROLES.filter((role) => permits(role, permission))

/** Whether a member may do what concerns all workspaces, such as creating an API key. */
export const permitsUnlimited = (
  { role, workspaceIds }: { role: Role; workspaceIds: string[] | null },
  permission: Permission,
): boolean => permits(role, permission) && workspaceIds === null

/** Owners access all workspaces, and the role billing accesses no jobs. */
export const canBeLimited = (role: Role): boolean =>
  permits(role, 'jobs') && !permits(role, 'administer')
