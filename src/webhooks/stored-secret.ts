// How signing secrets are stored: encrypted, each for its organisation alone.
import { decrypt, encrypt } from '../db/encryption.ts'

/** @returns the form to store */
export const encryptWebhookSecret = (
  env: Env,
  organisationId: string,
  secret: string,
): Promise<string> => encrypt(env, contextOf(organisationId), secret)

/** @throws Error when the stored form belongs to another organisation or its key is not set */
export const decryptWebhookSecret = (
  env: Env,
  organisationId: string,
  stored: string,
): Promise<string> => decrypt(env, contextOf(organisationId), stored)

const contextOf = (organisationId: string) => `webhook_secret:${organisationId}`
