// Requires a recent sign-in for sensitive actions, such as revealing a secret. If the session is older,
// this middleware asks for the password and then continues with the original form.
import { createMiddleware } from 'hono/factory'
import { authOf, MAX_PASSWORD_LENGTH } from '../../accounts/auth.ts'
import { baseUrlOf } from '../../http/base-url.ts'
import { log } from '../../log.ts'
import type { ConsoleApp, ConsoleContext } from '../context.ts'
import { Button, CurrentPasswordField, PostForm } from '../components/form.tsx'
import type { FormState } from '../read-form.ts'
import { memberPage } from '../components/layout.tsx'
import { returnTo } from '../return-to.ts'
import { checkPassword } from '../check-password.ts'
import { startSession } from './session.ts'

const RECENT_MS = 15 * 60_000
const PASSWORD_FIELD = 'confirm_password'

/** Requires a session of the last 15 minutes, or the password. */
export const requireRecentSignIn = createMiddleware<ConsoleApp>(async (c, next) => {
  const { id, email, signedInAt } = c.var.user
  if (Date.now() - signedInAt.getTime() < RECENT_MS) return next()
  const { [PASSWORD_FIELD]: password } = await c.req.parseBody()
  if (typeof password !== 'string') return confirmPage(c)
  if (password === '' || password.length > MAX_PASSWORD_LENGTH) return wrongPassword(c)
  const checked = await checkPassword(c, password)
  if (checked instanceof Response) return checked
  if (checked === 'wrong') return wrongPassword(c)
  const { api } = authOf(c.env, baseUrlOf(c))
  const { headers } = c.req.raw
  // Replaces the session with a new one, which is recent for the next 15 minutes.
  await startSession(c, { id, email })
  await api
    .signOut({ headers })
    .catch((reason: unknown) => log.error('ending the old session failed', reason))
  return next()
})

const wrongPassword = (c: ConsoleContext) =>
  confirmPage(c, { errors: { [PASSWORD_FIELD]: 'Incorrect password.' } })

async function confirmPage(c: ConsoleContext, state: FormState = {}) {
  const fields = Object.entries(await c.req.parseBody()).filter(
    (field): field is [string, string] =>
      typeof field[1] === 'string' && field[0] !== PASSWORD_FIELD,
  )
  return memberPage(
    c,
    { title: 'Confirm your password', status: state.errors ? 422 : 403 },
    <>
      <h1>Confirm your password</h1>
      <p>You signed in more than 15 minutes ago. Enter your password to continue.</p>
      <section class="card">
        <PostForm action={c.req.path} novalidate>
          {fields.map(([name, value]) => (
            <input type="hidden" name={name} value={value} />
          ))}
          {/* For password managers. */}
          <input type="hidden" autocomplete="username" value={c.var.user.email} />
          <CurrentPasswordField
            name={PASSWORD_FIELD}
            label={`Password of ${c.var.user.email}`}
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
