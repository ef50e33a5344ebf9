// The emails about changes of how a user signs in. They cannot be switched off.
import { dateOf, emailFrom } from './templates.tsx'
import type { Email } from './templates.tsx'

const CHANGES = {
  password_changed: {
    subject: 'Your password was changed',
    text: 'The password of your Try-On account was changed.',
  },
  two_factor_enabled: {
    subject: 'Two-factor authentication is on',
    text: 'Two-factor authentication was turned on for your Try-On account.',
  },
  two_factor_disabled: {
    subject: 'Two-factor authentication is off',
    text: 'Two-factor authentication was turned off for your Try-On account.',
  },
  recovery_codes_replaced: {
    subject: 'New recovery codes',
    text: 'New recovery codes were created for your Try-On account. The old ones no longer work.',
  },
  passkey_added: {
    subject: 'A passkey was added',
    text: 'A passkey was added to your Try-On account. It can be used to sign in.',
  },
  passkey_removed: {
    subject: 'A passkey was removed',
    text: 'A passkey was removed from your Try-On account.',
  },
} as const

export type SecurityChange = keyof typeof CHANGES

/** @param link the page where the user can react, such as the account or the password reset */
export const securityEmail = ({
  change,
  at,
  link,
}: {
  change: SecurityChange
  at: Date
  link: string
}): Email =>
  emailFrom(link, {
    subject: CHANGES[change].subject,
    paragraphs: [
      CHANGES[change].text,
      `Time: ${dateOf(at)}`,
      'If this was not you, reset your password and contact support at once.',
    ],
    action: 'Open your account',
    footer: 'This email concerns the security of your account and cannot be switched off.',
  })
