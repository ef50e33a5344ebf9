// Deletes the data of organisations and accounts whose grace period is over, a bounded amount in each
// run. Every step can be repeated and the row itself is deleted last, so the next run continues after a
// crash.
import { eq, inArray, sql, type SQL } from 'drizzle-orm'
import { closeBilling } from '../billing/billing-account.ts'
import { organisationStub } from '../credits/organisation-stub.ts'
import { SYSTEM } from '../domain/actor.ts'
import { isFinal } from '../domain/job.ts'
import { withdrawAllPending } from '../jobs/cancel.ts'
import { deleteJobs, findJobsOf } from '../jobs/job-store.ts'
import { deletePictures } from '../jobs/pictures.ts'
import { deleteStatistics } from '../jobs/reports/daily-statistics.ts'
import {
  anonymiseAuditEntries,
  auditInsert,
  deleteAuditEntries,
} from '../organisations/audit-log.ts'
import {
  invitations,
  members,
  onboardings,
  users,
  verifications,
} from '../platform/db/auth-schema.ts'
import { database, jobsDatabase } from '../platform/db/database.ts'
import { deleteExpiredRateLimits } from '../platform/db/rate-limits.ts'
import {
  apiKeys,
  auditLog,
  closedOrganisations,
  organisations,
  workspaces,
  type OrganisationRow,
} from '../platform/db/schema.ts'
import {
  failingReceivers,
  formerFailingOrigins,
  formerWebhookEndpoints,
  webhookEndpoints,
} from '../platform/db/webhook-schema.ts'
import { log } from '../platform/log.ts'
import { deleteEvents } from '../webhooks/event-store.ts'

/** The time in which requests and deliveries end that started within the grace period. */
const MARGIN_MS = 60_000
/** The value of `delete_after` once deletion has started, which can then no longer be cancelled. */
const STARTED = new Date(0)
/** The maximum number of organisations, and of accounts, per run. */
const MAX_STARTED = 50
/** The maximum number of pages of rows that one run deletes. */
const MAX_PAGES = 100
const JOBS_PER_PAGE = 100

/**
 * Deletes organisations and accounts whose grace period is over, and continues started deletions.
 * @throws the first failure, after all others were attempted
 */
export async function runDeletions(env: Env): Promise<void> {
  const failures: unknown[] = []
  const attempt = async (fields: Record<string, string>, work: () => Promise<void>) => {
    await work().catch((error: unknown) => {
      log.error('deletion failed', error, fields)
      failures.push(error)
    })
  }
  const budget = { pages: MAX_PAGES }
  await attempt({}, async () => {
    for (const organisation of await startOrganisationDeletions(env)) {
      await attempt({ organisationId: organisation.id }, () =>
        deleteOrganisation(env, organisation, budget),
      )
    }
  })
  await attempt({}, async () => {
    for (const user of await startAccountDeletions(env)) {
      await attempt({ userId: user.id }, () => deleteAccount(env, user))
    }
  })
  if (failures.length > 0) throw failures[0]
}

/** Marks deletions as started. Only the first of this and a concurrent cancellation applies. */
async function startOrganisationDeletions(env: Env): Promise<OrganisationRow[]> {
  const started = await database(env)
    .update(organisations)
    .set({ deleteAfter: STARTED, deletionTriedAt: new Date() })
    .where(inArray(organisations.id, dueIn(organisations)))
    .returning()
  return started.sort((a, b) => a.id.localeCompare(b.id))
}

type DeletedUser = Pick<typeof users.$inferSelect, 'id' | 'email' | 'formerEmails'>

const startAccountDeletions = (env: Env): Promise<DeletedUser[]> =>
  database(env)
    .update(users)
    .set({ deleteAfter: STARTED, deletionTriedAt: new Date() })
    .where(inArray(users.id, dueIn(users)))
    .returning({ id: users.id, email: users.email, formerEmails: users.formerEmails })

/**
 * The ids of due deletions, those first whose last try is the longest ago, so that postponed ones do not
 * delay others. SQLite uses the partial index only with its condition.
 */
const dueIn = (table: typeof organisations | typeof users): SQL =>
  sql`(select id from ${table}
    where delete_after is not null and delete_after <= ${Date.now() - MARGIN_MS}
    order by deletion_tried_at, delete_after limit ${MAX_STARTED})`

async function deleteOrganisation(
  env: Env,
  organisation: OrganisationRow,
  budget: { pages: number },
): Promise<void> {
  const { id } = organisation
  await withdrawAllPending({ env, organisationId: id })
  // The Organisation's alarm settles open reservations and needs the rows of their jobs.
  if ((await organisationStub(env, id).totals()).reserved > 0)
    return postpone(id, 'reserved credits')

  for (;;) {
    const jobs = await findJobsOf(env, id, JOBS_PER_PAGE)
    if (jobs.length === 0) break
    if (budget.pages-- <= 0) return
    if (!jobs.every(({ status }) => isFinal(status))) return postpone(id, 'unfinished job')
    const ids = jobs.map((job) => job.id)
    await deletePictures(env, ids)
    await deleteJobs(env, id, ids)
  }
  for (const deletePage of [deleteEvents, deleteAuditEntries]) {
    let deleted: number
    do {
      if (budget.pages-- <= 0) return
      deleted = await deletePage(env, id)
    } while (deleted > 0)
  }
  await deleteRows(env, id)
  await closeLedger(env, organisation)
  // Only now: the Organisation's alarm could store the billing account again.
  await closeBilling(env, id)
  const db = database(env)
  await db.batch([
    db.delete(auditLog).where(eq(auditLog.organisationId, id)),
    db.delete(organisations).where(eq(organisations.id, id)),
  ])
  log.info('organisation deleted', { organisationId: id })
}

const postpone = (organisationId: string, reason: string) =>
  log.warn('organisation deletion postponed', { organisationId, reason })

/** Before the row, which the next run continues from. `delete_after` prevents that more is written. */
async function deleteRows(env: Env, organisationId: string): Promise<void> {
  const shard = jobsDatabase(env, organisationId)
  await shard.batch([
    deleteStatistics(env, organisationId),
    ...[failingReceivers, formerFailingOrigins, formerWebhookEndpoints, webhookEndpoints].map(
      (table) => shard.delete(table).where(eq(table.organisationId, organisationId)),
    ),
  ])
  const db = database(env)
  await db.batch([
    deleteExpiredRateLimits(env), // their keys contain the ids of organisations and users
    ...[invitations, apiKeys, workspaces, members, onboardings].map((table) =>
      db.delete(table).where(eq(table.organisationId, organisationId)),
    ),
  ])
}

/** Stores the accounting record that the law requires, then deletes the Organisation's storage. */
async function closeLedger(env: Env, row: OrganisationRow): Promise<void> {
  const organisation = organisationStub(env, row.id)
  const { totals, grants } = await organisation.closingRecord()
  const { id, name, regionCode, plan, createdAt } = row
  const { granted, consumed } = totals
  const record = { id, name, regionCode, plan, createdAt, closedAt: new Date(), granted, consumed }
  await database(env)
    .insert(closedOrganisations)
    .values({ ...record, grants })
    // An earlier run may have written the record and deleted the ledger.
    .onConflictDoNothing()
  await organisation.destroy()
}

/** Deletes a user. Their audit log entries remain, without email and IP addresses. */
async function deleteAccount(env: Env, user: DeletedUser): Promise<void> {
  const db = database(env)
  const emails = [user.email, ...(user.formerEmails ?? [])]
  const joined = await db
    .select({ organisationId: members.organisationId })
    .from(members)
    .where(eq(members.userId, user.id))
  const entry = { env, actor: SYSTEM, action: 'account.deleted', target: user.id } as const
  await db.batch([
    ...anonymiseAuditEntries(env, { id: user.id, emails }),
    ...joined.map((membership) => auditInsert({ ...membership, ...entry })),
    db.update(apiKeys).set({ createdBy: null }).where(eq(apiKeys.createdBy, user.id)),
    db.delete(invitations).where(inArray(invitations.email, emails)),
    db.delete(verifications).where(eq(verifications.value, user.id)),
    // Sessions, logins, passkeys, secrets, memberships and the onboarding reference the row and are
    // deleted with it.
    db.delete(users).where(eq(users.id, user.id)),
    deleteExpiredRateLimits(env),
  ])
  log.info('account deleted', { userId: user.id })
}
