/** A new signing secret in the form that Standard Webhooks prescribes: 24 random bytes. */
export const newWebhookSecret = (): string =>
  `whsec_${Buffer.from(crypto.getRandomValues(new Uint8Array(24))).toString('base64')}`
