// Creating an organisation, step by step. Every step can be interrupted, repeated or run in parallel.
// A person creates at most one. Its id is fixed first, and its credits are granted under one reference,
// so they are granted once.
import { and, eq, isNull } from 'drizzle-orm'
import { database } from '../db/client.ts'
import { members, onboardings } from '../db/auth-schema.ts'
import type { OnboardingRow } from '../db/auth-schema.ts'
import { apiKeys, organisations, workspaces } from '../db/schema.ts'
import type { OrganisationRow } from '../db/schema.ts'
import { newId } from '../ids.ts'
import { organisationStub } from '../organisation/stub.ts'
import { SIGN_UP_REFERENCE } from '../organisation/ledger.ts'
import { FREE_CREDITS } from '../domain/limits.ts'
import { keyRow } from './api-keys.ts'
import { auditInsert } from '../access/audit-log.ts'
import type { UserActor } from '../domain/actor.ts'
import { claimFreeCredits } from './free-credits.ts'
import { grantCredits, organisationRow } from './organisations.ts'
import { workspaceRow } from './workspaces.ts'

export type OnboardingStep = 'name' | 'region' | 'workspace' | 'done'

/** What is to be done next. */
export function stepOf(onboarding: OnboardingRow): OnboardingStep {
  if (onboarding.foundedAt) return 'done'
  if (!onboarding.nameConfirmedAt) return 'name'
  return onboarding.regionCode ? 'workspace' : 'region'
}

export async function findOnboarding(env: Env, userId: string): Promise<OnboardingRow | undefined> {
  const [row] = await database(env).select().from(onboardings).where(eq(onboardings.userId, userId))
  return row
}

/** Begins, unless it was begun already. @returns how far it is */
export async function beginOnboarding(
  env: Env,
  userId: string,
  organisationName: string,
): Promise<OnboardingRow> {
  await database(env)
    .insert(onboardings)
    .values({ userId, organisationId: newId('org'), organisationName, createdAt: new Date() })
    .onConflictDoNothing()
  const onboarding = await findOnboarding(env, userId)
  if (!onboarding) throw new Error('The onboarding that was just begun is gone')
  return onboarding
}

/** Confirms the organisation's name, which may still be changed until it is founded. */
export async function confirmName(env: Env, userId: string, name: string): Promise<void> {
  await database(env)
    .update(onboardings)
    .set({ organisationName: name, nameConfirmedAt: new Date() })
    .where(and(eq(onboardings.userId, userId), isNull(onboardings.foundedAt)))
}

/** Chooses the billing region, once: a later choice changes nothing. */
export async function chooseRegion(
  env: Env,
  userId: string,
  regionCode: OrganisationRow['regionCode'],
): Promise<void> {
  await database(env)
    .update(onboardings)
    .set({ regionCode })
    .where(and(eq(onboardings.userId, userId), isNull(onboardings.regionCode)))
}

/**
 * Creates the organisation with its owner, first workspace, first test key and, if its domain has not
 * received them yet, free credits.
 * @returns the key in plain text, which cannot be read again; null if the organisation exists already
 */
export async function completeOnboarding({
  env,
  actor,
  onboarding,
  workspaceName,
}: {
  env: Env
  actor: UserActor
  onboarding: OnboardingRow
  workspaceName: string
}): Promise<{ key: string; freeCredits: number } | null> {
  const { userId, organisationId, organisationName, regionCode } = onboarding
  if (stepOf(onboarding) !== 'workspace' || !regionCode) return null
  // Claim, credits, organisation, in this order. Each step can be repeated, so the next attempt
  // finishes what a crash left, and no organisation exists without the credits that it was promised.
  const claimed = await claimFreeCredits({ env, email: actor.email, organisationId })
  const freeCredits = claimed ? FREE_CREDITS : 0
  if (claimed) {
    await grantCredits(env, organisationId, {
      amount: FREE_CREDITS,
      reason: 'Credits at sign-up',
      reference: SIGN_UP_REFERENCE,
    })
  }
  const test = keyRow(organisationId, 'test', 'First test key', userId)
  const organisation = await organisationRow(env, {
    id: organisationId,
    name: organisationName,
    regionCode,
  })
  const db = database(env)
  const now = new Date()
  try {
    await db.batch([
      // A concurrent second call fails here on the primary key, and the whole batch with it.
      db.insert(organisations).values(organisation),
      db.insert(workspaces).values(workspaceRow(organisationId, workspaceName)),
      db.insert(apiKeys).values(test.row),
      db.insert(members).values({ organisationId, userId, role: 'owner', createdAt: now }),
      db.update(onboardings).set({ foundedAt: now }).where(eq(onboardings.userId, userId)),
      auditInsert(env, {
        organisationId,
        actor,
        action: 'organisation.created',
        target: organisationId,
        details: { freeCredits },
      }),
    ])
  } catch (error) {
    if ((await findOnboarding(env, userId))?.foundedAt) return null
    throw error
  }
  await organisationStub(env, organisationId).refresh()
  return { key: test.key, freeCredits }
}
