// Fields for passwords and codes.
import { PASSWORD_HINT } from '../fields.ts'
import { Field } from './form.tsx'
import type { FieldProps } from './form.tsx'

/** A field for the password that the user already has. */
export const CurrentPasswordField = (
  props: Pick<FieldProps, 'label' | 'state' | 'autofocus'> & { name?: string },
) => <Field name="password" type="password" autocomplete="current-password" {...props} />

/** A code of an authenticator app, which browsers may fill in. */
export const CodeField = (
  props: Pick<FieldProps, 'label' | 'state' | 'autofocus' | 'hint'> & { name?: string },
) => (
  <Field name="code" autocomplete="one-time-code" inputmode="numeric" maxlength={40} {...props} />
)

/** @param consequence shown after the password rules */
export const NewPasswordField = ({
  label = 'Password',
  consequence,
  ...rest
}: Partial<Pick<FieldProps, 'label' | 'state' | 'autofocus'>> & { consequence?: string }) => (
  <Field
    name="password"
    label={label}
    type="password"
    autocomplete="new-password"
    // The error says the rule already.
    hint={[rest.state?.errors?.['password'] ? '' : PASSWORD_HINT, consequence]
      .filter(Boolean)
      .join(' ')}
    {...rest}
  />
)
