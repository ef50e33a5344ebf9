// Organisations as staff and console see them. Every change goes through here, so that none forgets
// to tell the Organisation that its copy is out of date.
import { and, asc, eq, gt, sql } from 'drizzle-orm'
import { database } from '../db/client.ts'
import { apiKeys, DEFAULT_RETENTION_DAYS, organisations, workspaces } from '../db/schema.ts'
import type { OrganisationRow, WorkspaceRow } from '../db/schema.ts'
import { newId } from '../ids.ts'
import { withdrawAllPending } from '../jobs/cancel.ts'
import { organisationOf } from '../organisation/by-id.ts'
import { SIGN_UP_REFERENCE } from '../organisation/ledger.ts'
import { DEFAULT_RATE_LIMIT_PER_MINUTE } from '../settings.ts'
import { newWebhookSecret } from '../webhooks/secret.ts'
import { keyRow } from './api-keys.ts'
import { auditInsert } from './audit.ts'
import type { Actor } from './audit.ts'
import { requireOwner } from './authorise.ts'
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

/** A new organisation's row; what is not given is as at sign-up. */
export const organisationRow = ({
  id,
  name,
  regionCode,
  plan = 'starter',
  rateLimitPerMinute = DEFAULT_RATE_LIMIT_PER_MINUTE,
  defaultWebhookUrl = null,
}: Pick<OrganisationRow, 'id' | 'name' | 'regionCode'> &
  Partial<OrganisationRow>): OrganisationRow => ({
  id,
  name,
  status: 'active',
  suspensionReason: null,
  plan,
  regionCode,
  rateLimitPerMinute,
  defaultWebhookUrl,
  webhookSecret: newWebhookSecret(),
  webhookSecretPrevious: null,
  webhookSecretPreviousUntil: null,
  autoReloadEnabled: false,
  outputRetentionDays: DEFAULT_RETENTION_DAYS,
  retentionDueAt: new Date(),
  picturesPurgedTo: null,
  testJobsPurgedTo: null,
  deleteAfter: null,
  createdAt: new Date(),
})

/**
 * Creates an organisation with its first workspace, a key of each mode and its credits.
 * @returns the keys in plain text, which nobody can read again
 */
export async function createOrganisation(env: Env, order: NewOrganisation) {
  const organisation = organisationRow({ id: newId('org'), ...order })
  const workspace = workspaceRow(organisation.id, order.workspaceName)
  const test = keyRow(organisation.id, 'test', 'First test key')
  const live = keyRow(organisation.id, 'live', 'First live key')
  // Credits first: those of an organisation that has no row are out of everybody's reach, while a
  // row without them would be a customer who was never given what was promised.
  await grantCredits(env, organisation.id, {
    amount: order.credits,
    reason: 'Credits at sign-up',
    reference: SIGN_UP_REFERENCE,
  })
  const db = database(env)
  await db.batch([
    db.insert(organisations).values(organisation),
    db.insert(workspaces).values(workspace),
    db.insert(apiKeys).values([test.row, live.row]),
  ])
  return { organisation, workspaces: [workspace], keys: { test: test.key, live: live.key } }
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
    | 'status'
    | 'suspensionReason'
    | 'plan'
    | 'rateLimitPerMinute'
    | 'defaultWebhookUrl'
    | 'autoReloadEnabled'
  >
>

/**
 * Changes an organisation, in force at its next request. Suspending it withdraws its pending jobs.
 * Where there is no such organisation, nothing happens.
 */
export async function updateOrganisation(
  env: Env,
  organisationId: string,
  change: OrganisationChange,
): Promise<void> {
  if (Object.keys(change).length > 0) {
    const updated = await database(env)
      .update(organisations)
      .set(change.status === 'active' ? { suspensionReason: null, ...change } : change)
      .where(eq(organisations.id, organisationId))
    if (updated.meta.changes === 0) return
    await organisationOf(env, organisationId).refresh()
  }
  if (change.status === 'suspended') await withdrawAllPending(env, organisationId)
}

/** Renames an organisation, in force at its next request. @throws AppError not_found */
export async function renameOrganisation({
  env,
  actor,
  organisationId,
  name,
}: {
  env: Env
  actor: Actor
  organisationId: string
  name: string
}): Promise<void> {
  await requireOwner({ env, actor, organisationId })
  const db = database(env)
  await db.batch([
    db.update(organisations).set({ name }).where(eq(organisations.id, organisationId)),
    auditInsert(env, { organisationId, actor, action: 'organisation.updated', details: { name } }),
  ])
  await organisationOf(env, organisationId).refresh()
}

/** Sets for how many days pictures are stored, from now on and for those stored already. */
export async function setRetention({
  env,
  actor,
  organisationId,
  days,
}: {
  env: Env
  actor: Actor
  organisationId: string
  days: number
}): Promise<void> {
  await requireOwner({ env, actor, organisationId })
  const db = database(env)
  await db.batch([
    db
      .update(organisations)
      .set({ outputRetentionDays: days, retentionDueAt: new Date() })
      .where(eq(organisations.id, organisationId)),
    auditInsert(env, {
      organisationId,
      actor,
      action: 'organisation.updated',
      details: { output_retention_days: days },
    }),
  ])
}

/**
 * Gives an organisation a new signing secret. Until `SECRET_OVERLAP_MS` later, deliveries are signed
 * with the old one as well, so that a receiver may change over in its own time.
 */
export async function rotateWebhookSecret(env: Env, organisationId: string): Promise<void> {
  await database(env)
    .update(organisations)
    .set({
      webhookSecret: newWebhookSecret(),
      webhookSecretPrevious: sql`${organisations.webhookSecret}`,
      webhookSecretPreviousUntil: new Date(Date.now() + SECRET_OVERLAP_MS),
    })
    .where(eq(organisations.id, organisationId))
  await organisationOf(env, organisationId).refresh()
}

/** Adds credits; the same `reference` counts once. @returns the balance */
export async function grantCredits(
  env: Env,
  organisationId: string,
  grant: { amount: number; reason: string; reference: string },
): Promise<number> {
  const { balance } = await organisationOf(env, organisationId).grant(grant)
  return balance
}
