// The notifications that a user can switch off. None contains a key, a secret or the path of a URL.
import { dateOf, emailFrom } from './templates.tsx'
import type { Email } from './templates.tsx'

/** What the emails of an organisation share. */
interface Frame {
  organisationName: string
  link: string
}

const FOOTER =
  'You receive this email because of your role in the organisation. You can switch it off under “Your account”.'

export interface ApiKeyCreated {
  name: string
  mode: 'live' | 'test'
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
}: Frame & ApiKeyCreated): Email =>
  emailFrom({
    subject: `New ${mode} API key in ${organisationName}`,
    paragraphs: [
      `${createdBy} created the ${mode} API key “${name}” in ${organisationName}. It ends in ${lastFour}.`,
      'If you did not expect this, revoke the key on the API keys page and check who is a member of the organisation.',
    ],
    action: 'Open API keys',
    link,
    footer: FOOTER,
  })

export interface WebhookFailing {
  /** Scheme, host and port. The path may contain a secret. */
  origin: string
  failures: number
  failingSince: Date
}

export const webhookFailingEmail = ({
  organisationName,
  origin,
  failures,
  failingSince,
  link,
}: Frame & WebhookFailing): Email =>
  emailFrom({
    subject: `Webhooks of ${organisationName} are failing`,
    paragraphs: [
      `The last ${failures} deliveries to ${origin} have failed, the first on ${dateOf(failingSince)}.`,
      'Deliveries are repeated for about a day. The webhooks page shows the response to each attempt. After five days without a success, the endpoint is disabled.',
    ],
    action: 'Open Webhooks',
    link,
    footer: FOOTER,
  })

export const newSignInEmail = ({
  at,
  device,
  ipAddress,
  link,
}: {
  at: Date
  /** Such as "Firefox on Linux". */
  device: string
  ipAddress: string | null
  link: string
}): Email =>
  emailFrom({
    subject: 'New sign-in to your account',
    paragraphs: [
      'Someone signed in to your Try-On account with a browser that was not used before.',
      `Time: ${dateOf(at)}`,
      `Browser: ${device}`,
      `IP address: ${ipAddress ?? 'unknown'}`,
      'If this was you, there is nothing to do. If not, change your password, which signs out all other sessions.',
    ],
    action: 'Open your account',
    link,
    footer: 'You can switch off this email under “Your account”.',
  })
