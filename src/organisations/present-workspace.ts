// The public form of a workspace: the schema, which the OpenAPI document includes, and its function.
import { z } from 'zod'
import type { WorkspaceRow } from '../platform/db/schema.ts'
import { WORKSPACE_STATUSES } from '../domain/organisation.ts'

const WorkspaceStatus = z.enum(WORKSPACE_STATUSES).meta({
  id: 'WorkspaceStatus',
  description: 'The state of a workspace. An archived workspace accepts no jobs.',
})

export const Workspace = z
  .object({
    id: z.string().meta({
      description: 'The id of the workspace, the `workspace_id` of submissions.',
      examples: ['ws_01m45j10cfeqs81jeh7e74f9g5'],
    }),
    name: z.string().meta({ description: 'The display name.', examples: ['Default'] }),
    status: WorkspaceStatus,
    created_at: z.iso
      .datetime()
      .meta({ description: 'When the workspace was created (ISO 8601, UTC).' }),
  })
  .meta({ id: 'Workspace', description: 'A workspace groups the jobs of an organisation.' })

export const presentWorkspace = (workspace: WorkspaceRow): z.infer<typeof Workspace> => ({
  id: workspace.id,
  name: workspace.name,
  status: workspace.status,
  created_at: workspace.createdAt.toISOString(),
})
