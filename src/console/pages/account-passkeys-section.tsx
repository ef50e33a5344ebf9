// The passkeys on the account page.
import { MAX_PASSKEYS } from '../../users/passkeys.ts'
import type { PasskeyRow } from '../../platform/db/auth-schema.ts'
import type { ConsoleContext } from '../console-context.ts'
import { ActionForm, Field, FormError, RenameForm } from '../components/form.tsx'
import { PasskeyInput } from '../components/passkey-input.tsx'
import { Table } from '../components/table.tsx'
import { Timestamp } from '../components/time.tsx'
import { deviceOf } from '../device.ts'
import { Section } from '../components/section.tsx'
import type { FormState } from '../read-form.ts'

export const PasskeySection = ({
  c,
  passkeys,
  state,
}: {
  c: ConsoleContext
  passkeys: PasskeyRow[]
  state: FormState
}) => (
  <Section id="passkeys-heading" title="Passkeys" card>
    <p>
      Sign in with your fingerprint, face or PIN, without password and code. A passkey works only on
      this website, so it cannot be phished.
    </p>
    {state.errors?.['credential'] && (
      <FormError state={{ errors: { '': state.errors['credential'] } }} />
    )}
    {passkeys.length > 0 && (
      <Table
        label="Passkeys"
        columns={['Name', 'Created', 'Last used', 'Actions']}
        rows={passkeys.map((passkey) => [
          <strong class="name">{passkey.name}</strong>,
          <Timestamp at={passkey.createdAt} />,
          <Timestamp at={passkey.lastUsedAt} />,
          <div class="buttons">
            <RenameForm
              action={`/console/account/passkeys/${passkey.id}/rename`}
              current={passkey.name}
              id={`name-${passkey.id}`}
              label="Name"
              submit="Save"
            />
            <ActionForm
              action={`/console/account/passkeys/${passkey.id}/remove`}
              label="Remove"
              on={passkey.name}
              confirm="This passkey will no longer sign in. Also delete it on your device."
              kind="danger"
            />
          </div>,
        ])}
      />
    )}
    {passkeys.length >= MAX_PASSKEYS ? (
      <p class="muted">You have the maximum of {MAX_PASSKEYS} passkeys.</p>
    ) : (
      <>
        <form
          method="post"
          action="/console/account/passkeys"
          data-passkey="create"
          data-options="/console/account/passkeys/options"
          hidden
        >
          <Field
            name="passkey_name"
            label="Name of the new passkey"
            maxlength={100}
            autocomplete="off"
            value={deviceOf(c.req.header('User-Agent'))}
            state={state}
          />
          <PasskeyInput label="Add a passkey" />
        </form>
        <p class="muted" data-without-passkeys>
          Passkeys need JavaScript and a browser that supports them.
        </p>
      </>
    )}
  </Section>
)
