// Confirms the identity of the signed-in user before sensitive actions: with the password and, if
// two-factor authentication is on, with a code; or with a passkey.
import { authErrorCodeOf, MAX_PASSWORD_LENGTH } from '../users/auth.ts'
import { checkPasskey } from '../users/passkeys.ts'
import type { SignInMethod } from '../users/sessions.ts'
import { useCode } from '../users/two-factor.ts'
import { CodeField, CurrentPasswordField } from './components/credential-fields.tsx'
import { authApi, type ConsoleContext, type SessionUser } from './console-context.ts'
import { attemptCode, attemptOwnPassword } from './middleware/throttle.tsx'
import { takePasskeyChallenge } from './passkey-challenge.ts'
import { rejection, textIn, type FormPage } from './forms.ts'

/** The names of the fields in a form whose other fields must not have the same names. */
export const CONFIRMATION_PREFIX = 'confirm_'

/**
 * Checks the fields `password` and `code`, or `passkey`, of the posted form.
 * @param prefix of the names of the fields
 * @param passwordName the field of the current password
 * @throws HTTPException whose response is the page of the form, or has status 429 after too many attempts
 */
export async function confirmIdentity(
  c: ConsoleContext,
  page: FormPage,
  { prefix = '', passwordName = 'password' } = {},
): Promise<SignInMethod> {
  const field = (name: string) => textIn(c, prefix + name)
  const { user } = c.var
  const error = (name: string, message: string) =>
    rejection(c, page, { errors: { [prefix + name]: message } })
  const [passkey, password, code] = await Promise.all(['passkey', passwordName, 'code'].map(field))
  if (passkey) {
    if (await isOwnPasskey(c, passkey)) return 'passkey'
    throw await error('passkey', 'The passkey was not accepted. Try again.')
  }
  if (!password) throw await error(passwordName, 'Enter your password.')
  if (!(await isOwnPassword(c, password))) throw await error(passwordName, 'Incorrect password.')
  if (!user.hasTwoFactor) return 'password'
  if (!code) throw await error('code', 'Enter the code.')
  const undo = await attemptCode(c, user)
  const kind = await useCode(c.env, { userId: user.id, code })
  if (!kind) throw await error('code', 'Incorrect code. Wait for the next code and try again.')
  await undo()
  return kind === 'totp' ? 'password_and_code' : 'password_and_recovery_code'
}

async function isOwnPassword(c: ConsoleContext, password: string): Promise<boolean> {
  if (password.length > MAX_PASSWORD_LENGTH) return false
  const undo = await attemptOwnPassword(c)
  const error = await authApi(c)
    .verifyPassword({ body: { password }, headers: c.req.raw.headers })
    .then(() => null)
    .catch((reason: unknown) => reason)
  if (authErrorCodeOf(error) === 'INVALID_PASSWORD') return false
  await undo()
  if (error !== null) throw error
  return true
}

async function isOwnPasskey(c: ConsoleContext, credential: string): Promise<boolean> {
  const { id } = c.var.user
  const challenge = await takePasskeyChallenge(c, 'confirm', id)
  if (challenge === undefined) return false
  const user = await checkPasskey({ env: c.env, ...challenge, credential })
  return user?.id === id
}

interface IdentityProps {
  user: SessionUser
  /** Of the field of the password. */
  label: string
  prefix?: string
  passwordName?: string
  autofocus?: boolean
}

/** The fields that `confirmIdentity` checks, with the same options. */
export const IdentityFields = (props: IdentityProps) => {
  const { user, label, prefix = '', passwordName = 'password', autofocus = false } = props
  return (
    <>
      {/* For password managers. */}
      <input type="hidden" autocomplete="username" value={user.email} />
      <CurrentPasswordField name={prefix + passwordName} label={label} autofocus={autofocus} />
      {user.hasTwoFactor && (
        <CodeField name={`${prefix}code`} label="Code of your authenticator app" />
      )}
    </>
  )
}
