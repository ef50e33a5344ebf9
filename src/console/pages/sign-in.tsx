// Signing in, with a password or a passkey, and out. sign-in-code.tsx asks for the second factor.
import { z } from 'zod'
import { assertionOptions, checkPasskey } from '../../users/passkeys.ts'
import { checkCredentials } from '../../users/passwords.ts'
import { CurrentPasswordField, PasskeyInput } from '../components/credential-fields.tsx'
import { ActionForm, Button, Field, PostForm } from '../components/form.tsx'
import { cardPage } from '../components/layout.tsx'
import { createApp, type ConsoleContext } from '../console-context.ts'
import { currentPassword, email, pageWith, textIn, readForm } from '../forms.ts'
import { endSession, findSessionUser, startSession } from '../middleware/session.ts'
import { attemptPasskey, attemptSignIn, limitSignIns } from '../middleware/throttle.tsx'
import { setPasskeyChallenge, takePasskeyChallenge } from '../passkey-challenge.ts'
import { safeReturnTo } from '../return-to.ts'
import { askForCode } from './sign-in-code.tsx'

const SignIn = z.object({ email, password: currentPassword })
const PasskeySignIn = z.object({ credential: z.string() })

export const signIn = createApp()
  .get('/sign-in', async (c) => {
    const next = safeReturnTo(c.req.query('next'))
    if (await findSessionUser(c)) return c.redirect(next ?? '/console', 303)
    return signInPage(c, next)
  })
  .post('/sign-in', async (c) => {
    const next = safeReturnTo(await textIn(c, 'next'))
    const credentials = await readForm(c, SignIn, () => signInPage(c, next))
    const undo = await attemptSignIn(c, credentials.email)
    const checked = await checkCredentials({ env: c.env, ...credentials })
    if (checked.result === 'incorrect') {
      const errors = { '': 'Incorrect email address or password.' }
      const state = { errors, values: { email: credentials.email } }
      return pageWith(c, () => signInPage(c, next, 401), state)
    }
    await undo()
    if (checked.result === 'not_verified') return notVerifiedPage(c, credentials.email)
    if (checked.twoFactor) return askForCode(c, checked.user, next)
    return signInUser(c, checked.user, { method: 'password', next })
  })

  .get('/sign-in/passkey', (c) => c.redirect('/console/sign-in', 303))
  .post('/sign-in/passkey/options', async (c) => {
    return c.json(assertionOptions(await setPasskeyChallenge(c, 'sign-in', null)))
  })
  // A passkey proves both factors: the device, and the person by fingerprint, face or PIN.
  .post('/sign-in/passkey', async (c) => {
    const next = safeReturnTo(await textIn(c, 'next'))
    const { credential } = await readForm(c, PasskeySignIn, () =>
      pageWith(c, () => signInPage(c, next), REJECTED_PASSKEY),
    )
    const page = () => signInPage(c, next, 401)
    const undo = await attemptPasskey(c)
    const challenge = await takePasskeyChallenge(c, 'sign-in', null)
    if (challenge === undefined) return pageWith(c, page, EXPIRED_PASSKEY)
    const user = await checkPasskey({ env: c.env, ...challenge, credential })
    if (!user) return pageWith(c, page, REJECTED_PASSKEY)
    await undo()
    return signInUser(c, user, { method: 'passkey', next })
  })
  .post('/sign-out', async (c) => {
    await endSession(c)
    return c.redirect(safeReturnTo(await textIn(c, 'next')) ?? '/console/sign-in', 303)
  })

async function signInUser(
  c: ConsoleContext,
  user: { id: string; email: string },
  { method, next }: { method: 'password' | 'passkey'; next: string | null },
) {
  await limitSignIns(c, user.id)
  await startSession(c, user, method)
  return c.redirect(next ?? '/console', 303)
}

const REJECTED_PASSKEY = {
  errors: { '': 'This passkey was not accepted. Sign in with your password.' },
}
const EXPIRED_PASSKEY = {
  errors: { '': 'The sign-in with a passkey has expired. Try again.' },
}

const signInPage = (c: ConsoleContext, next: string | null, status?: 401) =>
  cardPage(
    { c, title: 'Sign in', script: '/static/passkeys.js', status },
    <>
      {/* Also shows why a passkey was rejected. */}
      <PostForm action="/console/sign-in" id="sign-in" fields={{ next }} state={c.var.form}>
        <Field name="email" label="Email" type="email" autocomplete="username webauthn" autofocus />
        <CurrentPasswordField label="Password" />
        <Button>Sign in</Button>
      </PostForm>
      <PostForm
        action="/console/sign-in/passkey"
        class="passkey-sign-in"
        fields={{ next }}
        state={{}}
        data-passkey="get"
        data-passkey-autofill
        data-options="/console/sign-in/passkey/options"
        hidden
      >
        <PasskeyInput label="Sign in with a passkey" />
      </PostForm>
      <p class="aside">
        {/* Submits the form above, so that the email address is passed on without being in a URL. */}
        <button
          type="submit"
          class="link"
          form="sign-in"
          formaction="/console/forgot"
          name="from_sign_in"
        >
          Forgot your password?
        </button>
        <span>
          New here? <a href="/console/sign-up">Create an account</a> or{' '}
          <a href="/pricing">see pricing</a>
        </span>
      </p>
    </>,
  )

/** Shown only after the correct password, so that it does not reveal which addresses have an account. */
const notVerifiedPage = (c: ConsoleContext, address: string) =>
  cardPage(
    {
      c,
      title: 'Verify your email',
      heading: 'Your email address is not verified yet',
      status: 403,
      aside: [['/console/sign-in', 'Back to sign in']],
    },
    <>
      <p>
        Open the verification link that we sent to <strong>{address}</strong> when you signed up.
        The link is valid for one hour. If it has expired, request a new one.
      </p>
      <ActionForm
        action="/console/resend"
        label="Send verification link"
        kind="primary"
        fields={{ email: address }}
      />
    </>,
  )
