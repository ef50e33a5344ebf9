// The second step of a sign-in with the password, while two-factor authentication is on: a code of the
// authenticator app, or a recovery code. A challenge in the database waits for it, for ten minutes.
import { getCookie, setCookie } from 'hono/cookie'
import { z } from 'zod'
import { createChallenge, findChallenge } from '../../users/challenges.ts'
import { finishSecondFactor } from '../../users/two-factor.ts'
import { findUser, type User } from '../../users/users.ts'
import { CodeField } from '../components/credential-fields.tsx'
import { Button, Field, PostForm } from '../components/form.tsx'
import { cardPage, type Anchor } from '../components/layout.tsx'
import { createApp, type ConsoleContext } from '../console-context.ts'
import { cookieOptions, removeCookie } from '../cookies.ts'
import { code, pageWith, withQuery, readForm, textIn } from '../forms.ts'
import { startSession } from '../middleware/session.ts'
import { attemptCode, limitSignIns } from '../middleware/throttle.tsx'
import { redirectWithNotice, setNotice } from '../form-notices.ts'
import { redirectToSignIn, safeReturnTo } from '../return-to.ts'

/** The token of the challenge. */
const COOKIE = 'try-on.second-factor'
const SECONDS = 10 * 60
const PAGE = '/console/sign-in/code'

/** Continues the sign-in of a user whose password was correct. */
export async function askForCode(c: ConsoleContext, { id }: { id: string }, next: string | null) {
  const challenge = { kind: 'second_factor', userId: id, seconds: SECONDS } as const
  setCookie(c, COOKIE, await createChallenge(c.env, challenge), cookieOptions(c, SECONDS))
  return c.redirect(pageOf(next), 303)
}

type Kind = 'app' | 'recovery'
const kindOf = (text: string | undefined): Kind => (text === 'recovery' ? text : 'app')

const pageOf = (next: string | null, kind: Kind = 'app') =>
  withQuery(PAGE, { kind: kind === 'app' ? undefined : kind, next })

export const signInCode = createApp()
  .get('/', async (c) => {
    const next = safeReturnTo(c.req.query('next'))
    if (!(await findPending(c))) return expired(c, next)
    return codePage(c, next, kindOf(c.req.query('kind')))
  })
  .post('/', async (c) => {
    const next = safeReturnTo(await textIn(c, 'next'))
    const kind = kindOf(await textIn(c, 'kind'))
    const pending = await findPending(c)
    if (!pending) return expired(c, next)
    const form = await readForm(c, z.object({ code }), () => codePage(c, next, kind))
    const { user, token } = pending
    await limitSignIns(c, user.id)
    const undo = await attemptCode(c, user)
    const used = await finishSecondFactor(c.env, { userId: user.id, ...form, token })
    if (!used) {
      const state = { errors: { code: KINDS[kind].wrong } }
      return pageWith(c, () => codePage(c, next, kind, 401), state)
    }
    await undo()
    removeCookie(c, COOKIE)
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

/** What the page asks for, by the kind of the code. */
const KINDS = {
  app: {
    text: 'Enter the six-digit code that your authenticator app shows for Try-On.',
    field: () => <CodeField label="Code" autofocus />,
    wrong: 'Incorrect code. Wait for the next code and try again.',
    other: ['recovery', 'Use a recovery code'],
  },
  recovery: {
    text: 'Enter one of the recovery codes that you stored. Each code works once.',
    field: () => (
      <Field
        name="code"
        label="Recovery code"
        autocomplete="off"
        placeholder="xxxx-xxxx-xxxx-xxxx"
        maxlength={40}
        autofocus
      />
    ),
    wrong: 'This recovery code is incorrect or was used before.',
    other: ['app', 'Use the authenticator app'],
  },
} as const

function codePage(c: ConsoleContext, next: string | null, kind: Kind, status?: 401) {
  const { text, field, other } = KINDS[kind]
  const aside: Anchor[] = [
    [pageOf(next, other[0]), other[1]],
    ['/console/sign-in', 'Back to sign in'],
  ]
  return cardPage(
    { c, title: 'Two-factor authentication', aside, status },
    <>
      <p>{text}</p>
      <PostForm action={PAGE} fields={{ next, kind }}>
        {field()}
        <Button>Sign in</Button>
      </PostForm>
    </>,
  )
}
