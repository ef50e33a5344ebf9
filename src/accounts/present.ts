// The public form of a workspace: the schema, which the OpenAPI document includes, and its function.
import { z } from 'zod'
import type { WorkspaceRow } from '../db/schema.ts'
import { WORKSPACE_STATUSES } from '../domain/organisation.ts'

export const Workspace = z
  .object({
    id: z.string(),
    name: z.string(),
    status: z.enum(WORKSPACE_STATUSES),
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'Workspace' })

export const presentWorkspace = (workspace: WorkspaceRow): z.infer<typeof Workspace> => ({
  id: workspace.id,
  name: workspace.name,
  status: workspace.status,
  created_at: workspace.createdAt.toISOString(),
})
