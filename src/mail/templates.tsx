// The emails that the service sends, each as plain text and as HTML.

export interface Email {
  subject: string
  text: string
  html: string
  /** The link of the email's button. */
  link: string
}

export const verificationEmail = (link: string): Email =>
  emailFrom({
    subject: 'Verify your email address',
    paragraphs: ['Welcome to Try-On. Please verify that this is your email address.'],
    action: 'Verify my email',
    link,
    footer: 'The link works for one hour. If you did not sign up, ignore this email.',
  })

export const alreadyRegisteredEmail = (link: string): Email =>
  emailFrom({
    subject: 'You already have an account',
    paragraphs: [
      'Someone tried to sign up for Try-On with this email address, which already has an account.',
      'No changes were made. If you have forgotten your password, you can set a new one.',
    ],
    action: 'Sign in or reset the password',
    link,
    footer: 'If this was not you, ignore this email.',
  })

export const passwordResetEmail = (link: string): Email =>
  emailFrom({
    subject: 'Set a new password',
    paragraphs: ['We received a request to reset the password of your Try-On account.'],
    action: 'Set a new password',
    link,
    footer: 'The link works for one hour. If you did not request it, ignore this email.',
  })

export const invitationEmail = ({
  link,
  organisationName,
  invitedBy,
}: {
  link: string
  organisationName: string
  /** An email address. */
  invitedBy: string
}): Email =>
  emailFrom({
    subject: `Join ${organisationName} on Try-On`,
    paragraphs: [`${invitedBy} invites you to join ${organisationName} on Try-On.`],
    action: 'See the invitation',
    link,
    footer: 'The invitation expires after seven days.',
  })

export const organisationDeletionEmail = ({
  link,
  organisationName,
  deleteAfter,
}: {
  link: string
  organisationName: string
  deleteAfter: Date
}): Email =>
  emailFrom({
    subject: `${organisationName} will be deleted`,
    paragraphs: [
      `${organisationName} is scheduled for deletion on ${dateOf(deleteAfter)}. No jobs are accepted until then, and pending jobs were cancelled.`,
      'After that date its jobs, pictures, keys and members are deleted and cannot be restored.',
    ],
    action: 'Cancel the deletion or export the data',
    link,
    footer: 'You receive this email because you are an owner of the organisation.',
  })

export const accountDeletionEmail = ({
  link,
  deleteAfter,
  organisationNames,
}: {
  link: string
  deleteAfter: Date
  /** Organisations that are deleted together with the account. */
  organisationNames: string[]
}): Email =>
  emailFrom({
    subject: 'Your account will be deleted',
    paragraphs: [
      `Your Try-On account is scheduled for deletion on ${dateOf(deleteAfter)}. You are signed out everywhere.`,
      ...(organisationNames.length > 0
        ? [
            `You are the only member of these organisations, which are deleted too: ${organisationNames.join(', ')}.`,
          ]
        : []),
      'To keep the account, sign in before that date.',
    ],
    action: 'Sign in to keep the account',
    link,
    footer: 'If you did not request this, sign in, keep the account and change your password.',
  })

export const endpointDisabledEmail = ({ link, origin }: { link: string; origin: string }): Email =>
  emailFrom({
    subject: 'Webhook endpoint disabled',
    paragraphs: [
      `All deliveries to ${origin} have failed for five days, so we have stopped sending webhooks there.`,
      'Once your endpoint works again, enable it on the webhooks page of the console.',
    ],
    action: 'Open the webhooks page',
    link,
    footer: 'Until then, webhooks to this endpoint fail without an attempt.',
  })

/** A date with its time in UTC, for the text of an email. */
export const dateOf = (instant: Date) =>
  `${new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' }).format(instant)} UTC`

interface EmailContent {
  subject: string
  paragraphs: string[]
  /** The label of the link. */
  action: string
  link: string
  footer: string
}

export function emailFrom(content: EmailContent): Email {
  const { paragraphs, action, link, footer } = content
  // A line break in a subject would start another header.
  const subject = content.subject.replace(/\s+/g, ' ')
  const document = <EmailDocument {...content} subject={subject} />
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

const EmailDocument = ({ subject, paragraphs, action, link, footer }: EmailContent) => (
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
