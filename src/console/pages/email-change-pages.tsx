// The link that confirms a new email address. It works for the signed-in user who requested it; without
// a session, the sign-in page returns here. Does not require an organisation.
import { Hono } from 'hono'
import { changeEmail, findEmailChange } from '../../users/email-change.ts'
import { baseUrlOf } from '../../http/base-url.ts'
import type { ConsoleApp, ConsoleContext } from '../console-context.ts'
import { ActionForm } from '../components/form.tsx'
import { cardPage } from '../components/layout.tsx'
import { actorOf, requireSession } from '../middleware/session.ts'
import { invalidLinkPage } from '../message-page.tsx'
import { redirectWithNotice } from '../form-notices.ts'

const PAGE = '/console/account/email/confirm'

export const emailChange = new Hono<ConsoleApp>()
  // Email scanners open links, so only the form changes the address.
  .get('/confirm', requireSession, async (c) => {
    const token = c.req.query('token') ?? ''
    const email = await findEmailChange(c.env, { userId: c.var.user.id, token })
    return email === undefined ? invalidPage(c) : confirmPage(c, email, token)
  })
  .post('/confirm', requireSession, async (c) => {
    const { token: sent } = await c.req.parseBody()
    const changed = await changeEmail({
      env: c.env,
      actor: actorOf(c),
      token: typeof sent === 'string' ? sent : '',
      sessionId: c.var.user.sessionId,
      baseUrl: baseUrlOf(c),
    })
    if (changed === undefined) return invalidPage(c)
    return redirectWithNotice(c, '/console/account', 'email_changed')
  })

const confirmPage = (c: ConsoleContext, email: string, token: string) =>
  cardPage(
    c,
    { title: 'Change your email address', aside: [['/console/account', 'Cancel']] },
    <>
      <p>
        You will sign in with <strong>{email}</strong> instead of{' '}
        <strong>{c.var.user.email}</strong>. All other sessions will be signed out.
      </p>
      <ActionForm action={PAGE} label="Change email address" kind="primary" fields={{ token }} />
    </>,
  )

const invalidPage = (c: ConsoleContext) =>
  invalidLinkPage(
    c,
    <>
      Links to a new address are valid for one hour, work once, and only for the account that
      requested them. You are signed in as <strong>{c.var.user.email}</strong>.
    </>,
    ['/console/account', 'Your account'],
  )
