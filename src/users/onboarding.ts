// Onboarding: a user creates an organisation in steps, each of which can be interrupted, repeated or
// run concurrently. A user creates one at a time: its id is chosen in the first step, and its credits
// are granted under one reference.
import { and, eq, isNotNull, isNull } from 'drizzle-orm'
import { rateLimitOf } from '../billing/plans.ts'
import { newOrganisationStub } from '../credits/organisation-stub.ts'
import { FREE_CREDITS } from '../domain/limits.ts'
import type { Region } from '../domain/organisation.ts'
import { newApiKey } from '../organisations/create-api-key.ts'
import { organisationInserts, organisationRow } from '../organisations/create-organisation.ts'
import { claimFreeCredits } from '../organisations/free-credits.ts'
import { grantSignUpCredits } from '../organisations/grant-credits.ts'
import {
  MAX_OWNED_ORGANISATIONS,
  organisationLimitReached,
} from '../organisations/organisation-limits.ts'
import { workspaceRow } from '../organisations/workspaces.ts'
import { members, onboardings, type OnboardingRow } from '../platform/db/auth-schema.ts'
import { database, newOrganisationId, unlessLost } from '../platform/db/database.ts'
import type { UserRequest } from './users.ts'

/** The next step. */
export function stepOf(onboarding: OnboardingRow) {
  if (onboarding.completedAt) return 'done'
  if (!onboarding.nameConfirmedAt) return 'name'
  return onboarding.regionCode ? 'workspace' : 'region'
}

export const findOnboarding = (env: Env, userId: string): Promise<OnboardingRow | undefined> =>
  database(env).select().from(onboardings).where(eq(onboardings.userId, userId)).get()

interface OnboardingRequest {
  env: Env
  userId: string
}

/** The statement that inserts an onboarding, unless the user has one. */
const insertOnboarding = (
  env: Env,
  row: Pick<OnboardingRow, 'userId' | 'organisationName'> & { nameConfirmedAt?: Date },
) =>
  database(env)
    .insert(onboardings)
    .values({ ...row, organisationId: newOrganisationId(env), createdAt: new Date() })
    .onConflictDoNothing()

/** Starts a user's onboarding, unless it has already started. @returns its state */
export async function beginOnboarding(request: OnboardingRequest & { organisationName: string }) {
  const { env, userId, organisationName } = request
  await insertOnboarding(env, { userId, organisationName })
  const onboarding = await findOnboarding(env, userId)
  if (!onboarding) throw new Error('The inserted onboarding was not found')
  return onboarding
}

/**
 * Starts the onboarding of a further organisation with a confirmed name. Changes nothing while another
 * onboarding is in progress.
 * @throws AppError validation_error if the user owns `MAX_OWNED_ORGANISATIONS`
 */
export async function beginAnother(request: OnboardingRequest & { name: string }): Promise<void> {
  const { env, userId, name } = request
  const db = database(env)
  // Includes organisations that are scheduled for deletion: their deletion can be cancelled.
  const owned = await db.$count(members, and(eq(members.userId, userId), eq(members.role, 'owner')))
  if (owned >= MAX_OWNED_ORGANISATIONS) throw organisationLimitReached()
  await db.batch([
    db
      .delete(onboardings)
      .where(and(eq(onboardings.userId, userId), isNotNull(onboardings.completedAt))),
    insertOnboarding(env, { userId, organisationName: name, nameConfirmedAt: new Date() }),
  ])
}

/** Sets the organisation's name, which can change until the organisation is created. */
export async function confirmName(request: OnboardingRequest & { name: string }): Promise<void> {
  const { env, userId, name } = request
  await database(env)
    .update(onboardings)
    .set({ organisationName: name, nameConfirmedAt: new Date() })
    .where(and(eq(onboardings.userId, userId), isNull(onboardings.completedAt)))
}

/** Sets the billing region, once: a later choice changes nothing. */
export async function chooseRegion(request: OnboardingRequest & { regionCode: Region }) {
  const { env, userId, regionCode } = request
  await database(env)
    .update(onboardings)
    .set({ regionCode })
    .where(and(eq(onboardings.userId, userId), isNull(onboardings.regionCode)))
}

/**
 * Creates the organisation with its owner, first workspace and first test key, and with free credits
 * if its domain has not received them before.
 * @returns with the test key in plain text, which cannot be read again; null when an earlier step is missing
 *   or the organisation already exists
 */
export async function completeOnboarding(request: UserRequest & { workspaceName: string }) {
  const { env, actor, workspaceName } = request
  const { userId, email } = actor
  const onboarding = await findOnboarding(env, userId)
  if (!onboarding?.regionCode || stepOf(onboarding) !== 'workspace') return null
  const { organisationId, organisationName, regionCode } = onboarding
  // Claim, credits, organisation, in this order. Each step can be repeated, so the next attempt
  // completes what a crash interrupted, and no organisation exists without its promised credits.
  const claimed = await claimFreeCredits(env, { email, organisationId })
  const freeCredits = claimed ? FREE_CREDITS : 0
  const placed = { id: organisationId, regionCode }
  if (claimed) await grantSignUpCredits(env, placed, freeCredits)
  const { key, row } = newApiKey({
    organisationId,
    mode: 'test',
    name: 'First test key',
    createdBy: userId,
  })
  const organisation = organisationRow({
    id: organisationId,
    name: organisationName,
    regionCode,
    rateLimitPerMinute: rateLimitOf('starter'),
  })
  const db = database(env)
  const now = new Date()
  const batch = db.batch([
    // In a concurrent second call, this insert violates the primary key and the whole batch fails.
    ...organisationInserts({
      env,
      actor,
      organisation,
      workspace: workspaceRow({ organisationId, name: workspaceName }),
      keys: [row],
      details: { freeCredits },
    }),
    db.insert(members).values({ organisationId, userId, role: 'owner', createdAt: now }),
    db.update(onboardings).set({ completedAt: now }).where(eq(onboardings.userId, userId)),
  ])
  const isLost = async () => Boolean((await findOnboarding(env, userId))?.completedAt)
  if (!(await unlessLost(batch, isLost))) return null
  await newOrganisationStub(env, placed).refresh()
  return { organisationId, key, freeCredits }
}
