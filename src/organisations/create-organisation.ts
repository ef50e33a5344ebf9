// Creates organisations for operators. users/onboarding creates them for users.
import { auditInsert, type AuditEntry } from './audit-log.ts'
import { requireOperator } from './authorisation.ts'
import { database, newOrganisationId } from '../platform/db/database.ts'
import { NO_SECRET } from '../platform/db/encryption.ts'
import {
  apiKeys,
  organisations,
  workspaces,
  type ApiKeyRow,
  type OrganisationRow,
  type WorkspaceRow,
} from '../platform/db/schema.ts'
import type { Actor } from '../domain/actor.ts'
import { DEFAULT_RETENTION_DAYS } from '../domain/limits.ts'
import { newApiKey } from './create-api-key.ts'
import { grantSignUpCredits } from './grant-credits.ts'
import { workspaceRow } from './workspaces.ts'

export interface NewOrganisation {
  name: string
  regionCode: OrganisationRow['regionCode']
  plan: OrganisationRow['plan']
  credits: number
  rateLimitPerMinute: number
  /** Whether the rate limit is another than the plan's, and stays when the plan changes. */
  rateLimitOverridden: boolean
  workspaceName: string
}

/**
 * Creates an organisation with its first workspace, a key of each mode and its credits. For operators.
 * @returns the keys in plain text; they cannot be read again
 */
export async function createOrganisation({
  env,
  actor,
  credits,
  workspaceName,
  ...fields
}: { env: Env; actor: Actor } & NewOrganisation) {
  requireOperator(actor)
  const organisation = organisationRow({ id: newOrganisationId(env), ...fields })
  const organisationId = organisation.id
  const workspace = workspaceRow({ organisationId, name: workspaceName })
  const test = newApiKey({ organisationId, mode: 'test', name: 'First test key' })
  const live = newApiKey({ organisationId, mode: 'live', name: 'First live key' })
  const { name, plan, regionCode } = organisation
  await grantSignUpCredits(env, organisation, credits)
  await database(env).batch(
    organisationInserts({
      env,
      actor,
      organisation,
      workspace,
      keys: [test.row, live.row],
      details: { name, plan, region_code: regionCode, credits },
    }),
  )
  return {
    organisation,
    workspaces: [workspace],
    keys: { test: test.key, live: live.key },
  }
}

/** The statements that insert an organisation with its workspace and keys, and record its creation. */
export function organisationInserts(created: {
  env: Env
  actor: Actor
  organisation: OrganisationRow
  workspace: WorkspaceRow
  keys: ApiKeyRow[]
  /** The details of the audit entry. */
  details: NonNullable<AuditEntry['details']>
}) {
  const { env, actor, organisation, workspace, keys, details } = created
  const db = database(env)
  return [
    db.insert(organisations).values(organisation),
    db.insert(workspaces).values(workspace),
    db.insert(apiKeys).values(keys),
    auditInsert({
      env,
      organisationId: organisation.id,
      actor,
      action: 'organisation.created',
      target: organisation.id,
      details,
    }),
  ] as const
}

/** The row of a new organisation. The defaults are those of a sign-up. */
export function organisationRow({
  id,
  name,
  regionCode,
  plan = 'starter',
  rateLimitPerMinute,
  rateLimitOverridden = false,
}: Pick<OrganisationRow, 'id' | 'name' | 'regionCode' | 'rateLimitPerMinute'> &
  Partial<OrganisationRow>): OrganisationRow {
  return {
    id,
    name,
    status: 'active',
    suspensionReason: null,
    plan,
    regionCode,
    rateLimitPerMinute,
    rateLimitOverridden,
    defaultWebhookUrl: null,
    webhookSecret: NO_SECRET,
    webhookSecretPrevious: null,
    webhookSecretPreviousUntil: null,
    autoReloadEnabled: false,
    autoReloadThreshold: null,
    autoReloadPack: null,
    autoReloadMonthlyMax: null,
    autoReloadCeiling: null,
    outputRetentionDays: DEFAULT_RETENTION_DAYS,
    retentionDueAt: new Date(),
    picturesPurgedTo: null,
    testJobsPurgedTo: null,
    deleteAfter: null,
    deletionTriedAt: null,
    createdAt: new Date(),
  }
}
