// Endpoints that have failed for days are disabled; their owners are told, and enable them again.
import type { OrganisationRequest } from '../access/authorisation.ts'
import { ownerEmailsOf } from '../access/owners.ts'
import { log } from '../log.ts'
import { endpointDisabledEmail } from '../mail/templates.tsx'
import { sendEmail } from '../mail/send.ts'
import { settingsOf } from '../settings.ts'
import { forgetEndpoint } from './endpoint-store.ts'

/**
 * Enables the endpoint of a URL, if it was disabled, and forgets its failures.
 * @param url any URL of the endpoint; one that is not valid has no endpoint
 */
export async function enableEndpoint({
  env,
  actor,
  organisationId,
  url,
}: OrganisationRequest & { url: string }): Promise<void> {
  const origin = URL.parse(url)?.origin
  if (origin) await forgetEndpoint(env, actor, { organisationId, origin })
}

/** Sends mail to the owners, where the service can send mail. Best effort: the console shows it too. */
export async function reportDisabledEndpoint(
  env: Env,
  baseUrl: string,
  { organisationId, origin }: { organisationId: string; origin: string },
): Promise<void> {
  log.warn('webhook endpoint disabled', { organisationId, origin })
  const { devMailbox, mailFrom } = settingsOf(env)
  if (!devMailbox && !mailFrom) return
  const email = endpointDisabledEmail({ link: `${baseUrl}/console/settings/webhooks`, origin })
  try {
    for (const to of await ownerEmailsOf(env, organisationId)) await sendEmail({ env, to, email })
  } catch (error) {
    log.error('owners not informed', error, { organisationId })
  }
}
