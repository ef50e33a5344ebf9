// The secret that signs an organisation's webhooks: revealing and rotating it.
import { eq, sql } from 'drizzle-orm'
import { auditInsert } from '../access/audit-log.ts'
import { requireUnlimited } from '../access/authorisation.ts'
import type { OrganisationRequest } from '../access/authorisation.ts'
import { database } from '../db/client.ts'
import { organisations } from '../db/schema.ts'
import { AppError } from '../domain/errors.ts'
import { DAY_MS } from '../domain/limits.ts'
import { newWebhookSecret } from '../webhooks/secret.ts'
import { decryptWebhookSecret, encryptWebhookSecret } from '../webhooks/stored-secret.ts'
import { findOrganisation } from './organisations.ts'

const SECRET_OVERLAP_MS = DAY_MS

/**
 * Creates a new secret. For `SECRET_OVERLAP_MS`, deliveries are signed with the previous one as well,
 * so that receivers can switch at any time. For the permission `develop` without a limit to workspaces.
 * @returns the new secret in plain text
 * @throws AppError not_found
 */
export async function rotateWebhookSecret({
  env,
  actor,
  organisationId,
}: OrganisationRequest): Promise<string> {
  await requireUnlimited({ env, actor, organisationId }, 'develop')
  const db = database(env)
  const secret = newWebhookSecret()
  const stored = await encryptWebhookSecret(env, { organisationId, secret })
  const [rotated] = await db.batch([
    db
      .update(organisations)
      .set({
        webhookSecret: stored,
        webhookSecretPrevious: sql`${organisations.webhookSecret}`,
        webhookSecretPreviousUntil: new Date(Date.now() + SECRET_OVERLAP_MS),
      })
      .where(eq(organisations.id, organisationId)),
    auditInsert(
      env,
      { organisationId, actor, action: 'webhook_secret.rotated', target: organisationId },
      sql`exists (select 1 from ${organisations} where ${organisations.id} = ${organisationId})`,
    ),
  ])
  if (rotated.meta.changes === 0) throw new AppError('not_found', 'No organisation with this id.')
  return secret
}

/**
 * Returns the secret in plain text. For the permission `develop` without a limit to workspaces.
 * @throws AppError not_found
 */
export async function revealWebhookSecret({
  env,
  actor,
  organisationId,
}: OrganisationRequest): Promise<string> {
  await requireUnlimited({ env, actor, organisationId }, 'develop')
  const found = await findOrganisation(env, organisationId)
  if (!found) throw new AppError('not_found')
  const secret = await decryptWebhookSecret(env, {
    organisationId,
    stored: found.organisation.webhookSecret,
  })
  // Written first, so that every reveal has an entry.
  await auditInsert(env, {
    organisationId,
    actor,
    action: 'webhook_secret.revealed',
    target: organisationId,
  })
  return secret
}
