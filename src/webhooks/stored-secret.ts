// Signing secrets are stored encrypted. A stored secret decrypts for its own organisation only.
import { decrypt, encrypt } from '../db/encryption.ts'

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
