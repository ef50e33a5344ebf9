// The second step of a sign-in with the password, while two-factor authentication is on: a code of the
// authenticator app, or a recovery code. A challenge in the database waits for it, for ten minutes.
import { Hono } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { z } from 'zod'
import { createChallenge, findChallenge } from '../../users/challenges.ts'
import { finishSecondFactor } from '../../users/two-factor.ts'
import { findUser } from '../../users/users.ts'
import type { User } from '../../users/users.ts'
import { CodeField } from '../components/credential-fields.tsx'
import { Button, Field } from '../components/form.tsx'
import { guestPage } from '../components/layout.tsx'
import type { ConsoleApp, ConsoleContext } from '../console-context.ts'
import { cookieOptions } from '../cookies.ts'
import { code } from '../fields.ts'
import { startSession } from '../middleware/session.ts'
import { attemptCode, limitSignIns } from '../middleware/throttle.tsx'
import { redirectWithNotice, setNotice } from '../form-notices.ts'
import { readForm } from '../read-form.ts'
import type { FormState } from '../read-form.ts'
import { redirectToSignIn, safeReturnTo } from '../return-to.ts'

/** The token of the challenge. */
const COOKIE = 'try-on.second-factor'
const SECONDS = 10 * 60
const PAGE = '/console/sign-in/code'

const CodeForm = z.object({
  code,
  next: z.string().optional(),
  kind: z.enum(['app', 'recovery']).catch('app'),
})

/** Continues the sign-in of a user whose password was correct. */
export async function askForCode(c: ConsoleContext, { id }: { id: string }, next: string | null) {
  const challenge = { kind: 'second_factor', userId: id, seconds: SECONDS } as const
  setCookie(
    c,
    COOKIE,
    await createChallenge({ env: c.env, ...challenge }),
    cookieOptions(c, SECONDS),
  )
  return c.redirect(pageOf(next), 303)
}

const pageOf = (next: string | null, kind?: string) => {
  const query = new URLSearchParams({ ...(kind && { kind }), ...(next && { next }) })
  return query.size > 0 ? `${PAGE}?${query}` : PAGE
}

export const signInCode = new Hono<ConsoleApp>()
  .get('/', async (c) => {
    const next = safeReturnTo(c.req.query('next'))
    if (!(await findPending(c))) return expired(c, next)
    return codePage(c, { next, kind: c.req.query('kind') === 'recovery' ? 'recovery' : 'app' })
  })
  .post('/', async (c) => {
    const form = await readForm(c, CodeForm)
    const { next: sentNext, kind: sentKind } = form.ok ? form.data : form.values
    const next = safeReturnTo(sentNext)
    const kind = sentKind === 'recovery' ? 'recovery' : 'app'
    const pending = await findPending(c)
    if (!pending) return expired(c, next)
    if (!form.ok) return codePage(c, { next, kind, state: form, status: 422 })
    const { user, token } = pending
    const tooMany = await limitSignIns(c, user.id)
    if (tooMany) return tooMany
    const attempt = await attemptCode(c, user)
    if (!attempt.ok) return attempt.response
    const used = await finishSecondFactor(c.env, { userId: user.id, code: form.data.code, token })
    if (!used) {
      const message =
        kind === 'recovery'
          ? 'This recovery code is incorrect or was used before.'
          : 'Incorrect code. Wait for the next code and try again.'
      return codePage(c, { next, kind, state: { errors: { code: message } }, status: 401 })
    }
    await attempt.undo()
    deleteCookie(c, COOKIE, { path: '/console' })
    const method = used === 'totp' ? 'password_and_code' : 'password_and_recovery_code'
    await startSession(c, user, method)
    if (used === 'recovery_code') {
      return redirectWithNotice(c, '/console/account/two-factor', 'two_factor_recovered')
    }
    return c.redirect(next ?? '/console', 303)
  })

async function findPending(c: ConsoleContext): Promise<{ user: User; token: string } | undefined> {
  const token = getCookie(c, COOKIE)
  if (!token) return undefined
  const challenge = await findChallenge(c.env, 'second_factor', token)
  const user = challenge && (await findUser(c.env, challenge.userId))
  return user && { user, token }
}

function expired(c: ConsoleContext, next: string | null) {
  setNotice(c, 'sign_in_expired')
  return redirectToSignIn(c, next)
}

const codePage = (
  c: ConsoleContext,
  {
    next,
    kind,
    state = {},
    status = 200,
  }: {
    next: string | null
    kind: 'app' | 'recovery'
    state?: FormState
    status?: 200 | 401 | 422
  },
) =>
  guestPage(
    c,
    { title: 'Two-factor authentication', status },
    <article>
      <h1>Two-factor authentication</h1>
      <p>
        {kind === 'app'
          ? 'Enter the six-digit code that your authenticator app shows for Try-On.'
          : 'Enter one of the recovery codes that you stored. Each code works once.'}
      </p>
      <form method="post" action={PAGE} novalidate>
        {next && <input type="hidden" name="next" value={next} />}
        <input type="hidden" name="kind" value={kind} />
        {kind === 'app' ? (
          <CodeField label="Code" state={state} autofocus />
        ) : (
          <Field
            name="code"
            label="Recovery code"
            autocomplete="off"
            placeholder="xxxx-xxxx-xxxx-xxxx"
            maxlength={40}
            state={state}
            autofocus
          />
        )}
        <Button>Sign in</Button>
      </form>
      <p class="aside">
        {kind === 'app' ? (
          <a href={pageOf(next, 'recovery')}>Use a recovery code</a>
        ) : (
          <a href={pageOf(next)}>Use the authenticator app</a>
        )}
        <a href="/console/sign-in">Back to sign in</a>
      </p>
    </article>,
  )
