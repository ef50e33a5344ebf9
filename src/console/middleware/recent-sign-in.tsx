// What reveals or replaces a secret needs a recent sign-in: a session that was left open somewhere is
// not enough. Asks for the password in between, and then continues with the form that was sent.
import { createMiddleware } from 'hono/factory'
import { authOf, MAX_PASSWORD_LENGTH } from '../../accounts/auth.ts'
import { baseUrlOf } from '../../http/base-url.ts'
import { log } from '../../log.ts'
import type { ConsoleApp, ConsoleContext } from '../context.ts'
import { Button, DRAWN_FOR_FIELD, Field, PostForm } from '../components/form.tsx'
import type { FieldState } from '../components/form.tsx'
import { memberPage } from '../components/layout.tsx'
import { returnTo } from '../return-to.ts'
import { checkPassword } from '../password.ts'
import { startSession } from './session.ts'

const RECENT_MS = 15 * 60_000
const PASSWORD_FIELD = 'confirm_password'

/** Lets a POST pass whose session is at most 15 minutes old, or that brings the password. */
export const recentSignIn = createMiddleware<ConsoleApp>(async (c, next) => {
  const { id, email, signedInAt } = c.var.person
  if (Date.now() - signedInAt.getTime() < RECENT_MS) return next()
  const { [PASSWORD_FIELD]: password } = await c.req.parseBody()
  if (typeof password !== 'string') return confirmPage(c)
  if (password === '' || password.length > MAX_PASSWORD_LENGTH) return wrongPassword(c)
  const checked = await checkPassword(c, password)
  if (checked instanceof Response) return checked
  if (checked === 'wrong') return wrongPassword(c)
  const { api } = authOf(c.env, baseUrlOf(c))
  const { headers } = c.req.raw
  // A new session counts as recent for the next 15 minutes, too.
  await startSession(c, { id, email })
  // It replaces the one that the request came with.
  await api
    .signOut({ headers })
    .catch((reason: unknown) => log.error('old session not ended', reason))
  return next()
})

const wrongPassword = (c: ConsoleContext) =>
  confirmPage(c, { complaints: { [PASSWORD_FIELD]: 'This is not your password.' } })

async function confirmPage(c: ConsoleContext, state: FieldState = {}) {
  const fields = Object.entries(await c.req.parseBody()).filter(
    (field): field is [string, string] =>
      typeof field[1] === 'string' && field[0] !== PASSWORD_FIELD && field[0] !== DRAWN_FOR_FIELD,
  )
  return memberPage(
    c,
    { title: 'Confirm your password', status: state.complaints ? 422 : 403 },
    <>
      <h1>Confirm your password</h1>
      <p>You signed in more than 15 minutes ago. Enter your password to continue.</p>
      <section class="card">
        <PostForm action={c.req.path} novalidate>
          {fields.map(([name, value]) => (
            <input type="hidden" name={name} value={value} />
          ))}
          {/* For password managers. */}
          <input type="hidden" autocomplete="username" value={c.var.person.email} />
          <Field
            name={PASSWORD_FIELD}
            label={`Password of ${c.var.person.email}`}
            type="password"
            autocomplete="current-password"
            state={state}
            autofocus
          />
          <Button>Continue</Button>
        </PostForm>
      </section>
      <p class="aside">
        <a href={returnTo(c) ?? '/console'}>Cancel</a>
      </p>
    </>,
  )
}
