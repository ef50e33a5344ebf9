// The forms of onboarding, and the page of a user without an organisation.
import { REGIONS, currencyOf } from '../../domain/organisation.ts'
import { ActionForm, Button, Field, FormError } from '../components/form.tsx'
import { guestPage } from '../components/layout.tsx'
import { Notice } from '../components/notice.tsx'
import { Steps } from '../components/steps.tsx'
import type { ConsoleContext } from '../console-context.ts'
import type { FormState } from '../read-form.ts'

const REGION_NAMES = {
  IN: 'India',
  US: 'United States',
  EU: 'European Union',
  GLOBAL: 'Rest of the world',
} as const

export const namePage = (c: ConsoleContext, state: FormState) =>
  guestPage(
    c,
    { title: 'Your organisation', status: state.errors ? 422 : 200 },
    <article>
      <Steps current="name" />
      <h1>Confirm your organisation</h1>
      <p>The name appears on invoices and in invitations.</p>
      <OrganisationNameForm action="/console/onboarding/name" state={state} />
    </article>,
  )

export function regionPage(c: ConsoleContext, state: FormState = {}) {
  const error = state.errors?.['region']
  return guestPage(
    c,
    { title: 'Billing region', status: error ? 422 : 200 },
    <article>
      <Steps current="region" />
      <h1>Choose your billing region</h1>
      <Notice kind="info">
        The region determines your currency. <strong>You cannot change it later.</strong>
      </Notice>
      <form method="post" action="/console/onboarding/region" novalidate>
        <fieldset class="choices" aria-describedby={error ? 'region-error' : undefined}>
          <legend>Billing region</legend>
          {REGIONS.map((region) => (
            <label>
              <input
                type="radio"
                name="region"
                value={region}
                required
                aria-invalid={error ? 'true' : undefined}
              />
              <span>{REGION_NAMES[region]}</span>
              <strong>{currencyOf(region)}</strong>
            </label>
          ))}
        </fieldset>
        {error && (
          <small class="error" id="region-error">
            {error}
          </small>
        )}
        <Button>Confirm region</Button>
      </form>
      <p class="aside">
        <a href="/console/onboarding/name">Back</a>
      </p>
    </article>,
  )
}

export const workspacePage = (c: ConsoleContext, state: FormState = {}) =>
  guestPage(
    c,
    { title: 'First workspace', status: state.errors ? 422 : 200 },
    <article>
      <Steps current="workspace" />
      <h1>Name your first workspace</h1>
      <p>Workspaces group jobs, for example by shop or environment. You can add more later.</p>
      <form method="post" action="/console/onboarding/workspace" novalidate>
        <Field
          name="name"
          label="Workspace name"
          value="Default"
          state={state}
          maxlength={100}
          autofocus
        />
        <Button>Create organisation</Button>
      </form>
    </article>,
  )

/** For a user who left, was removed, or whose invitation is no longer open. */
export const noOrganisationPage = (c: ConsoleContext) =>
  guestPage(
    c,
    { title: 'No organisation' },
    <article>
      <h1>You are not a member of any organisation</h1>
      <p>
        To join an organisation, ask one of its owners to invite <strong>{c.var.user.email}</strong>
        .
      </p>
      <div class="buttons">
        <a href="/console/onboarding/new" role="button">
          Create an organisation
        </a>
        <ActionForm action="/console/sign-out" label="Sign out" />
      </div>
      <p class="aside">
        <a href="/console/account/delete">Delete your account</a>
      </p>
    </article>,
  )

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
