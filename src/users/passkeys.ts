// Passkeys: discoverable WebAuthn credentials with user verification. A sign-in with one counts as both
// factors. The verification library is loaded on demand, since most pages do not need it.
import { and, asc, count, eq, lt, sql } from 'drizzle-orm'
import { z } from 'zod'
import type { UserActor } from '../domain/actor.ts'
import { auditInsertForUser } from '../organisations/audit-log.ts'
import { passkeys, users, type PasskeyRow } from '../platform/db/auth-schema.ts'
import { database, hasChanged, IF_CHANGED, insertWhere } from '../platform/db/database.ts'
import { log } from '../platform/log.ts'
import { base64url, fromBase64url } from '../platform/signing/token.ts'
import { useOnce } from './challenges.ts'
import type { UserRequest } from './users.ts'

export const MAX_PASSKEYS = 20
/** How long a browser has to sign a challenge. */
export const PASSKEY_SECONDS = 5 * 60
/** COSE algorithms: EdDSA, ES256, RS256. */
const ALGORITHMS = [-8, -7, -257]

const Base64Url = z.string().regex(/^[\w-]+$/)

const shared = {
  id: Base64Url.max(1_400),
  rawId: Base64Url,
  type: z.literal('public-key'),
  clientExtensionResults: z.object({}).default({}),
}

/** What `PublicKeyCredential.toJSON()` returns after a registration. */
const Registration = z.object({
  ...shared,
  response: z.object({ clientDataJSON: Base64Url, attestationObject: Base64Url }),
})

/** What `PublicKeyCredential.toJSON()` returns after a sign-in. */
const Assertion = z.object({
  ...shared,
  response: z.object({
    clientDataJSON: Base64Url,
    authenticatorData: Base64Url,
    signature: Base64Url,
  }),
})

/** The website that passkeys belong to, and the challenge that the browser was sent. */
export interface PasskeyCheck {
  env: Env
  /** Such as `https://try-on.example`. */
  origin: string
  challenge: string
  /** The credential as JSON text, as the browser sent it. */
  credential: string
}

type Website = Pick<PasskeyCheck, 'origin' | 'challenge'>

const rpIdOf = (origin: string) => new URL(origin).hostname

/** What a signature must be for, for the verification library. */
const expectedOf = ({ origin, challenge }: Website) => ({
  expectedChallenge: (signed: string) => signed === challenge,
  expectedOrigin: origin,
  expectedRPID: rpIdOf(origin),
  requireUserVerification: true,
})

/** The options for `navigator.credentials.create`, as JSON. */
export async function registrationOptions(
  request: Website & { env: Env; user: { id: string; email: string; name: string } },
) {
  const { env, origin, challenge, user } = request
  const existing = await listPasskeys(env, user.id)
  return {
    challenge,
    rp: { id: rpIdOf(origin), name: 'Try-On' },
    user: {
      id: base64url(new TextEncoder().encode(user.id)),
      name: user.email,
      displayName: user.name || user.email,
    },
    pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
    timeout: PASSKEY_SECONDS * 1_000,
    attestation: 'none',
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    excludeCredentials: existing.map(({ id }) => ({ type: 'public-key', id })),
  }
}

/** The options for `navigator.credentials.get`, as JSON. @param ids empty: the user chooses a passkey */
export const assertionOptions = ({
  origin,
  challenge,
  ids = [],
}: Website & { ids?: string[] }) => ({
  challenge,
  rpId: rpIdOf(origin),
  timeout: PASSKEY_SECONDS * 1_000,
  userVerification: 'required',
  allowCredentials: ids.map((id) => ({ type: 'public-key', id })),
})

/** A user's passkeys, oldest first. */
export const listPasskeys = (env: Env, userId: string): Promise<PasskeyRow[]> =>
  database(env)
    .select()
    .from(passkeys)
    .where(eq(passkeys.userId, userId))
    .orderBy(asc(passkeys.createdAt))

export const countPasskeys = (env: Env, userId: string): Promise<number> =>
  database(env).$count(passkeys, eq(passkeys.userId, userId))

/** Stores a new passkey of the signed-in user. */
export async function addPasskey(check: PasskeyCheck & { actor: UserActor; name: string }) {
  const { env, challenge, actor, name } = check
  const response = parse(Registration, check.credential)
  if (!response || !(await hasNoCertificate(response.response.attestationObject))) return 'rejected'
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server')
  const verified = await verifyRegistrationResponse({
    response,
    ...expectedOf(check),
    supportedAlgorithmIDs: ALGORITHMS,
  }).catch(logRejection)
  if (!verified?.verified) return 'rejected'
  const { id, publicKey, counter } = verified.registrationInfo.credential
  const { userId } = actor
  if (!(await useOnce(env, { userId, challenge, seconds: PASSKEY_SECONDS }))) return 'rejected'
  const isAllowed = sql`(select ${count()} from ${passkeys} where ${passkeys.userId} = ${userId}) < ${MAX_PASSKEYS}
    and not exists (select 1 from ${passkeys} where ${passkeys.id} = ${id})`
  const key = { id, publicKey: base64url(publicKey), counter }
  const row = { ...key, userId, name, createdAt: new Date() }
  const [inserted] = await database(env).batch([
    insertWhere(env, passkeys, row, isAllowed),
    auditInsertForUser({ env, actor, action: 'user.passkey_added' }, IF_CHANGED),
  ])
  return inserted.meta.changes > 0 ? 'added' : 'too_many'
}

/**
 * Checks the signature of a passkey and records its use.
 * @returns its user; undefined if it is unknown or its signature, challenge or counter is wrong
 */
export async function checkPasskey(check: PasskeyCheck) {
  const { env, challenge } = check
  const response = parse(Assertion, check.credential)
  if (!response) return undefined
  const found = await database(env)
    .select({ passkey: passkeys, email: users.email })
    .from(passkeys)
    .innerJoin(users, eq(users.id, passkeys.userId))
    .where(eq(passkeys.id, response.id))
    .get()
  if (!found) return undefined
  const { id, userId, publicKey, counter } = found.passkey
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server')
  const verified = await verifyAuthenticationResponse({
    response,
    ...expectedOf(check),
    credential: { id, counter, publicKey: fromBase64url(publicKey) },
  }).catch(logRejection)
  if (!verified?.verified) return undefined
  if (!(await useOnce(env, { userId, challenge, seconds: PASSKEY_SECONDS }))) return undefined
  const { newCounter } = verified.authenticationInfo
  const { meta } = await database(env)
    .update(passkeys)
    .set({ counter: newCounter, lastUsedAt: new Date() })
    // A copy of the authenticator could sign with the same counter at the same time.
    .where(
      and(eq(passkeys.id, id), newCounter === 0 ? undefined : lt(passkeys.counter, newCounter)),
    )
  return meta.changes > 0 ? { id: userId, email: found.email } : undefined
}

type PasskeyRequest = UserRequest & { passkeyId: string }

/** @returns false if the user has no such passkey */
export async function renamePasskey(request: PasskeyRequest & { name: string }): Promise<boolean> {
  const { env, actor, passkeyId, name } = request
  return hasChanged(database(env).update(passkeys).set({ name }).where(isOwn(actor, passkeyId)))
}

/** @returns false if the user has no such passkey */
export async function removePasskey({ env, actor, passkeyId }: PasskeyRequest): Promise<boolean> {
  const [removed] = await database(env).batch([
    database(env).delete(passkeys).where(isOwn(actor, passkeyId)),
    auditInsertForUser({ env, actor, action: 'user.passkey_removed' }, IF_CHANGED),
  ])
  return removed.meta.changes > 0
}

const isOwn = ({ userId }: UserActor, passkeyId: string) =>
  and(eq(passkeys.id, passkeyId), eq(passkeys.userId, userId))

/**
 * The console requests no attestation. A certificate is rejected, because the library would fetch the
 * revocation list at an address that the certificate names.
 */
async function hasNoCertificate(attestationObject: string): Promise<boolean> {
  const { decodeAttestationObject } = await import('@simplewebauthn/server/helpers')
  try {
    const attestation = decodeAttestationObject(fromBase64url(attestationObject))
    const format = attestation.get('fmt')
    return format === 'none' || (format === 'packed' && !attestation.get('attStmt').get('x5c'))
  } catch (error) {
    logRejection(error)
    return false
  }
}

function logRejection(error: unknown): undefined {
  log.warn('passkey rejected', { reason: error instanceof Error ? error.message : 'unknown' })
}

function parse<T>(schema: z.ZodType<T>, text: string): T | undefined {
  try {
    return schema.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}
