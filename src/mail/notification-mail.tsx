// The notifications that a user can switch off. None contains a key, a secret or the path of a URL.
import type { Mode } from '../domain/job.ts'
import { BECAUSE_OF_ROLE, dateOf, emailFrom } from './templates.tsx'
import type { Email, OrganisationEmail } from './templates.tsx'

export interface ApiKeyCreated {
  name: string
  mode: Mode
  /** The last four characters of the key. */
  lastFour: string
  /** An email address, or "Support staff". */
  createdBy: string
}

export const apiKeyCreatedEmail = ({
  organisationName,
  name,
  mode,
  lastFour,
  createdBy,
  link,
}: OrganisationEmail & ApiKeyCreated): Email =>
  emailFrom(link, {
    subject: `New ${mode} API key in ${organisationName}`,
    paragraphs: [
      `${createdBy} created the ${mode} API key “${name}” in ${organisationName}. It ends in ${lastFour}.`,
      'If you did not expect this, revoke the key on the API keys page and check who is a member of the organisation.',
    ],
    action: 'Open API keys',
    footer: BECAUSE_OF_ROLE,
  })

export interface WebhookFailing {
  /** The name of the endpoint, and its scheme, host and port. The path may contain a secret. */
  receiver: string
  failures: number
  failingSince: Date
}

export const webhookFailingEmail = ({
  organisationName,
  receiver,
  failures,
  failingSince,
  link,
}: OrganisationEmail & WebhookFailing): Email =>
  emailFrom(link, {
    subject: `Webhooks of ${organisationName} are failing`,
    paragraphs: [
      `The last ${failures} deliveries to ${receiver} have failed, the first on ${dateOf(failingSince)}.`,
      'Deliveries are repeated for about a day. The webhooks page shows the response to each attempt. After five days without a success, the endpoint is disabled.',
    ],
    action: 'Open Webhooks',
    footer: BECAUSE_OF_ROLE,
  })

/** @param device such as "Firefox on Linux" */
export const newSignInEmail = ({
  at,
  device,
  ipAddress,
  link,
}: {
  at: Date
  device: string
  ipAddress: string | null
  link: string
}): Email =>
  emailFrom(link, {
    subject: 'New sign-in to your account',
    paragraphs: [
      'Someone signed in to your Try-On account with a browser that was not used before.',
      `Time: ${dateOf(at)}`,
      `Browser: ${device}`,
      `IP address: ${ipAddress ?? 'unknown'}`,
      'If this was you, there is nothing to do. If not, change your password, which signs out all other sessions.',
    ],
    action: 'Open your account',
    footer: 'You can switch off this email under “Your account”.',
  })
