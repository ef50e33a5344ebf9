// What clients are sent, as schemas, each with the function that fills it. Jobs are in jobs/present.
import { z } from 'zod'
import {
  PLANS,
  REGIONS,
  WORKSPACE_STATUSES,
  CURRENCIES,
  currencyOf,
} from '../domain/organisation.ts'
import type { WorkspaceRow } from '../db/schema.ts'
import { ListedJob } from '../jobs/present.ts'
import type { Account as AccountState, Admission } from '../organisation/rpc.ts'
import { MODES } from '../domain/job.ts'
import type { Mode } from '../domain/job.ts'

export const Submitted = z
  .object({
    job_id: z.string(),
    status: z.literal('pending'),
    created_at: z.iso.datetime(),
    mode: z.enum(MODES),
  })
  .meta({ id: 'Submitted', description: 'The job was accepted' })

export const presentSubmitted = (
  { jobId, createdAt }: Admission,
  mode: Mode,
): z.infer<typeof Submitted> => ({
  job_id: jobId,
  status: 'pending',
  created_at: new Date(createdAt).toISOString(),
  mode,
})

export const JobList = z
  .object({
    jobs: z.array(ListedJob),
    next_cursor: z
      .string()
      .nullable()
      .meta({ description: 'Pass as cursor for the next page; null when there is none' }),
    has_more: z.boolean(),
  })
  .meta({ id: 'JobList' })

export const Cancelled = z
  .object({
    job_id: z.string(),
    status: z.literal('refunded'),
    refunded_credits: z.number().meta({ description: '1 in live mode, 0 in test mode' }),
  })
  .meta({ id: 'Cancelled' })

export const Workspace = z
  .object({
    id: z.string(),
    name: z.string(),
    status: z.enum(WORKSPACE_STATUSES),
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'Workspace' })

export const WorkspaceList = z
  .object({ workspaces: z.array(Workspace) })
  .meta({ id: 'WorkspaceList' })

export const presentWorkspace = (workspace: WorkspaceRow): z.infer<typeof Workspace> => ({
  id: workspace.id,
  name: workspace.name,
  status: workspace.status,
  created_at: workspace.createdAt.toISOString(),
})

export const Account = z
  .object({
    org_id: z.string(),
    name: z.string(),
    plan: z.enum(PLANS),
    region_code: z.enum(REGIONS),
    currency_code: z.enum(CURRENCIES),
    credits: z.number().meta({ description: 'The current credit balance' }),
    auto_reload_enabled: z.boolean(),
  })
  .meta({ id: 'Account' })

export const presentAccount = ({
  organisation,
  credits,
}: AccountState): z.infer<typeof Account> => ({
  org_id: organisation.id,
  name: organisation.name,
  plan: organisation.plan,
  region_code: organisation.regionCode,
  currency_code: currencyOf(organisation.regionCode),
  credits,
  auto_reload_enabled: organisation.autoReloadEnabled,
})
