// OAuth access tokens of a Google service account: a signed assertion is exchanged for a token that
// lives an hour. Kept in memory only; a new isolate asks anew.
import { SignJWT, importPKCS8 } from 'jose'
import { z } from 'zod'
import { BaseUrl } from './base-url.ts'
import { JobFailure } from '../domain/failure.ts'
import { callProvider } from './provider.ts'

/** The JSON key file of a service account, as Google's console gives it out. */
export const ServiceAccount = z
  .string()
  .transform((text, context) => {
    try {
      return JSON.parse(text) as unknown
    } catch {
      context.addIssue({ code: 'custom', message: 'must be the JSON key of a service account' })
      return z.NEVER
    }
  })
  .pipe(
    z.object({
      client_email: z.string().min(1),
      private_key: z.string().startsWith('-----BEGIN PRIVATE KEY-----'),
      private_key_id: z.string().optional(),
      token_uri: BaseUrl.default('https://oauth2.googleapis.com/token'),
    }),
  )
export type ServiceAccount = z.infer<typeof ServiceAccount>

const Token = z.object({ access_token: z.string().min(1), expires_in: z.number().positive() })

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform'
/** A token is given up this long before it expires, so that it outlives the call it is used in. */
const SPARE_MS = 5 * 60_000

export interface TokenSource {
  token(): Promise<string>
  /** Google no longer takes the token: the next call fetches another. */
  forget(): void
}

export function createTokenSource(account: ServiceAccount): TokenSource {
  // The token, never the promise of one: workerd does not let one request wait for another's fetch.
  let kept: { value: string; goodUntilMs: number } | undefined
  return {
    async token() {
      if (kept && Date.now() < kept.goodUntilMs) return kept.value
      const { access_token, expires_in } = await exchange(account)
      kept = { value: access_token, goodUntilMs: Date.now() + expires_in * 1000 - SPARE_MS }
      return access_token
    },
    forget() {
      kept = undefined
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
      method: 'POST',
      url: account.token_uri,
      headers: {},
      form,
      answer: Token,
    })
  } catch (error) {
    if (!(error instanceof JobFailure)) throw error
    // Without a token no picture was asked for, so whatever became of this call cost nothing.
    throw new JobFailure('engine_unavailable', error.message, {
      retriable: true,
      work: 'refused',
      retryAfterSeconds: error.retryAfterSeconds,
    })
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
    // The cause may quote the key.
    throw new JobFailure('engine_unavailable', 'google token: the private key cannot be used', {
      retriable: true,
      work: 'refused',
    })
  }
}
