// Creates organisations for operators. users/onboarding creates them for users.
import { auditInsert, type AuditEntry } from './audit-log.ts'
import { requireOperator } from './authorisation.ts'
import { database, newOrganisationId } from '../platform/db/database.ts'
import { NO_SECRET } from '../platform/db/encryption.ts'
import {
  apiKeys,
  organisations,
  workspaces,
  type OrganisationRow,
  type WorkspaceRow,
} from '../platform/db/schema.ts'
import type { Actor } from '../domain/actor.ts'
import { newApiKey } from './create-api-key.ts'
import { grantSignUpCredits } from './grant-credits.ts'
import { workspaceRow } from './workspaces.ts'

export type NewOrganisation = Pick<
  OrganisationRow,
  'name' | 'regionCode' | 'plan' | 'rateLimitPerMinute' | 'rateLimitOverridden'
> & { credits: number; workspaceName: string }

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
  const organisationId = newOrganisationId(env)
  const row = organisationRow({ id: organisationId, ...fields })
  const workspace = workspaceRow({ organisationId, name: workspaceName })
  const test = newApiKey({ organisationId, mode: 'test', name: 'First test key' })
  const live = newApiKey({ organisationId, mode: 'live', name: 'First live key' })
  const { name, plan, regionCode } = row
  await grantSignUpCredits(env, row, credits)
  const [[organisation]] = await database(env).batch(
    organisationInserts({
      env,
      actor,
      organisation: row,
      workspace,
      keys: [test.row, live.row],
      details: { name, plan, region_code: regionCode, credits },
    }),
  )
  if (!organisation) throw new Error('The inserted organisation was not returned')
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
  organisation: NewRow
  workspace: WorkspaceRow
  keys: (typeof apiKeys.$inferInsert)[]
  /** The details of the audit entry. */
  details: NonNullable<AuditEntry['details']>
}) {
  const { env, actor, organisation, workspace, keys, details } = created
  const db = database(env)
  return [
    db.insert(organisations).values(organisation).returning(),
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

type NewRow = typeof organisations.$inferInsert

/** The row of a new organisation. The defaults are those of a sign-up. */
export const organisationRow = (
  fields: Pick<NewRow, 'id' | 'name' | 'regionCode' | 'rateLimitPerMinute'> & Partial<NewRow>,
): NewRow => ({
  plan: 'starter',
  webhookSecret: NO_SECRET,
  retentionDueAt: new Date(),
  createdAt: new Date(),
  ...fields,
})
