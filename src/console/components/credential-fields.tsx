// Fields for passwords, codes and passkeys.
import { PASSWORD_HINT } from '../forms.ts'
import { Field, useFormState, type FieldProps } from './form.tsx'

type CredentialProps = Pick<FieldProps, 'label' | 'autofocus'> & { name?: string }

export const CurrentPasswordField = (props: CredentialProps) => (
  <Field name="password" type="password" autocomplete="current-password" {...props} />
)

/** A code of an authenticator app, which browsers may fill in. */
export const CodeField = (props: CredentialProps) => (
  <Field name="code" autocomplete="one-time-code" inputmode="numeric" maxlength={40} {...props} />
)

/** @param consequence shown after the password rules */
export const NewPasswordField = ({
  label = 'Password',
  consequence = '',
  ...rest
}: Partial<CredentialProps> & { consequence?: string }) => {
  const { errors } = useFormState()
  // The error says the rule already.
  const hint = errors?.['password'] ? consequence : `${PASSWORD_HINT} ${consequence}`.trim()
  return (
    <Field
      name="password"
      type="password"
      autocomplete="new-password"
      {...{ label, hint }}
      {...rest}
    />
  )
}

/**
 * The button that asks the browser for a passkey, in a form with `data-passkey` and `data-options`.
 * static/passkeys.js shows it where the browser supports passkeys, fills in the field and sends the form.
 * @param name of the field of the credential
 */
export const PasskeyInput = ({ name = 'credential', label }: CredentialProps) => (
  <>
    <input type="hidden" name={name} data-passkey-credential disabled />
    <button type="button" class="secondary" data-passkey-button hidden>
      {label}
    </button>
  </>
)
