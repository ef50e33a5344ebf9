// Forms, fields and buttons. The error of a field is next to it and is part of its description for
// screen readers.
import { createContext, useContext, type Child } from 'hono/jsx'
import type { FormState } from '../forms.ts'
import { Link, OrganisationPath, Notice } from './text.tsx'

const FormStateContext = createContext<FormState>({})

/** The errors and values of the form around a field. @param own the state instead */
export const useFormState = (own?: FormState): FormState => {
  const around = useContext(FormStateContext)
  return own ?? around
}

export interface FieldProps {
  name: string
  /** Set where several forms of a page have a field with the same name. */
  id?: string
  label: string
  /** Instead of that of the form around it. */
  state?: FormState | undefined
  type?: 'text' | 'email' | 'password' | 'url' | 'number' | 'date'
  hint?: Child
  value?: string | undefined
  placeholder?: string
  autocomplete?: string
  required?: boolean
  autofocus?: boolean
  maxlength?: number
  inputmode?: 'numeric'
  /** The earliest date of a field of the type `date`, YYYY-MM-DD. */
  min?: string
}

export const Field = ({ name, label, hint, type = 'text', ...rest }: FieldProps) => {
  const { id = name, value, required = true, autofocus, state: own, ...attributes } = rest
  const state = useFormState(own)
  const error = state.errors?.[name]
  const hintId = hint ? `${id}-hint` : undefined
  const errorId = error ? `${id}-error` : undefined
  return (
    <div class="field">
      <label for={id}>
        {label}
        {!required && <span class="muted"> (optional)</span>}
      </label>
      <input
        id={id}
        name={name}
        type={type}
        value={type === 'password' ? undefined : (state.values?.[name] ?? value)}
        required={required || undefined}
        autofocus={(autofocus && !state.errors) || Boolean(error) || undefined}
        aria-invalid={error ? 'true' : undefined}
        aria-describedby={[errorId, hintId].filter(Boolean).join(' ') || undefined}
        {...attributes}
      />
      {type === 'password' && (
        <button type="button" class="link" data-show-password={id} aria-pressed="false" hidden>
          Show<span class="visually-hidden"> password</span>
        </button>
      )}
      <FieldError id={errorId} text={error} />
      {hint && <small id={hintId}>{hint}</small>}
    </div>
  )
}

export const FieldError = ({ id, text }: { id?: string | undefined; text: string | undefined }) =>
  text ? (
    <small id={id} class="error">
      {text}
    </small>
  ) : null

export const OrganisationNameField = (props: Partial<FieldProps>) => (
  <Field
    name="name"
    label="Organisation name"
    autocomplete="organization"
    maxlength={100}
    {...props}
  />
)

interface SelectProps {
  name: string
  id?: string
  label: string
  value?: string | undefined
  /** Values with their labels. A value alone is its own label. */
  options: readonly (string | readonly [value: string, label: string])[]
  /** console.js sends the form when an option is chosen. */
  'data-submit-on-change'?: boolean
}

export const Select = ({ name, label, options, ...rest }: SelectProps) => {
  const { id = name, value, ...attributes } = rest
  const state = useFormState()
  const selected = state.values?.[name] ?? value
  const error = state.errors?.[name]
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} name={name} {...attributes}>
        {options
          .map((option) => (typeof option === 'string' ? ([option, option] as const) : option))
          .map(([option, text]) => (
            <option value={option} selected={option === selected || undefined}>
              {text}
            </option>
          ))}
      </select>
      <FieldError text={error} />
    </div>
  )
}

/** A filter of a list. console.js applies it when it is chosen. */
export const FilterSelect = ({ options, ...rest }: SelectProps) => (
  <Select options={[['', 'All'], ...options]} data-submit-on-change {...rest} />
)

interface Renaming {
  current: string
  /** The id of the field. */
  id: string
  label: string
  /** The text of the button of the form. */
  submit: string
  /** Of the form if it was rejected. */
  state?: FormState | undefined
}

/** A button that opens the form of a new name. */
export const RenameForm = ({ current, id, label, submit, state, ...to }: Renaming & Target) => (
  <details class="confirm plain" open={state !== undefined || undefined}>
    <summary role="button" class="secondary" aria-label={`Rename ${current}`}>
      Rename
    </summary>
    <PostForm {...to} state={state ?? {}}>
      <Field id={id} name="name" label={label} value={current} maxlength={100} autocomplete="off" />
      <Button aria-label={`${submit} ${current}`}>{submit}</Button>
    </PostForm>
  </details>
)

/** @param of the name of a field whose error it shows; by default, that of the whole form */
export const FormError = ({ state, of = '' }: { state?: FormState | undefined; of?: string }) => {
  const message = state?.errors?.[of]
  if (!message) return null
  return (
    <Notice kind="bad">
      {message} {state.link && <Link to={state.link.to}>{state.link.label}</Link>}
    </Notice>
  )
}

interface ButtonProps {
  kind?: 'primary' | 'secondary' | 'danger'
  name?: string
  value?: string
  disabled?: boolean
  'aria-label'?: string | undefined
  children?: Child
}

export const Button = ({ kind, ...attributes }: ButtonProps) => (
  <button type="submit" class={kind} {...attributes} />
)

/** Where a form is sent: to an action of the organisation, such as `/jobs/…/cancel`, or to a path. */
type Target = { to: string; action?: never } | { action: string; to?: never }

interface PostFormAttributes {
  /** The values of hidden fields, by name. Those without a value are left out. */
  fields?: Record<string, string | null | undefined>
  /** Shown in the form and its fields. The server validates such a form, not the browser. */
  state?: FormState
  id?: string
  class?: string
  target?: '_blank'
  novalidate?: boolean
  hidden?: boolean
  /**
   * For scripts. `data-run`: console.js sends the form and shows the job below it. `data-download`: the response is a
   * file, so console.js does not disable the button. `data-passkey`: passkeys.js adds a credential.
   */
  [data: `data-${string}`]: string | boolean | undefined
  children?: Child
}

export const PostForm = ({
  to,
  action,
  fields = {},
  state,
  children,
  ...attributes
}: PostFormAttributes & Target) => {
  const organisationPath = useContext(OrganisationPath)
  const novalidate = attributes.novalidate ?? (state !== undefined || undefined)
  return (
    <FormStateContext.Provider value={state ?? {}}>
      <form
        method="post"
        action={action ?? organisationPath + to}
        {...attributes}
        novalidate={novalidate}
      >
        <FormError state={state} />
        {Object.entries(fields).map(
          ([name, value]) => value != null && <input type="hidden" name={name} value={value} />,
        )}
        {children}
      </form>
    </FormStateContext.Provider>
  )
}

type Action = Target &
  Pick<PostFormAttributes, 'fields'> &
  Pick<ButtonProps, 'kind'> & {
    label: string
    /** The object of the action, added to the button's accessible name. */
    on?: string
    confirm?: Child
    /** Shows the confirmation without the colour of a warning. */
    isSafe?: boolean
  }

/** A form with one button and no visible fields. With `confirm`, the button first opens a confirmation. */
export const ActionForm = ({ label, on, kind = 'secondary', confirm, isSafe, ...form }: Action) => {
  const name = on && `${label} ${on}`
  const button = (
    <PostForm {...form} class="action">
      {confirm && <p>{confirm}</p>}
      <Button kind={kind} aria-label={name}>
        {label}
      </Button>
    </PostForm>
  )
  if (!confirm) return button
  return (
    <details class={isSafe ? 'confirm plain' : 'confirm'}>
      <summary role="button" class="secondary" aria-label={name}>
        {label}
      </summary>
      {button}
    </details>
  )
}
