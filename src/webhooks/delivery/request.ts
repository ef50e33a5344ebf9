// The request of a delivery attempt: its body and headers. Only the signature is stored. Everything else
// follows from the event, the job and the time of the attempt, so that the console can show it later.
import { Webhook } from 'standardwebhooks'
import type { WebhookAttemptRow } from '../../platform/db/webhook-schema.ts'
import type { ClaimedEvent } from '../event-store.ts'
import { webhookBody } from '../event.ts'
import { decryptWebhookSecret } from '../endpoints/secrets.ts'

/** What a request is created from. The secret of the endpoint signs it. */
type RequestSource = Omit<ClaimedEvent, 'receiver'>

/** The request of an attempt at `at`, with one signature per active secret. */
export async function createRequest(env: Env, source: RequestSource, at: Date) {
  const { id } = source.event
  const body = bodyOf(env, source, at)
  const stored = storedSecretsOf(source).filter(({ until }) => until === null || until > at)
  const secrets = await decryptAll(env, source, stored)
  // A receiver can switch to the new secret at any time.
  const signature = secrets.map((secret) => new Webhook(secret).sign(id, at, body)).join(' ')
  return { headers: headersOf(id, at, signature), body, signature }
}

/** How the body of a recreated request relates to the one that was sent. */
export type Fidelity = 'exact' | 'pictures_deleted' | 'not_verified'

/**
 * Recreates the request of an earlier attempt.
 * @returns `exact` if its body matches the stored signature; undefined when no signature is stored
 */
export async function recreateRequest(
  env: Env,
  source: RequestSource,
  { at, signature }: WebhookAttemptRow,
) {
  if (signature === null) return undefined
  const { id } = source.event
  const body = bodyOf(env, source, at)
  const sent = signature.split(' ')
  // A secret that cannot be decrypted must not hide the request.
  const secrets = await decryptAll(env, source, storedSecretsOf(source)).catch(() => [])
  const isExact = secrets.some((secret) => sent.includes(new Webhook(secret).sign(id, at, body)))
  const { status, outputFormat } = source.job
  const isDeleted = status === 'completed' && outputFormat === null
  const fidelity: Fidelity = isExact ? 'exact' : isDeleted ? 'pictures_deleted' : 'not_verified'
  return { headers: headersOf(id, at, signature), body, fidelity }
}

const bodyOf = (env: Env, source: RequestSource, at: Date) =>
  JSON.stringify(webhookBody(env, source, at))

const headersOf = (eventId: string, at: Date, signature: string): [string, string][] => [
  ['Content-Type', 'application/json'],
  ['User-Agent', 'try-on/1.0'],
  ['webhook-id', eventId],
  ['webhook-timestamp', String(Math.floor(at.getTime() / 1_000))],
  ['webhook-signature', signature],
]

/** The stored secrets, with the instant until which the previous one signs. */
const storedSecretsOf = ({ endpoint }: RequestSource) => [
  ...(endpoint ? [{ stored: endpoint.secret, until: null }] : []),
  ...(endpoint?.secretPrevious && endpoint.secretPreviousUntil
    ? [{ stored: endpoint.secretPrevious, until: endpoint.secretPreviousUntil }]
    : []),
]

const decryptAll = (
  env: Env,
  { event: { organisationId } }: RequestSource,
  secrets: { stored: string }[],
) => Promise.all(secrets.map(({ stored }) => decryptWebhookSecret(env, { organisationId, stored })))
