// Onboarding: a user creates an organisation in steps, each of which can be interrupted, repeated or
// run concurrently. A user creates one at a time: its id is chosen in the first step, and its credits
// are granted under one reference.
import { and, eq, isNotNull, isNull } from 'drizzle-orm'
import { database } from '../db/client.ts'
import { newOrganisationId } from '../db/shards.ts'
import { members, onboardings } from '../db/auth-schema.ts'
import type { OnboardingRow } from '../db/auth-schema.ts'
import type { OrganisationRow } from '../db/schema.ts'
import type { UserActor } from '../domain/actor.ts'
import { FREE_CREDITS } from '../domain/limits.ts'
import { newOrganisationStub } from '../organisation/stub.ts'
import { newApiKey } from './create-api-key.ts'
import { organisationInserts, organisationRow } from './create-organisation.ts'
import { grantSignUpCredits } from './credits.ts'
import { claimFreeCredits } from './free-credits.ts'
import { MAX_OWNED_ORGANISATIONS, organisationLimitReached } from './limits.ts'
import { workspaceRow } from './workspaces.ts'

export type OnboardingStep = 'name' | 'region' | 'workspace' | 'done'

/** The next step. */
export function stepOf(onboarding: OnboardingRow): OnboardingStep {
  if (onboarding.completedAt) return 'done'
  if (!onboarding.nameConfirmedAt) return 'name'
  return onboarding.regionCode ? 'workspace' : 'region'
}

export async function findOnboarding(env: Env, userId: string): Promise<OnboardingRow | undefined> {
  const [row] = await database(env).select().from(onboardings).where(eq(onboardings.userId, userId))
  return row
}

/** Starts a user's onboarding, unless it has already started. @returns its state */
export async function beginOnboarding({
  env,
  userId,
  organisationName,
}: {
  env: Env
  userId: string
  organisationName: string
}): Promise<OnboardingRow> {
  await database(env)
    .insert(onboardings)
    .values({
      userId,
      organisationId: newOrganisationId(env),
      organisationName,
      createdAt: new Date(),
    })
    .onConflictDoNothing()
  const onboarding = await findOnboarding(env, userId)
  if (!onboarding) throw new Error('The inserted onboarding was not found')
  return onboarding
}

/**
 * Starts the onboarding of a further organisation with a confirmed name. Changes nothing while another
 * onboarding is in progress.
 * @throws AppError validation_error if the user owns `MAX_OWNED_ORGANISATIONS`
 */
export async function beginAnother({
  env,
  userId,
  name,
}: {
  env: Env
  userId: string
  name: string
}): Promise<void> {
  const db = database(env)
  // Includes organisations that are scheduled for deletion: their deletion can be cancelled.
  const owned = await db.$count(members, and(eq(members.userId, userId), eq(members.role, 'owner')))
  if (owned >= MAX_OWNED_ORGANISATIONS) throw organisationLimitReached()
  const now = new Date()
  await db.batch([
    db
      .delete(onboardings)
      .where(and(eq(onboardings.userId, userId), isNotNull(onboardings.completedAt))),
    db
      .insert(onboardings)
      .values({
        userId,
        organisationId: newOrganisationId(env),
        organisationName: name,
        nameConfirmedAt: now,
        createdAt: now,
      })
      .onConflictDoNothing(),
  ])
}

/** Sets the organisation's name, which can change until the organisation is created. */
export async function confirmName({
  env,
  userId,
  name,
}: {
  env: Env
  userId: string
  name: string
}): Promise<void> {
  await database(env)
    .update(onboardings)
    .set({ organisationName: name, nameConfirmedAt: new Date() })
    .where(and(eq(onboardings.userId, userId), isNull(onboardings.completedAt)))
}

/** Sets the billing region, once: a later choice changes nothing. */
export async function chooseRegion({
  env,
  userId,
  regionCode,
}: {
  env: Env
  userId: string
  regionCode: OrganisationRow['regionCode']
}): Promise<void> {
  await database(env)
    .update(onboardings)
    .set({ regionCode })
    .where(and(eq(onboardings.userId, userId), isNull(onboardings.regionCode)))
}

/**
 * Creates the organisation with its owner, first workspace and first test key, and with free credits
 * if its domain has not received them before.
 * @returns the key in plain text, which cannot be read again; null when an earlier step is
 *   missing or the organisation already exists
 */
export async function completeOnboarding({
  env,
  actor,
  workspaceName,
}: {
  env: Env
  actor: UserActor
  workspaceName: string
}): Promise<{ organisationId: string; key: string; freeCredits: number } | null> {
  const { userId, email } = actor
  const onboarding = await findOnboarding(env, userId)
  if (!onboarding?.regionCode || stepOf(onboarding) !== 'workspace') return null
  const { organisationId, organisationName, regionCode } = onboarding
  // Claim, credits, organisation, in this order. Each step can be repeated, so the next attempt
  // completes what a crash interrupted, and no organisation exists without its promised credits.
  const claimed = await claimFreeCredits({ env, email, organisationId })
  const freeCredits = claimed ? FREE_CREDITS : 0
  const placed = { id: organisationId, regionCode }
  if (claimed) await grantSignUpCredits({ env, organisation: placed, amount: freeCredits })
  const { key, row } = newApiKey({
    organisationId,
    mode: 'test',
    name: 'First test key',
    createdBy: userId,
  })
  const organisation = await organisationRow(env, {
    id: organisationId,
    name: organisationName,
    regionCode,
  })
  const db = database(env)
  const now = new Date()
  try {
    await db.batch([
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
  } catch (error) {
    if ((await findOnboarding(env, userId))?.completedAt) return null
    throw error
  }
  await newOrganisationStub(env, placed).refresh()
  return { organisationId, key, freeCredits }
}
