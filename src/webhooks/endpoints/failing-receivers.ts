// Receivers whose deliveries fail, and that are disabled after days of failures: reports them to the
// owners, lists them and enables them.
import {
  requirePermission,
  requireUnlimited,
  type OrganisationRequest,
} from '../../organisations/authorisation.ts'
import { log } from '../../platform/log.ts'
import { mailMembers } from '../../mail/mail-members.ts'
import {
  endpointDisabledEmail,
  webhookFailingEmail,
  type MemberEmail,
} from '../../mail/templates.tsx'
import { endpointsOf } from './endpoint-store.ts'
import { claimReport, failingReceiversOf, resetReceiver } from './failing-receiver-store.ts'
import type { ClaimedEvent } from '../event-store.ts'

/** A failing receiver, with the name of its endpoint or the origin of the URLs of jobs. */
export type FailingReceiver = Awaited<ReturnType<typeof listFailingReceivers>>[number]

/**
 * The receivers whose latest deliveries failed, also the disabled ones. For members who may read
 * deliveries. Members who are limited to workspaces see the organisation's endpoints: other receivers can be
 * those of jobs of other workspaces.
 * @throws AppError not_found
 */
export async function listFailingReceivers(request: OrganisationRequest) {
  const { workspaceIds } = await requirePermission(request, 'jobs')
  const { env, organisationId } = request
  const [failing, endpoints] = await Promise.all([
    failingReceiversOf(env, organisationId),
    endpointsOf(env, organisationId),
  ])
  const named = failing.map((row) => ({
    ...row,
    name: endpoints.find(({ id }) => id === row.receiver)?.name ?? row.origin,
  }))
  return workspaceIds ? named.filter(({ receiver, origin }) => receiver !== origin) : named
}

/**
 * Enables a receiver and deletes the record of its failures. For developers.
 * @param receiver the id of an endpoint, or the origin of a URL that only jobs have
 * @throws AppError not_found
 */
export async function enableReceiver(request: OrganisationRequest & { receiver: string }) {
  const { env, actor, organisationId, receiver } = request
  await requireUnlimited(request, 'develop')
  await resetReceiver(env, actor, { organisationId, receiver })
}

type Failed = Pick<ClaimedEvent, 'receiver' | 'endpoint'>

/** For an email. The path of a URL can contain a secret. */
const nameOf = ({ receiver: { receiver, origin }, endpoint }: Failed): string =>
  endpoint?.id === receiver ? `“${endpoint.name}” at ${origin}` : origin

/** Informs members about a failing receiver, once until it works again. Call it after each failure. */
export async function reportFailingReceiver(env: Env, failed: Failed): Promise<void> {
  const { organisationId, receiver } = failed.receiver
  try {
    const report = await claimReport(env, failed.receiver)
    if (!report) return
    await mailAbout(env, failed, webhookFailingEmail(nameOf(failed), report))
  } catch (error) {
    log.error('failing endpoint not reported', error, { organisationId, receiver })
  }
}

/** Informs members by email, if email is set up. Best effort: the console also shows the receiver. */
export async function reportDisabledReceiver(env: Env, failed: Failed, baseUrl: string) {
  const { organisationId, receiver } = failed.receiver
  log.warn('webhook endpoint disabled', { organisationId, receiver })
  await mailAbout(env, failed, endpointDisabledEmail(nameOf(failed)), baseUrl)
}

const mailAbout = (env: Env, { receiver }: Failed, email: MemberEmail, baseUrl?: string) =>
  mailMembers({
    env,
    organisationId: receiver.organisationId,
    to: 'webhook_failing',
    page: '/settings/webhooks',
    email,
    baseUrl,
  })
