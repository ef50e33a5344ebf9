// Creates organisations for operators. accounts/onboarding creates them for users.
import { auditInsert } from '../access/audit-log.ts'
import type { AuditEntry } from '../access/audit-log.ts'
import { requireOperator } from '../access/authorisation.ts'
import { rateLimitOf } from '../billing/plans.ts'
import { database } from '../db/client.ts'
import { newOrganisationId } from '../db/shards.ts'
import { apiKeys, organisations, workspaces } from '../db/schema.ts'
import type { ApiKeyRow, OrganisationRow, WorkspaceRow } from '../db/schema.ts'
import type { Actor } from '../domain/actor.ts'
import { DEFAULT_RETENTION_DAYS } from '../domain/limits.ts'
import { newWebhookSecret } from '../webhooks/secret.ts'
import { encryptWebhookSecret } from '../webhooks/stored-secret.ts'
import { newApiKey } from './create-api-key.ts'
import { grantSignUpCredits } from './credits.ts'
import { workspaceRow } from './workspaces.ts'

export interface NewOrganisation {
  name: string
  regionCode: OrganisationRow['regionCode']
  plan: OrganisationRow['plan']
  credits: number
  /** undefined: the plan's */
  rateLimitPerMinute: number | undefined
  defaultWebhookUrl: string | null
  workspaceName: string
}

/**
 * Creates an organisation with its first workspace, a key of each mode and its credits. For operators.
 * @returns the keys and the webhook secret in plain text; the keys cannot be read again
 */
export async function createOrganisation({
  env,
  actor,
  credits,
  workspaceName,
  rateLimitPerMinute,
  ...fields
}: { env: Env; actor: Actor } & NewOrganisation) {
  requireOperator(actor)
  const webhookSecret = newWebhookSecret()
  const override = rateLimitPerMinute !== undefined && {
    rateLimitPerMinute,
    rateLimitOverridden: true,
  }
  const organisation = await organisationRow(
    env,
    { id: newOrganisationId(env), ...fields, ...override },
    webhookSecret,
  )
  const organisationId = organisation.id
  const workspace = workspaceRow({ organisationId, name: workspaceName })
  const test = newApiKey({ organisationId, mode: 'test', name: 'First test key' })
  const live = newApiKey({ organisationId, mode: 'live', name: 'First live key' })
  const { name, plan, regionCode } = organisation
  await grantSignUpCredits({ env, organisation, amount: credits })
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
    webhookSecret,
    workspaces: [workspace],
    keys: { test: test.key, live: live.key },
  }
}

/** The statements that insert an organisation with its workspace and keys, and record its creation. */
export function organisationInserts({
  env,
  actor,
  organisation,
  workspace,
  keys,
  details,
}: {
  env: Env
  actor: Actor
  organisation: OrganisationRow
  workspace: WorkspaceRow
  keys: ApiKeyRow[]
  /** The details of the audit entry. */
  details: NonNullable<AuditEntry['details']>
}) {
  const db = database(env)
  return [
    db.insert(organisations).values(organisation),
    db.insert(workspaces).values(workspace),
    db.insert(apiKeys).values(keys),
    auditInsert(env, {
      organisationId: organisation.id,
      actor,
      action: 'organisation.created',
      target: organisation.id,
      details,
    }),
  ] as const
}

/** The row of a new organisation. The defaults are those of a sign-up. */
export async function organisationRow(
  env: Env,
  {
    id,
    name,
    regionCode,
    plan = 'starter',
    rateLimitPerMinute = rateLimitOf(plan),
    rateLimitOverridden = false,
    defaultWebhookUrl = null,
  }: Pick<OrganisationRow, 'id' | 'name' | 'regionCode'> & Partial<OrganisationRow>,
  webhookSecret = newWebhookSecret(),
): Promise<OrganisationRow> {
  return {
    id,
    name,
    status: 'active',
    suspensionReason: null,
    plan,
    regionCode,
    rateLimitPerMinute,
    rateLimitOverridden,
    defaultWebhookUrl,
    webhookSecret: await encryptWebhookSecret(env, { organisationId: id, secret: webhookSecret }),
    webhookSecretPrevious: null,
    webhookSecretPreviousUntil: null,
    autoReloadEnabled: false,
    autoReloadThreshold: null,
    autoReloadPack: null,
    autoReloadMonthlyMax: null,
    outputRetentionDays: DEFAULT_RETENTION_DAYS,
    retentionDueAt: new Date(),
    picturesPurgedTo: null,
    testJobsPurgedTo: null,
    deleteAfter: null,
    createdAt: new Date(),
  }
}
