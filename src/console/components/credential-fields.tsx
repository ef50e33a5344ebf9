// Fields for passwords and codes.
import { PASSWORD_HINT } from '../fields.ts'
import { Field, useFormState, type FieldProps } from './form.tsx'

type CredentialProps = Pick<FieldProps, 'label' | 'state' | 'autofocus'> & { name?: string }

/** A field for the password that the user already has. */
export const CurrentPasswordField = (props: CredentialProps) => (
  <Field name="password" type="password" autocomplete="current-password" {...props} />
)

/** A code of an authenticator app, which browsers may fill in. */
export const CodeField = (props: CredentialProps & Pick<FieldProps, 'hint'>) => (
  <Field name="code" autocomplete="one-time-code" inputmode="numeric" maxlength={40} {...props} />
)

/** @param consequence shown after the password rules */
export const NewPasswordField = ({
  label = 'Password',
  consequence = '',
  ...rest
}: Partial<CredentialProps> & { consequence?: string }) => {
  const { errors } = useFormState(rest.state)
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
