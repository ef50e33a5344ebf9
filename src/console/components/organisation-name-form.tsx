// The form for the name of an organisation that is being created.
import type { FormState } from '../read-form.ts'
import { Button, Field, FormError } from './form.tsx'

export const OrganisationNameForm = ({ action, state }: { action: string; state: FormState }) => (
  <form method="post" action={action} novalidate>
    <FormError state={state} />
    <Field
      name="name"
      label="Organisation name"
      autocomplete="organization"
      state={state}
      maxlength={100}
      autofocus
    />
    <Button>Continue</Button>
  </form>
)
