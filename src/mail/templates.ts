// What the service writes to people: each letter as text and as HTML. Pure.

export interface EmailTemplate {
  subject: string
  text: string
  html: string
  /** The one link that the letter is about. */
  link: string
}

export const verificationEmail = (link: string): EmailTemplate =>
  letter({
    subject: 'Verify your email address',
    paragraphs: ['Welcome to Try-On. Please verify that this is your email address.'],
    action: 'Verify my email',
    link,
    close: 'The link works for one hour. If you did not sign up, ignore this message.',
  })

export const alreadyRegisteredEmail = (link: string): EmailTemplate =>
  letter({
    subject: 'You already have an account',
    paragraphs: [
      'Somebody, probably you, signed up at Try-On with this address, which has an account already.',
      'Nothing was changed. If you have forgotten your password, you can set a new one.',
    ],
    action: 'Sign in or reset the password',
    link,
    close: 'If this was not you, ignore this message.',
  })

export const passwordResetEmail = (link: string): EmailTemplate =>
  letter({
    subject: 'Set a new password',
    paragraphs: ['A new password was asked for your Try-On account.'],
    action: 'Set a new password',
    link,
    close: 'The link works for one hour. If you did not ask for it, ignore this message.',
  })

export const invitationEmail = (link: string, organisation: string, from: string): EmailTemplate =>
  letter({
    subject: `Join ${oneLine(organisation)} on Try-On`,
    paragraphs: [`${from} invites you to join ${organisation} on Try-On.`],
    action: 'See the invitation',
    link,
    close: 'The invitation is open for seven days.',
  })

export const organisationDeletionEmail = (
  link: string,
  organisation: string,
  deleteAfter: Date,
): EmailTemplate =>
  letter({
    subject: `${oneLine(organisation)} will be deleted`,
    paragraphs: [
      `${organisation} is scheduled for deletion on ${dateOf(deleteAfter)}. No jobs are accepted until then, and pending jobs were cancelled.`,
      'After that date its jobs, pictures, keys and members are deleted and cannot be restored.',
    ],
    action: 'Keep or export the organisation',
    link,
    close: 'You receive this message because you are an owner of the organisation.',
  })

/** @param organisations the names of those that are deleted along with the account */
export const accountDeletionEmail = (
  link: string,
  deleteAfter: Date,
  organisations: string[],
): EmailTemplate =>
  letter({
    subject: 'Your account will be deleted',
    paragraphs: [
      `Your Try-On account is scheduled for deletion on ${dateOf(deleteAfter)}. You are signed out everywhere.`,
      ...(organisations.length > 0
        ? [`Deleted along with it, since you are the only member: ${organisations.join(', ')}.`]
        : []),
      'To keep the account, sign in before that date.',
    ],
    action: 'Sign in to keep the account',
    link,
    close: 'If you did not ask for this, sign in, keep the account and change your password.',
  })

const dateOf = (instant: Date) =>
  `${new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' }).format(instant)} UTC`

export const endpointDisabledEmail = (link: string, origin: string): EmailTemplate =>
  letter({
    subject: 'Webhook endpoint disabled',
    paragraphs: [
      `All deliveries to ${origin} have failed for five days, so we have stopped sending webhooks there.`,
      'Once your endpoint works again, enable it on the webhooks page of the console.',
    ],
    action: 'Open the webhooks page',
    link,
    close: 'Until then, webhooks to this endpoint fail without an attempt.',
  })

function letter(parts: {
  subject: string
  paragraphs: string[]
  action: string
  link: string
  close: string
}): EmailTemplate {
  const { subject, paragraphs, action, link, close } = parts
  const font = 'font-family:system-ui,-apple-system,Segoe UI,Roboto,sans-serif'
  return {
    subject,
    link,
    text: [...paragraphs, `${action}:\n${link}`, close].join('\n\n'),
    html: [
      `<!doctype html><html lang="en"><body style="margin:0;padding:32px 16px;background:#f4f6f8;${font}">`,
      '<div style="max-width:480px;margin:0 auto;padding:32px;background:#fff;border-radius:8px;color:#22303c;line-height:1.5">',
      `<h1 style="margin:0 0 16px;font-size:20px">${escape(subject)}</h1>`,
      ...paragraphs.map((paragraph) => `<p>${escape(paragraph)}</p>`),
      `<p style="margin:24px 0"><a href="${escape(link)}" style="display:inline-block;padding:12px 20px;border-radius:6px;background:#0f6e66;color:#fff;text-decoration:none">${escape(action)}</a></p>`,
      `<p style="font-size:13px;color:#5b6b78">${escape(close)}</p>`,
      `<p style="font-size:13px;color:#5b6b78;word-break:break-all">${escape(link)}</p>`,
      '</div></body></html>',
    ].join('\n'),
  }
}

const oneLine = (text: string) => text.replace(/\s+/g, ' ')

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escape = (text: string) => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
