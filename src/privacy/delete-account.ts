// Schedules and cancels the deletion of a user's account. Organisations with no other member are
// scheduled together with the account.
import { and, asc, eq, gt, sql, type SQL } from 'drizzle-orm'
import { organisationStub } from '../credits/organisation-stub.ts'
import { sendEmail } from '../mail/send.ts'
import { accountDeletionEmail } from '../mail/templates.tsx'
import { auditInsert, auditInsertForUser } from '../organisations/audit-log.ts'
import { graceEnd } from '../organisations/grace-period.ts'
import { othersOf } from '../organisations/members.ts'
import { organisationExists } from '../organisations/organisations.ts'
import { members, sessions, users } from '../platform/db/auth-schema.ts'
import { database } from '../platform/db/database.ts'
import { organisations, type OrganisationRow } from '../platform/db/schema.ts'
import type { UserRequest } from '../users/users.ts'
import { suspendScheduled } from './delete-organisation.ts'

/** What deleting an account does to the user's organisations. */
export interface AccountDeletionPlan {
  /** The user is the last owner but not the only member: another member must become an owner first. */
  blockedBy: OrganisationRow[]
  /** The user is the only member: scheduled for deletion together with the account. */
  deletedWithAccount: OrganisationRow[]
  /** The user leaves these. */
  left: OrganisationRow[]
}

export async function accountDeletionPlan(env: Env, userId: string): Promise<AccountDeletionPlan> {
  const rows = await database(env)
    .select({
      organisation: organisations,
      role: members.role,
      otherMembers: othersOf().mapWith(Number),
      otherOwners: othersOf('owner').mapWith(Number),
    })
    .from(members)
    .innerJoin(organisations, eq(organisations.id, members.organisationId))
    .where(and(eq(members.userId, userId), organisationExists()))
    .orderBy(asc(members.createdAt))
  const plan: AccountDeletionPlan = { blockedBy: [], deletedWithAccount: [], left: [] }
  for (const { organisation, role, otherMembers, otherOwners } of rows) {
    if (otherMembers === 0) plan.deletedWithAccount.push(organisation)
    else if (role === 'owner' && otherOwners === 0 && organisation.deleteAfter === null) {
      plan.blockedBy.push(organisation)
    } else plan.left.push(organisation)
  }
  return plan
}

/**
 * Schedules the deletion, ends all sessions and sends an email. Repeating it changes nothing.
 * @returns false when the user is the last owner of an organisation with other members
 */
export async function scheduleAccountDeletion(request: UserRequest & { baseUrl: string }) {
  const { env, actor, baseUrl } = request
  const { userId, email } = actor
  const db = database(env)
  const deleteAfter = graceEnd()
  const { deletedWithAccount } = await accountDeletionPlan(env, userId)
  // A condition of every statement that only the last one changes: all statements apply, or none.
  const isAllowed = sql`exists (select 1 from users where id = ${userId} and delete_after is null)
    and not exists (select 1 from ${members}
      join ${organisations} on ${organisations.id} = ${members.organisationId}
      where ${members.userId} = ${userId} and ${members.role} = 'owner'
        and ${organisations.deleteAfter} is null and ${othersOf('owner')} = 0 and ${othersOf()} > 0)`
  const isDeletedWithAccount = sql`${organisations.deleteAfter} is null and ${organisations.id} in
    (select ${members.organisationId} from ${members}
     where ${members.userId} = ${userId} and ${othersOf()} = 0)`
  const details = { delete_after: deleteAfter.toISOString() }

  const entry = { env, actor, details }
  await db.batch([
    auditInsertForUser(
      { ...entry, action: 'account.deletion_scheduled', target: userId },
      isAllowed,
    ),
    ...deletedWithAccount.map(({ id: organisationId }) =>
      auditInsert(
        { ...entry, organisationId, action: 'organisation.deletion_scheduled' },
        sql`${isAllowed} and exists (select 1 from ${organisations}
            where ${organisations.id} = ${organisationId} and ${isDeletedWithAccount})`,
      ),
    ),
    db
      .update(organisations)
      .set({ deleteAfter })
      .where(sql`${isAllowed} and ${isDeletedWithAccount}`),
    db.delete(sessions).where(and(eq(sessions.userId, userId), isAllowed)),
    db
      .update(users)
      .set({ deleteAfter })
      .where(and(eq(users.id, userId), isAllowed)),
  ])

  const due = await deletionDateOf(env, userId)
  if (!due) return false
  const scheduled = await scheduledWith(env, userId)
  const names = scheduled.map(({ name }) => name)
  // A repeated request completes what a crash interrupted, and sends no second email.
  const results = await Promise.allSettled([
    ...scheduled.map(({ id }) => suspendScheduled(env, id)),
    due.getTime() === deleteAfter.getTime() &&
      sendEmail({
        env,
        to: email,
        link: `${baseUrl}/console/sign-in`,
        email: accountDeletionEmail(due, names),
      }),
  ])
  for (const result of results) if (result.status === 'rejected') throw result.reason
  return true
}

/**
 * Cancels the deletion of the account, and of organisations scheduled with it, in the grace period.
 * @returns false once the grace period is over
 */
export async function cancelAccountDeletion({ env, actor }: UserRequest): Promise<boolean> {
  const { userId } = actor
  const db = database(env)
  const isScheduled = and(eq(users.id, userId), gt(users.deleteAfter, new Date()))
  // As in `scheduleAccountDeletion`, only the last statement changes this condition.
  const isAllowed = sql`exists (select 1 from ${users} where ${isScheduled})`
  const scheduled = await scheduledWith(env, userId)
  const entry = { env, actor, action: 'account.deletion_cancelled', target: userId } as const
  await db.batch([
    auditInsertForUser(entry, isAllowed),
    ...scheduled.map(({ id: organisationId }) =>
      auditInsert(
        { env, organisationId, actor, action: 'organisation.deletion_cancelled' },
        sql`${isAllowed} and exists (select 1 from ${organisations}
            where ${organisations.id} = ${organisationId} and ${isScheduledWith(userId)})`,
      ),
    ),
    db
      .update(organisations)
      .set({ deleteAfter: null })
      .where(
        sql`${isAllowed} and ${isScheduledWith(userId)} and ${organisations.id} in
            (select ${members.organisationId} from ${members} where ${members.userId} = ${userId})`,
      ),
    db.update(users).set({ deleteAfter: null }).where(isScheduled),
  ])
  await Promise.all(scheduled.map(({ id }) => organisationStub(env, id).refresh()))
  return (await deletionDateOf(env, userId)) === null
}

/** An organisation that was scheduled with the account has exactly the same date. */
const isScheduledWith = (userId: string): SQL =>
  sql`${organisations.deleteAfter} =
      (select ${users.deleteAfter} from ${users} where ${users.id} = ${userId})`

/** The organisations that are deleted together with an account. */
export const scheduledWith = (env: Env, userId: string) =>
  database(env)
    .select({ id: organisations.id, name: organisations.name })
    .from(members)
    .innerJoin(organisations, eq(organisations.id, members.organisationId))
    .where(and(eq(members.userId, userId), isScheduledWith(userId)))

async function deletionDateOf(env: Env, userId: string): Promise<Date | null> {
  const user = await database(env)
    .select({ deleteAfter: users.deleteAfter })
    .from(users)
    .where(eq(users.id, userId))
    .get()
  return user?.deleteAfter ?? null
}
