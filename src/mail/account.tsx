// The emails about changes of a user's account.
import { dateOf, emailFrom } from './templates.tsx'
import type { Email } from './templates.tsx'

export const confirmAddressEmail = ({ link, from }: { link: string; from: string }): Email =>
  emailFrom({
    subject: 'Confirm your new email address',
    paragraphs: [
      `The user of the Try-On account ${from} wants to change its email address to this one.`,
      'Nothing changes until you confirm it.',
    ],
    action: 'Confirm the new address',
    link,
    footer: 'The link works for one hour. If you did not request it, ignore this email.',
  })

export const addressInUseEmail = (link: string): Email =>
  emailFrom({
    subject: 'This address already has an account',
    paragraphs: [
      'Someone tried to change the email address of a Try-On account to this one, which already has an account.',
      'No changes were made. An address can belong to one account only.',
    ],
    action: 'Sign in to the account of this address',
    link,
    footer: 'If this was not you, ignore this email.',
  })

/** For the old address, whose user may not have made the change. */
export const emailChangedEmail = ({
  link,
  at,
  newEmail,
  supportEmail,
}: {
  link: string
  at: Date
  newEmail: string
  supportEmail: string | undefined
}): Email =>
  emailFrom({
    subject: 'Your email address was changed',
    paragraphs: [
      `The email address of your Try-On account was changed to ${newEmail} on ${dateOf(at)}. This address no longer signs in.`,
      `If you did not do this, someone has access to your account: contact ${supportEmail ?? 'support'} now, and ask the other owners of your organisation to remove the account.`,
    ],
    action: 'Sign in with the new address',
    link,
    footer: 'If you made this change, no action is needed.',
  })
