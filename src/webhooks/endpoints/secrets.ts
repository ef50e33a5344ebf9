// Secrets that sign deliveries. They are stored encrypted, each for its own organisation only.
import { decrypt, encrypt } from '../../platform/db/encryption.ts'

/** A new secret of 24 random bytes, in the format of Standard Webhooks. */
export const newWebhookSecret = (): string =>
  `whsec_${Buffer.from(crypto.getRandomValues(new Uint8Array(24))).toString('base64')}`

/** Creates a secret. @returns it in plain text, and the value to store */
export async function createSecret(env: Env, organisationId: string) {
  const secret = newWebhookSecret()
  return { secret, stored: await encryptWebhookSecret(env, { organisationId, secret }) }
}

/** @returns the value to store */
export const encryptWebhookSecret = (
  env: Env,
  { organisationId, secret }: { organisationId: string; secret: string },
): Promise<string> => encrypt(env, { context: contextOf(organisationId), text: secret })

/** @throws Error when the value belongs to another organisation or its encryption key is not set */
export const decryptWebhookSecret = (
  env: Env,
  { organisationId, stored }: { organisationId: string; stored: string },
): Promise<string> => decrypt(env, { context: contextOf(organisationId), stored })

const contextOf = (organisationId: string) => `webhook_secret:${organisationId}`
