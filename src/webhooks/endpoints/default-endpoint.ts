// The default endpoint of an organisation: its URL is that of jobs without a URL of their own, and its
// secret signs deliveries to both. Its row is created when it is first needed.
import { and, eq, inArray } from 'drizzle-orm'
import { requireOperator, type OrganisationRequest } from '../../organisations/authorisation.ts'
import { database, listed, jobsDatabase } from '../../platform/db/database.ts'
import { NO_SECRET } from '../../platform/db/encryption.ts'
import { atPrimary } from '../../platform/db/read-sessions.ts'
import { organisations, type OrganisationRow } from '../../platform/db/schema.ts'
import { webhookEndpoints, type WebhookEventRow } from '../../platform/db/webhook-schema.ts'
import { shardOf } from '../../platform/ids.ts'
import type { Actor } from '../../domain/actor.ts'
import { DEFAULT_ENDPOINT } from '../../domain/webhook.ts'
import { findEndpoint, insertDefaultEndpoint } from './endpoint-store.ts'
import { createSecret } from './secrets.ts'

/**
 * The default endpoint, created with a new secret if needed. The release before stored the URL and the
 * secrets in the organisation's row, from which they are copied then: by retention at the latest. The first
 * of concurrent calls applies.
 * @returns undefined when the organisation does not exist
 */
export async function defaultEndpointOf(env: Env, organisationId: string) {
  const stored = await findEndpoint(env, { organisationId, endpointId: DEFAULT_ENDPOINT })
  return stored ?? atPrimary(() => createFromOrganisation(env, organisationId))
}

/** The endpoint of an event, if none is stored: an added endpoint is deleted, a default one is created. */
export const missingEndpointOf = async (
  env: Env,
  { organisationId, endpointId }: Pick<WebhookEventRow, 'organisationId' | 'endpointId'>,
) => (endpointId === null ? defaultEndpointOf(env, organisationId) : undefined)

async function createFromOrganisation(env: Env, organisationId: string) {
  const [organisation] = await database(env)
    .select()
    .from(organisations)
    .where(eq(organisations.id, organisationId))
  if (!organisation) return undefined
  const { webhookSecret } = organisation
  return insertDefaultEndpoint(env, {
    organisationId,
    url: organisation.defaultWebhookUrl ?? '',
    secret:
      webhookSecret === NO_SECRET
        ? (await createSecret(env, organisationId)).stored
        : webhookSecret,
    secretPrevious: organisation.webhookSecretPrevious,
    secretPreviousUntil: organisation.webhookSecretPreviousUntil,
  })
}

/**
 * Creates the default endpoint of a new organisation. For operators.
 * @returns its secret in plain text
 */
export async function createDefaultEndpoint(request: OrganisationRequest & { url: string | null }) {
  const { env, actor, organisationId, url } = request
  requireOperator(actor)
  const { secret, stored } = await createSecret(env, organisationId)
  await insertDefaultEndpoint(env, { organisationId, url: url ?? '', secret: stored })
  return secret
}

/** The default URLs of organisations, by their ids. For operators. */
export async function defaultUrlsOf(request: {
  env: Env
  actor: Actor
  organisations: OrganisationRow[]
}): Promise<Map<string, string | null>> {
  const { env, actor, organisations: rows } = request
  requireOperator(actor)
  const urls = new Map(rows.map(({ id, defaultWebhookUrl }) => [id, defaultWebhookUrl]))
  const idsByShard = Map.groupBy(urls.keys(), shardOf)
  const found = await Promise.all(
    [...idsByShard.values()].map((ids) =>
      jobsDatabase(env, ids[0] ?? '')
        .select({ id: webhookEndpoints.organisationId, url: webhookEndpoints.url })
        .from(webhookEndpoints)
        .where(
          and(
            inArray(webhookEndpoints.organisationId, listed(ids)),
            eq(webhookEndpoints.id, DEFAULT_ENDPOINT),
          ),
        ),
    ),
  )
  for (const { id, url } of found.flat()) urls.set(id, url || null)
  return urls
}
