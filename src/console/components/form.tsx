// Forms, fields and buttons. The error of a field is next to it and is part of its description for
// screen readers.
import { createContext, useContext, type Child } from 'hono/jsx'
import type { FormState } from '../console-context.ts'
import { Link, OrganisationPath, Notice } from './text.tsx'

/** The form that the page shows again: the path it was posted to, and its state. */
export const PostedForm = createContext<{ path: string; state: FormState }>({ path: '', state: {} })

const FormStateContext = createContext<FormState>({})

/** The errors and values of the form around a field. */
export const useFormState = (): FormState => useContext(FormStateContext)

export interface FieldProps {
  name: string
  /** Set where several forms of a page have a field with the same name. */
  id?: string
  label: string
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
  const { id = name, value, required = true, autofocus, ...attributes } = rest
  const state = useFormState()
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
        required={required}
        autofocus={(autofocus && !state.errors) || Boolean(error)}
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

/** The name of an object, which browsers do not fill in. */
export const NameField = (props: Partial<FieldProps>) => (
  <Field name="name" label="Name" maxlength={100} autocomplete="off" {...props} />
)

export const OrganisationNameField = (props: Partial<FieldProps>) => (
  <NameField label="Organisation name" autocomplete="organization" {...props} />
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
            <option value={option} selected={option === selected}>
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
type Target = ({ to: string; action?: never } | { action: string; to?: never }) & {
  /** Instead of what was posted to this address. Empty where the page shows the errors elsewhere. */
  state?: FormState | undefined
}

/** The address of a form, what it shows again after it was posted, and its other properties. */
function useForm<Props extends Target>({ to, action, state, ...rest }: Props) {
  const address = action ?? useContext(OrganisationPath) + to
  const posted = useContext(PostedForm)
  const isPosted = address.replace(/\?.*/, '') === posted.path
  return { address, state: state ?? (isPosted ? posted.state : {}), rest }
}

interface PostFormAttributes {
  /** The values of hidden fields, by name. Those without a value are left out. */
  fields?: Record<string, string | null | undefined>
  id?: string
  class?: string
  target?: '_blank'
  hidden?: boolean
  /**
   * For scripts. `data-run`: console.js sends the form and shows the job below it. `data-download`: the response is a
   * file, so console.js does not disable the button. `data-passkey`: passkeys.js adds a credential.
   */
  [data: `data-${string}`]: string | boolean | undefined
  children?: Child
}

/** A form whose fields and errors are those that were posted. The server validates it, not the browser. */
export const PostForm = (props: PostFormAttributes & Target) => {
  const { address, state, rest } = useForm(props)
  const { fields = {}, children, ...attributes } = rest
  return (
    <FormStateContext.Provider value={state}>
      <form method="post" action={address} {...attributes} novalidate>
        <FormError state={state} />
        {Object.entries(fields).map(
          ([name, value]) => value != null && <input type="hidden" name={name} value={value} />,
        )}
        {children}
      </form>
    </FormStateContext.Provider>
  )
}

interface Opener {
  /** The text of the button. */
  label: string
  /** The object of the form, added to the button's accessible name. */
  on?: string | undefined
}

type FoldedFormProps = PostFormAttributes & Target & Opener & { isWarning?: boolean }

/** A button that opens a form. A rejected form is open. */
export const FoldedForm = ({ label, on, isWarning, ...form }: FoldedFormProps) => (
  <details
    class={isWarning ? 'confirm' : 'confirm plain'}
    open={Boolean(useForm(form).state.errors)}
  >
    <summary role="button" class="secondary" aria-label={on && `${label} ${on}`}>
      {label}
    </summary>
    <PostForm {...form} />
  </details>
)

type Action = Target &
  Opener &
  Pick<PostFormAttributes, 'fields'> &
  Pick<ButtonProps, 'kind'> & {
    confirm?: Child
    /** Shows the confirmation without the colour of a warning. */
    isSafe?: boolean
  }

/** A form with one button and no visible fields. With `confirm`, the button first opens a confirmation. */
export const ActionForm = ({ label, on, kind = 'secondary', confirm, isSafe, ...rest }: Action) => {
  const form = { ...rest, state: {}, class: 'action' }
  const button = (
    <Button kind={kind} aria-label={on && `${label} ${on}`}>
      {label}
    </Button>
  )
  if (!confirm) return <PostForm {...form}>{button}</PostForm>
  return (
    <FoldedForm {...form} label={label} on={on} isWarning={!isSafe}>
      <p>{confirm}</p>
      {button}
    </FoldedForm>
  )
}
