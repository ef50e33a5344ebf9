// Webhook endpoints that were disabled after days of failures: reports them to the owners, lists them
// and enables them.
import { consolePath } from '../domain/console-path.ts'
import { requirePermission, requireUnlimited } from '../access/authorisation.ts'
import type { OrganisationRequest } from '../access/authorisation.ts'
import type { WebhookEndpointRow } from '../db/webhook-schema.ts'
import { log } from '../log.ts'
import { endpointDisabledEmail } from '../mail/templates.tsx'
import { mailRecipients, notify } from '../notifications/notify.ts'
import { claimReport, failingEndpointsOf, resetEndpoint } from './endpoint-store.ts'
import type { Endpoint } from './endpoint-store.ts'

/**
 * The endpoints whose latest deliveries failed, also the disabled ones. For members who may read
 * deliveries.
 * @throws AppError not_found
 */
export async function listFailingEndpoints(
  request: OrganisationRequest,
): Promise<WebhookEndpointRow[]> {
  await requirePermission(request, 'jobs')
  return failingEndpointsOf(request.env, request.organisationId)
}

/**
 * Enables the endpoint of a URL and deletes the record of its failures. For developers.
 * @param url any URL of the endpoint; an invalid URL has no endpoint
 * @throws AppError not_found
 */
export async function enableEndpoint({
  env,
  actor,
  organisationId,
  url,
}: OrganisationRequest & { url: string }): Promise<void> {
  await requireUnlimited({ env, actor, organisationId }, 'develop')
  const origin = URL.parse(url)?.origin
  if (origin) await resetEndpoint(env, actor, { organisationId, origin })
}

/** Informs members about a failing endpoint, once until it works again. Call it after each failure. */
export async function reportFailingEndpoint(env: Env, endpoint: Endpoint): Promise<void> {
  const { organisationId, origin } = endpoint
  try {
    const report = await claimReport(env, endpoint)
    if (!report) return
    const { failures, failingSince } = report
    const notification = { kind: 'webhook_failing' as const, origin, failures, failingSince }
    await notify({ env, organisationId, notification })
  } catch (error) {
    log.error('failing endpoint not reported', error, { organisationId, origin })
  }
}

/** Informs members by email, if email is set up. Best effort: the console also shows the endpoint. */
export async function reportDisabledEndpoint({
  env,
  baseUrl,
  endpoint: { organisationId, origin },
}: {
  env: Env
  baseUrl: string
  endpoint: { organisationId: string; origin: string }
}): Promise<void> {
  log.warn('webhook endpoint disabled', { organisationId, origin })
  const email = endpointDisabledEmail({
    link: baseUrl + consolePath(organisationId, '/settings/webhooks'),
    origin,
  })
  await mailRecipients({ env, organisationId, kind: 'webhook_failing', email })
}
