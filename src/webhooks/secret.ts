/** A new signing secret of 24 random bytes, in the format of Standard Webhooks. */
export const newWebhookSecret = (): string =>
  `whsec_${Buffer.from(crypto.getRandomValues(new Uint8Array(24))).toString('base64')}`
