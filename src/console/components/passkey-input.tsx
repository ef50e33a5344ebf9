// The button that asks the browser for a passkey. static/passkeys.js shows it where the browser supports
// passkeys, fills in the field and sends the form.

/** For a form with `data-passkey` and `data-options`. @param name of the field of the credential */
export const PasskeyInput = ({
  name = 'credential',
  label,
  kind = 'secondary',
}: {
  name?: string
  label: string
  kind?: 'primary' | 'secondary'
}) => (
  <>
    <input type="hidden" name={name} data-passkey-credential disabled />
    <button type="button" class={kind} data-passkey-button hidden>
      {label}
    </button>
  </>
)
