// The emails about accounts and organisations, and the form of every email: plain text and HTML.
import type { Mode } from '../domain/job.ts'

export interface EmailContent {
  subject: string
  paragraphs: string[]
  /** The label of the link. */
  action: string
  footer: string
}

/**
 * The content of an email to members of an organisation, for its name. It contains no key, no secret and no
 * path of a URL. Without a footer, the footer says why the member receives it.
 */
export type MemberEmail = (
  organisationName: string,
) => Omit<EmailContent, 'footer'> & { footer?: string }

export const verificationEmail: EmailContent = {
  subject: 'Verify your email address',
  paragraphs: ['Welcome to Try-On. Please verify that this is your email address.'],
  action: 'Verify my email',
  footer: 'The link works for one hour. If you did not sign up, ignore this email.',
}

export const alreadyRegisteredEmail: EmailContent = {
  subject: 'You already have an account',
  paragraphs: [
    'Someone tried to sign up for Try-On with this email address, which already has an account.',
    'No changes were made. If you have forgotten your password, you can set a new one.',
  ],
  action: 'Sign in or reset the password',
  footer: 'If this was not you, ignore this email.',
}

export const passwordResetEmail: EmailContent = {
  subject: 'Set a new password',
  paragraphs: ['We received a request to reset the password of your Try-On account.'],
  action: 'Set a new password',
  footer: 'The link works for one hour. If you did not request it, ignore this email.',
}

/** @param invitedBy an email address */
export const invitationEmail = (organisationName: string, invitedBy: string): EmailContent => ({
  subject: `Join ${organisationName} on Try-On`,
  paragraphs: [`${invitedBy} invites you to join ${organisationName} on Try-On.`],
  action: 'See the invitation',
  footer: 'The invitation expires after seven days.',
})

export const organisationDeletionEmail =
  (deleteAfter: Date): MemberEmail =>
  (organisation) => ({
    subject: `${organisation} will be deleted`,
    paragraphs: [
      `${organisation} is scheduled for deletion on ${dateOf(deleteAfter)}. No jobs are accepted until then, and pending jobs were cancelled.`,
      'After that date its jobs, pictures, keys and members are deleted and cannot be restored.',
    ],
    action: 'Cancel the deletion or export the data',
  })

/** @param organisationNames those that are deleted together with the account */
export const accountDeletionEmail = (
  deleteAfter: Date,
  organisationNames: string[],
): EmailContent => ({
  subject: 'Your account will be deleted',
  paragraphs: [
    `Your Try-On account is scheduled for deletion on ${dateOf(deleteAfter)}. You are signed out everywhere.`,
    organisationNames.length > 0 &&
      `You are the only member of these organisations, which are deleted too: ${organisationNames.join(', ')}.`,
    'To keep the account, sign in before that date.',
  ].filter((paragraph) => paragraph !== false),
  action: 'Sign in to keep the account',
  footer: 'If you did not request this, sign in, keep the account and change your password.',
})

/**
 * @param lastFour the last four characters of the key
 * @param createdBy an email address, or "Support staff"
 */
export const apiKeyCreatedEmail =
  ({
    name,
    mode,
    lastFour,
    createdBy,
  }: Record<'name' | 'lastFour' | 'createdBy', string> & { mode: Mode }): MemberEmail =>
  (organisation) => ({
    subject: `New ${mode} API key in ${organisation}`,
    paragraphs: [
      `${createdBy} created the ${mode} API key “${name}” in ${organisation}. It ends in ${lastFour}.`,
      'If you did not expect this, revoke the key on the API keys page and check who is a member of the organisation.',
    ],
    action: 'Open API keys',
  })

/** @param receiver the name of the endpoint, and its scheme, host and port. The path may contain a secret. */
export const webhookFailingEmail =
  (
    receiver: string,
    { failures, failingSince }: { failures: number; failingSince: Date },
  ): MemberEmail =>
  (organisation) => ({
    subject: `Webhooks of ${organisation} are failing`,
    paragraphs: [
      `The last ${failures} deliveries to ${receiver} have failed, the first on ${dateOf(failingSince)}.`,
      'Deliveries are repeated for about a day. The webhooks page shows the response to each attempt. After five days without a success, the endpoint is disabled.',
    ],
    action: 'Open Webhooks',
  })

/** @param receiver as in `webhookFailingEmail` */
export const endpointDisabledEmail =
  (receiver: string): MemberEmail =>
  () => ({
    subject: 'Webhook endpoint disabled',
    paragraphs: [
      `All deliveries to ${receiver} have failed for five days, so we have stopped sending webhooks there.`,
      'Once your endpoint works again, enable it on the webhooks page of the console.',
    ],
    action: 'Open the webhooks page',
    footer: 'Until then, webhooks to this endpoint fail without an attempt.',
  })

/** @param from the address of the account */
export const confirmAddressEmail = (from: string): EmailContent => ({
  subject: 'Confirm your new email address',
  paragraphs: [
    `The user of the Try-On account ${from} wants to change its email address to this one.`,
    'Nothing changes until you confirm it.',
  ],
  action: 'Confirm the new address',
  footer: 'The link works for one hour. If you did not request it, ignore this email.',
})

export const addressInUseEmail: EmailContent = {
  subject: 'This address already has an account',
  paragraphs: [
    'Someone tried to change the email address of a Try-On account to this one, which already has an account.',
    'No changes were made. An address can belong to one account only.',
  ],
  action: 'Sign in to the account of this address',
  footer: 'If this was not you, ignore this email.',
}

/** For the old address, whose user may not have made the change. @param support how to contact support */
export const emailChangedEmail = (newEmail: string, at: Date, support: string): EmailContent => ({
  subject: 'Your email address was changed',
  paragraphs: [
    `The email address of your Try-On account was changed to ${newEmail} on ${dateOf(at)}. This address no longer signs in.`,
    `If you did not do this, someone has access to your account: contact ${support} now, and ask the other owners of your organisation to remove the account.`,
  ],
  action: 'Sign in with the new address',
  footer: 'If you made this change, no action is needed.',
})

/** A date with its time in UTC, for the text of an email. */
export const dateOf = (instant: Date) =>
  `${new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' }).format(instant)} UTC`

/** @param link where the email's button leads */
export function emailFrom(link: string, content: EmailContent) {
  const { paragraphs, action, footer } = content
  // A line break in a subject would start another header.
  const subject = content.subject.replace(/\s+/g, ' ')
  const document = <EmailDocument {...content} link={link} subject={subject} />
  return {
    subject,
    link,
    text: [...paragraphs, `${action}:\n${link}`, footer].join('\n\n'),
    html: `<!doctype html>${document.toString()}`,
  }
}

/** Styles are inline because many email clients remove style sheets. */
const STYLES = {
  body: 'margin:0;padding:32px 16px;background:#f4f6f8;font-family:system-ui,-apple-system,Segoe UI,Roboto,sans-serif',
  card: 'max-width:480px;margin:0 auto;padding:32px;background:#fff;border-radius:8px;color:#22303c;line-height:1.5',
  heading: 'margin:0 0 16px;font-size:20px',
  action: 'margin:24px 0',
  button:
    'display:inline-block;padding:12px 20px;border-radius:6px;background:#0f6e66;color:#fff;text-decoration:none',
  footer: 'font-size:13px;color:#5b6b78',
  address: 'font-size:13px;color:#5b6b78;word-break:break-all',
}

const EmailDocument = ({
  subject,
  paragraphs,
  action,
  link,
  footer,
}: EmailContent & { link: string }) => (
  <html lang="en">
    <body style={STYLES.body}>
      <div style={STYLES.card}>
        <h1 style={STYLES.heading}>{subject}</h1>
        {paragraphs.map((paragraph) => (
          <p>{paragraph}</p>
        ))}
        <p style={STYLES.action}>
          <a href={link} style={STYLES.button}>
            {action}
          </a>
        </p>
        <p style={STYLES.footer}>{footer}</p>
        <p style={STYLES.address}>{link}</p>
      </div>
    </body>
  </html>
)
