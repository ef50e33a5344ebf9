// Founding an organisation, step by step; every step may be left, repeated or raced. A person founds
// at most one, whose id is fixed before anything else, and its credits are granted under one
// reference: so they are granted once.
import { and, eq, isNull } from 'drizzle-orm'
import { database } from '../db/client.ts'
import { members, onboardings } from '../db/people.ts'
import type { OnboardingRow } from '../db/people.ts'
import { apiKeys, organisations, workspaces } from '../db/schema.ts'
import type { OrganisationRow } from '../db/schema.ts'
import { newId } from '../ids.ts'
import { organisationOf } from '../organisation/by-id.ts'
import { SIGN_UP_REFERENCE } from '../organisation/ledger.ts'
import { FREE_CREDITS } from '../settings.ts'
import { keyRow } from './api-keys.ts'
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
 * Founds the organisation with its owner, first workspace, first test key and free credits.
 * @returns the key in plain text, which nobody can read again, or null when it is founded already
 */
export async function foundOrganisation(
  env: Env,
  onboarding: OnboardingRow,
  workspaceName: string,
): Promise<{ key: string } | null> {
  const { userId, organisationId, organisationName, regionCode } = onboarding
  if (stepOf(onboarding) !== 'workspace' || !regionCode) return null
  // The credits come first: after a crash they are there or granted again under the same reference,
  // and never missing from an organisation that exists.
  await grantCredits(env, organisationId, {
    amount: FREE_CREDITS,
    reason: 'Credits at sign-up',
    reference: SIGN_UP_REFERENCE,
  })
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
      // Whoever is second fails here on the primary key, and with it everything below.
      db.insert(organisations).values(organisation),
      db.insert(workspaces).values(workspaceRow(organisationId, workspaceName)),
      db.insert(apiKeys).values(test.row),
      db.insert(members).values({ organisationId, userId, role: 'owner', createdAt: now }),
      db.update(onboardings).set({ foundedAt: now }).where(eq(onboardings.userId, userId)),
    ])
  } catch (error) {
    if ((await findOnboarding(env, userId))?.foundedAt) return null
    throw error
  }
  await organisationOf(env, organisationId).refresh()
  return { key: test.key }
}
