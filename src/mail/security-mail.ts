// The emails about sign-ins and changes of how a user signs in.
import { dateOf, type EmailContent } from './templates.tsx'

const CHANGES = {
  password_changed: [
    'Your password was changed',
    'The password of your Try-On account was changed.',
  ],
  two_factor_enabled: [
    'Two-factor authentication is on',
    'Two-factor authentication was turned on for your Try-On account.',
  ],
  two_factor_disabled: [
    'Two-factor authentication is off',
    'Two-factor authentication was turned off for your Try-On account.',
  ],
  recovery_codes_replaced: [
    'New recovery codes',
    'New recovery codes were created for your Try-On account. The old ones no longer work.',
  ],
  passkey_added: [
    'A passkey was added',
    'A passkey was added to your Try-On account. It can be used to sign in.',
  ],
  passkey_removed: ['A passkey was removed', 'A passkey was removed from your Try-On account.'],
} as const

export type SecurityChange = keyof typeof CHANGES

/** Cannot be switched off. */
export function securityEmail(change: SecurityChange, at: Date): EmailContent {
  const [subject, text] = CHANGES[change]
  return {
    subject,
    paragraphs: [
      text,
      `Time: ${dateOf(at)}`,
      'If this was not you, reset your password and contact support at once.',
    ],
    action: 'Open your account',
    footer: 'This email concerns the security of your account and cannot be switched off.',
  }
}

/** Can be switched off. @param device such as "Firefox on Linux" */
export const newSignInEmail = (
  at: Date,
  { device, ipAddress }: { device: string; ipAddress: string | null },
): EmailContent => ({
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
