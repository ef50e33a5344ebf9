// Organisations in D1. Every change is made here and recorded in the audit log; one that concerns
// /v1 refreshes the Organisation, which has a copy of the row.
import { and, asc, eq, gt, sql } from 'drizzle-orm'
import { database } from '../db/client.ts'
import { apiKeys, auditLog, organisations, workspaces } from '../db/schema.ts'
import type { OrganisationRow, WorkspaceRow } from '../db/schema.ts'
import { AppError } from '../domain/errors.ts'
import { newId } from '../ids.ts'
import { withdrawAllPending } from '../jobs/cancel.ts'
import { organisationStub } from '../organisation/stub.ts'
import { SIGN_UP_REFERENCE } from '../organisation/ledger.ts'
import { DEFAULT_RETENTION_DAYS, DEFAULT_RATE_LIMIT_PER_MINUTE } from '../domain/limits.ts'
import { enableEndpoint } from '../webhooks/endpoints.ts'
import { newWebhookSecret } from '../webhooks/secret.ts'
import { decryptWebhookSecret, encryptWebhookSecret } from '../webhooks/stored-secret.ts'
import { keyRow } from './api-keys.ts'
import { auditInsert, changedDetails } from '../access/audit-log.ts'
import type { Actor } from '../domain/actor.ts'
import { requireMember, requireOwner } from '../access/authorisation.ts'
import type { OrganisationRequest } from '../access/authorisation.ts'
import { organisationExists } from './grace-period.ts'
import { workspaceRow } from './workspaces.ts'

const SECRET_OVERLAP_MS = 24 * 60 * 60_000

export interface NewOrganisation {
  name: string
  regionCode: OrganisationRow['regionCode']
  plan: OrganisationRow['plan']
  credits: number
  rateLimitPerMinute: number
  defaultWebhookUrl: string | null
  workspaceName: string
}

/** A new organisation's row with a signing secret; what is not given is as at sign-up. */
export async function organisationRow(
  env: Env,
  {
    id,
    name,
    regionCode,
    plan = 'starter',
    rateLimitPerMinute = DEFAULT_RATE_LIMIT_PER_MINUTE,
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
    defaultWebhookUrl,
    webhookSecret: await encryptWebhookSecret(env, id, webhookSecret),
    webhookSecretPrevious: null,
    webhookSecretPreviousUntil: null,
    autoReloadEnabled: false,
    outputRetentionDays: DEFAULT_RETENTION_DAYS,
    retentionDueAt: new Date(),
    picturesPurgedTo: null,
    testJobsPurgedTo: null,
    deleteAfter: null,
    createdAt: new Date(),
  }
}

/**
 * Creates an organisation with its first workspace, a key of each mode and its credits.
 * @returns the keys and the signing secret in plain text, which this answer alone contains
 */
export async function createOrganisation({
  env,
  actor,
  ...order
}: { env: Env; actor: Actor } & NewOrganisation) {
  const webhookSecret = newWebhookSecret()
  const organisation = await organisationRow(env, { id: newId('org'), ...order }, webhookSecret)
  const workspace = workspaceRow(organisation.id, order.workspaceName)
  const test = keyRow(organisation.id, 'test', 'First test key')
  const live = keyRow(organisation.id, 'live', 'First live key')
  // Credits first: those of an organisation without a row cannot be used, while a row without credits
  // would be a customer who never received them.
  await grantCredits(env, organisation.id, {
    amount: order.credits,
    reason: 'Credits at sign-up',
    reference: SIGN_UP_REFERENCE,
  })
  const db = database(env)
  const { name, plan, regionCode } = organisation
  await db.batch([
    db.insert(organisations).values(organisation),
    db.insert(workspaces).values(workspace),
    db.insert(apiKeys).values([test.row, live.row]),
    auditInsert(env, {
      organisationId: organisation.id,
      actor,
      action: 'organisation.created',
      target: organisation.id,
      details: { name, plan, region_code: regionCode, credits: order.credits },
    }),
  ])
  return {
    organisation,
    webhookSecret,
    workspaces: [workspace],
    keys: { test: test.key, live: live.key },
  }
}

export async function findOrganisation(
  env: Env,
  organisationId: string,
): Promise<{ organisation: OrganisationRow; workspaces: WorkspaceRow[] } | undefined> {
  const db = database(env)
  const [[organisation], workspaceRows] = await db.batch([
    db
      .select()
      .from(organisations)
      .where(and(eq(organisations.id, organisationId), organisationExists())),
    db
      .select()
      .from(workspaces)
      .where(eq(workspaces.organisationId, organisationId))
      .orderBy(asc(workspaces.id)),
  ])
  return organisation && { organisation, workspaces: workspaceRows }
}

/** All organisations, oldest first, those after an id only. */
export const listOrganisations = (
  env: Env,
  page: { limit: number; afterId?: string | undefined },
): Promise<OrganisationRow[]> =>
  database(env)
    .select()
    .from(organisations)
    .where(
      and(
        organisationExists(),
        page.afterId === undefined ? undefined : gt(organisations.id, page.afterId),
      ),
    )
    .orderBy(asc(organisations.id))
    .limit(page.limit)

/** What may be changed. Region and currency may not. */
export type OrganisationChange = Partial<
  Pick<
    OrganisationRow,
    | 'name'
    | 'status'
    | 'suspensionReason'
    | 'plan'
    | 'rateLimitPerMinute'
    | 'defaultWebhookUrl'
    | 'autoReloadEnabled'
    | 'outputRetentionDays'
  >
>

/**
 * Changes an organisation, in force at its next request. Suspending it withdraws its pending jobs.
 * Setting a default webhook URL enables its endpoint. Name and retention are for owners.
 * @throws AppError not_found
 */
export async function updateOrganisation({
  env,
  actor,
  organisationId,
  change,
}: OrganisationRequest & { change: OrganisationChange }): Promise<void> {
  const ownersOnly = 'name' in change || 'outputRetentionDays' in change
  const requireRole = ownersOnly ? requireOwner : requireMember
  await requireRole({ env, actor, organisationId })
  const db = database(env)
  const the = eq(organisations.id, organisationId)
  const [before] = await db.select().from(organisations).where(and(the, organisationExists()))
  if (!before) throw new AppError('not_found', 'No organisation with this id.')
  const whole = change.status === 'active' ? { suspensionReason: null, ...change } : change
  const details = changedDetails(before, whole)
  if (details) {
    // A new retention period is applied by the next run of retention.
    const due = 'outputRetentionDays' in change && { retentionDueAt: new Date() }
    await db.batch([
      db
        .update(organisations)
        .set({ ...whole, ...due })
        .where(the),
      auditInsert(
        env,
        { organisationId, actor, action: 'organisation.updated', target: organisationId, details },
        sql`exists (select 1 from ${organisations} where ${the})`,
      ),
    ])
  }
  // Both also when nothing differs: the first of two equal requests may have stopped before them.
  await organisationStub(env, organisationId).refresh()
  if (change.status === 'suspended') await withdrawAllPending({ env, organisationId })
  const url = change.defaultWebhookUrl
  if (url) await enableEndpoint({ env, actor, organisationId, url })
}

/**
 * Creates a new signing secret. For `SECRET_OVERLAP_MS`, deliveries are signed with the one before it
 * as well, so that receivers can switch at any time. For owners.
 * @returns the new secret in plain text
 * @throws AppError not_found
 */
export async function rotateWebhookSecret({
  env,
  actor,
  organisationId,
}: OrganisationRequest): Promise<string> {
  await requireOwner({ env, actor, organisationId })
  const db = database(env)
  const secret = newWebhookSecret()
  const stored = await encryptWebhookSecret(env, organisationId, secret)
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
 * The signing secret in plain text. For owners.
 * @throws AppError not_found
 */
export async function revealWebhookSecret({
  env,
  actor,
  organisationId,
}: OrganisationRequest): Promise<string> {
  await requireOwner({ env, actor, organisationId })
  const found = await findOrganisation(env, organisationId)
  if (!found) throw new AppError('not_found')
  const secret = await decryptWebhookSecret(env, organisationId, found.organisation.webhookSecret)
  // Recorded first: no secret is shown without an entry.
  await auditInsert(env, {
    organisationId,
    actor,
    action: 'webhook_secret.revealed',
    target: organisationId,
  })
  return secret
}

/** Adds credits in the ledger; the same `reference` counts once. @returns the balance */
export async function grantCredits(
  env: Env,
  organisationId: string,
  grant: { amount: number; reason: string; reference: string },
): Promise<number> {
  const { balance } = await organisationStub(env, organisationId).grant(grant)
  return balance
}

/**
 * Adds credits for an organisation; the same `reference` counts once, and is recorded once.
 * @returns the balance
 * @throws AppError not_found
 */
export async function addCredits({
  env,
  actor,
  organisationId,
  ...grant
}: OrganisationRequest & { amount: number; reason: string; reference: string }): Promise<number> {
  if (!(await findOrganisation(env, organisationId))) {
    throw new AppError('not_found', 'No organisation with this id.')
  }
  const balance = await grantCredits(env, organisationId, grant)
  // The ledger is in another database. If this fails, repeating the request records the grant.
  const recorded = and(
    eq(auditLog.organisationId, organisationId),
    eq(auditLog.action, 'credits.granted'),
    eq(auditLog.target, grant.reference),
  )
  await auditInsert(
    env,
    {
      organisationId,
      actor,
      action: 'credits.granted',
      target: grant.reference,
      details: { amount: grant.amount, reason: grant.reason, reference: grant.reference },
    },
    sql`not exists (select 1 from ${auditLog} where ${recorded})`,
  )
  return balance
}
