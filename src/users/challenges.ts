// What a user must confirm within minutes (table challenges). A challenge is found by a random token,
// of which only the hash is stored, and works once.
import { and, eq, gt, lt, sql, type SQL } from 'drizzle-orm'
import { challenges, type CHALLENGE_KINDS } from '../platform/db/auth-schema.ts'
import { database, hasChanged } from '../platform/db/database.ts'
import { hashToken, randomToken } from '../platform/signing/token.ts'

type Kind = (typeof CHALLENGE_KINDS)[number]

interface NewChallenge {
  kind: Exclude<Kind, 'used_passkey'>
  userId: string
  email?: string
  seconds: number
}

/** The statement that deletes expired challenges. Part of every insertion, which bounds the table. */
const deleteExpired = (env: Env) =>
  database(env).delete(challenges).where(lt(challenges.expiresAt, new Date()))

/** Creates a challenge. Replaces the user's other ones of that kind. @returns the token */
export async function createChallenge(env: Env, { kind, userId, email, seconds }: NewChallenge) {
  const token = randomToken()
  const db = database(env)
  await db.batch([
    deleteExpired(env),
    db.delete(challenges).where(and(eq(challenges.userId, userId), eq(challenges.kind, kind))),
    db
      .insert(challenges)
      .values({ id: hashToken(token), kind, userId, email, expiresAt: inSeconds(seconds) }),
  ])
  return token
}

/** Reads an open challenge. @returns undefined if it was used, has expired or does not exist */
export const findChallenge = (env: Env, kind: Kind, token: string) =>
  database(env)
    .select({ userId: challenges.userId, email: challenges.email })
    .from(challenges)
    .where(isOpen(kind, token))
    .get()

/** @returns false if it is not open, or was ended concurrently */
export const endChallenge = (env: Env, kind: Kind, token: string): Promise<boolean> =>
  hasChanged(database(env).delete(challenges).where(isOpen(kind, token)))

/** An SQL condition: the challenge exists, was not used and has not expired. */
export const challengeExists = (kind: Kind, token: string): SQL =>
  sql`exists (select 1 from ${challenges} where ${isOpen(kind, token)})`

/** The statement that deletes all challenges of a user, for a batch. */
export const deleteChallenges = (env: Env, userId: string) =>
  database(env).delete(challenges).where(eq(challenges.userId, userId))

/** Records that a passkey's challenge was used. @returns false if it was used before */
export async function useOnce(
  env: Env,
  { userId, challenge, seconds }: { userId: string; challenge: string; seconds: number },
): Promise<boolean> {
  const db = database(env)
  const [, inserted] = await db.batch([
    deleteExpired(env),
    db
      .insert(challenges)
      .values({
        id: hashToken(challenge),
        kind: 'used_passkey',
        userId,
        expiresAt: inSeconds(seconds),
      })
      .onConflictDoNothing(),
  ])
  return inserted.meta.changes > 0
}

const isOpen = (kind: Kind, token: string) =>
  and(
    eq(challenges.id, hashToken(token)),
    eq(challenges.kind, kind),
    gt(challenges.expiresAt, new Date()),
  )

const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1_000)
