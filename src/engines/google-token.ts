// OAuth access tokens of a Google service account: exchanges a signed assertion for a token that is
// valid for an hour. The token is cached in the memory of the isolate only.
import { SignJWT, importPKCS8 } from 'jose'
import { z } from 'zod'
import { JobFailure } from '../domain/failure.ts'
import { parseJson, refused } from './engine.ts'
import { callProvider, BaseUrl } from './provider-api.ts'

/** The JSON key file of a service account, as downloaded from Google Cloud. */
export const ServiceAccount = z
  .string()
  .transform(parseJson)
  .pipe(
    z.object(
      {
        client_email: z.string().min(1),
        private_key: z.string().startsWith('-----BEGIN PRIVATE KEY-----'),
        private_key_id: z.string().optional(),
        token_uri: BaseUrl.default('https://oauth2.googleapis.com/token'),
      },
      'must be the JSON key of a service account',
    ),
  )
export type ServiceAccount = z.infer<typeof ServiceAccount>

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform'
/** A token is replaced this long before it expires, so that it stays valid during a call. */
const EXPIRY_MARGIN_MS = 5 * 60_000

export function createTokenSource(account: ServiceAccount) {
  // Caches the token instead of its promise: in workerd, a request cannot await another request's fetch.
  let cached: { value: string; validUntilMs: number } | undefined
  return {
    async token(): Promise<string> {
      if (cached && Date.now() < cached.validUntilMs) return cached.value
      const { access_token, expires_in } = await exchange(account)
      cached = {
        value: access_token,
        validUntilMs: Date.now() + expires_in * 1_000 - EXPIRY_MARGIN_MS,
      }
      return access_token
    },
    /** Removes a token that Google rejected from the cache. */
    invalidate(): void {
      cached = undefined
    },
  }
}

async function exchange(account: ServiceAccount) {
  const form = new URLSearchParams({
    grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
    assertion: await assertion(account),
  })
  try {
    return await callProvider({
      provider: 'google token',
      during: 'start',
      url: account.token_uri,
      headers: {},
      form,
      schema: z.object({ access_token: z.string().min(1), expires_in: z.number().positive() }),
    })
  } catch (error) {
    if (!(error instanceof JobFailure)) throw error
    // Without a token no work was requested, so a failed exchange costs nothing.
    throw refused(error.message, error.retryAfterSeconds)
  }
}

async function assertion(account: ServiceAccount): Promise<string> {
  try {
    const key = await importPKCS8(account.private_key, 'RS256')
    return await new SignJWT({ scope: SCOPE })
      .setProtectedHeader({
        alg: 'RS256',
        typ: 'JWT',
        ...(account.private_key_id ? { kid: account.private_key_id } : {}),
      })
      .setIssuer(account.client_email)
      .setAudience(account.token_uri)
      .setIssuedAt()
      .setExpirationTime('1h')
      .sign(key)
  } catch {
    // Omits the cause, since its message may contain the key.
    throw refused('google token: the private key cannot be used')
  }
}
