// Requires a recent sign-in for sensitive actions, such as revealing a secret. If the session is older,
// this middleware asks for the password, with a code if two-factor authentication is on, or for a
// passkey, and then continues with the original form or page.
import { countPasskeys } from '../../users/passkeys.ts'
import { logError } from '../../platform/log.ts'
import { authApi, createMiddleware, type ConsoleContext } from '../console-context.ts'
import { Button, FormError, PostForm } from '../components/form.tsx'
import { textsOf } from '../forms.ts'
import { Aside, memberPage } from '../components/layout.tsx'
import { PasskeyInput } from '../components/credential-fields.tsx'
import { returnTo } from '../return-to.ts'
import { CONFIRMATION_PREFIX, confirmIdentity, IdentityFields } from '../confirm-identity.tsx'
import { startSession } from './session.ts'

const RECENT_MS = 15 * 60_000

/** Whether the user signed in, or confirmed their identity, in the last 15 minutes. */
export const isRecentSignIn = (c: ConsoleContext): boolean =>
  Date.now() - c.var.user.signedInAt.getTime() < RECENT_MS

/** Requires a session of the last 15 minutes, or a confirmation. For forms that are posted. */
export const requireRecentSignIn = createMiddleware(async (c, next) => {
  if (isRecentSignIn(c)) return next()
  const fields = await c.req.parseBody()
  const isSent = ['password', 'passkey'].some(
    (name) => fields[CONFIRMATION_PREFIX + name] !== undefined,
  )
  if (!isSent) return confirmPage(c)
  const method = await confirmIdentity(c, confirmPage, { prefix: CONFIRMATION_PREFIX })
  // Replaces the session with a new one, which is recent for the next 15 minutes.
  await startSession(c, c.var.user, method)
  await authApi(c)
    .signOut({ headers: c.req.raw.headers })
    .catch(logError('ending the old session failed'))
  return next()
})

/** Requires the same only for forms with sensitive values. */
export const requireRecentSignInIf = (
  isSensitive: (form: Record<string, string | File>) => boolean,
) =>
  createMiddleware(async (c, next) =>
    isSensitive(await c.req.parseBody()) ? requireRecentSignIn(c, next) : next(),
  )

async function confirmPage(c: ConsoleContext) {
  const fields = Object.entries(textsOf(await c.req.parseBody())).filter(
    ([name]) => !name.startsWith(CONFIRMATION_PREFIX),
  )
  const { user } = c.var
  const hasPasskey = (await countPasskeys(c.env, user.id)) > 0
  const hasChoice = user.hasTwoFactor || hasPasskey
  const title = hasChoice ? 'Confirm your identity' : 'Confirm your password'
  return memberPage(
    {
      c,
      title,
      status: c.var.form ? 422 : 403,
      script: hasPasskey ? '/static/passkeys.js' : undefined,
    },
    <>
      <p>
        You signed in more than 15 minutes ago. Enter your password
        {user.hasTwoFactor && ' and a code'}
        {hasPasskey && ', or use a passkey,'} to continue.
      </p>
      <section class="card">
        <PostForm
          action={c.req.path}
          fields={Object.fromEntries(fields)}
          data-passkey={hasPasskey ? 'get' : undefined}
          data-options="/console/account/passkeys/confirmation-options"
        >
          <FormError state={c.var.form} of={`${CONFIRMATION_PREFIX}passkey`} />
          <IdentityFields
            user={user}
            label={`Password of ${user.email}`}
            prefix={CONFIRMATION_PREFIX}
            autofocus
          />
          <div class="buttons">
            <Button>Continue</Button>
            {hasPasskey && (
              <PasskeyInput name={`${CONFIRMATION_PREFIX}passkey`} label="Use a passkey" />
            )}
          </div>
        </PostForm>
      </section>
      <Aside links={[[returnTo(c) ?? '/console', 'Cancel']]} />
    </>,
  )
}
