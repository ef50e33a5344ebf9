// Forms: how they are read, and their parts. An error stands beside its field and is read out with
// it.
import { createContext, useContext } from 'hono/jsx'
import type { Child } from 'hono/jsx'
import type { z } from 'zod'
import { AppError } from '../../domain/errors.ts'
import type { ConsoleContext } from '../context.ts'
import { PASSWORD_HINT } from '../fields.ts'

/** What was wrong with a form, by field; under '' what concerns the whole. */
export type FieldErrors = Record<string, string>

export type Filled<T> =
  { ok: true; value: T } | { ok: false; complaints: FieldErrors; entered: Record<string, string> }

/** Reads and checks a posted form. Texts are kept, so that nothing has to be typed again. */
export async function readForm<T>(c: ConsoleContext, schema: z.ZodType<T>): Promise<Filled<T>> {
  const body = await c.req.parseBody()
  const entered = Object.fromEntries(
    Object.entries(body).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
  const result = schema.safeParse(body)
  if (result.success) return { ok: true, value: result.data }
  const complaints: FieldErrors = {}
  for (const { path, message } of result.error.issues) complaints[path.join('.')] ??= message
  return { ok: false, complaints, entered }
}

/**
 * What a use case rejects, as a complaint about the whole form.
 * @throws the error itself when it is not a validation_error
 */
export function rejectedForm(error: unknown, entered: Record<string, string> = {}): FieldState {
  if (!(error instanceof AppError) || error.code !== 'validation_error') throw error
  return { complaints: { '': error.message }, entered }
}

export interface FieldState {
  complaints?: FieldErrors | undefined
  entered?: Record<string, string> | undefined
}

interface FieldProps {
  name: string
  /** Where several forms of a page have a field of this name. */
  id?: string
  label: string
  state?: FieldState
  type?: 'text' | 'email' | 'password' | 'url' | 'file' | 'number'
  hint?: Child
  value?: string | undefined
  placeholder?: string
  autocomplete?: string
  accept?: string
  /** Of a file; the script refuses more before anything is sent. */
  maxBytes?: number
  required?: boolean
  autofocus?: boolean
  maxlength?: number
}

/** A labelled input with its hint and its error. */
export const Field = ({ name, label, state = {}, hint, type = 'text', ...rest }: FieldProps) => {
  const { id = name, value, required = true, autofocus, maxBytes, ...attributes } = rest
  const error = state.complaints?.[name]
  const hintId = hint ? `${id}-hint` : undefined
  const errorId = error ? `${id}-error` : undefined
  const secret = type === 'password' || type === 'file'
  return (
    <div class="field">
      <label for={id}>
        {label}
        {!required && <span class="quiet"> (optional)</span>}
      </label>
      <input
        id={id}
        name={name}
        type={type}
        value={secret ? undefined : (state.entered?.[name] ?? value)}
        required={required || undefined}
        autofocus={(autofocus && !state.complaints) || Boolean(error) || undefined}
        data-max-bytes={maxBytes}
        aria-invalid={error ? 'true' : undefined}
        aria-describedby={[errorId, hintId].filter(Boolean).join(' ') || undefined}
        {...attributes}
      />
      {error && (
        <small id={errorId} class="error">
          {error}
        </small>
      )}
      {hint && <small id={hintId}>{hint}</small>}
    </div>
  )
}

/** What is wrong with a form as a whole. */
export const FormError = ({ state }: { state?: FieldState | undefined }) => {
  const message = state?.complaints?.['']
  return message ? <Notice kind="bad">{message}</Notice> : null
}

export const Notice = ({ kind, children }: { kind: 'good' | 'bad' | 'info'; children?: Child }) => (
  <p class={`notice ${kind}`} role={kind === 'bad' ? 'alert' : 'status'}>
    {children}
  </p>
)

/** Where a password is chosen; `consequence` follows the rule that it has to keep. */
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
    hint={[PASSWORD_HINT, consequence].filter(Boolean).join(' ')}
    {...rest}
  />
)

export const Button = ({
  kind,
  name,
  value,
  disabled,
  spoken,
  children,
}: {
  kind?: 'primary' | 'secondary' | 'danger'
  name?: string
  value?: string
  disabled?: boolean
  spoken?: string | undefined
  children?: Child
}) => (
  <button
    type="submit"
    class={kind}
    name={name}
    value={value}
    disabled={disabled || undefined}
    aria-label={spoken}
  >
    {children}
  </button>
)

/** The organisation that the forms on a page are about; none on the pages of guests. */
export const FormOrganisation = createContext<string | undefined>(undefined)
export const DRAWN_FOR_FIELD = 'drawn_for'

interface PostFormProps {
  action: string
  class?: string
  enctype?: 'multipart/form-data'
  target?: '_blank'
  novalidate?: boolean
  /** Run by the script, in place. */
  'data-run'?: boolean
  /** Answered with a file: the page stays, and the button can be used again. */
  'data-download'?: boolean
  children?: Child
}

/**
 * A form that says for which organisation it was drawn, so that one left open in another tab does
 * not act on the organisation switched to since (see `requireSameOrganisation`).
 */
export const PostForm = ({ children, ...attributes }: PostFormProps) => {
  const organisationId = useContext(FormOrganisation)
  return (
    <form method="post" {...attributes}>
      {organisationId && <input type="hidden" name={DRAWN_FOR_FIELD} value={organisationId} />}
      {children}
    </form>
  )
}

/**
 * A form of one button, for what needs no input; with `confirm`, a second step asks first.
 * @param on what it acts on, for those who hear the button without what stands around it
 */
export const ActionForm = ({
  action,
  label,
  on,
  kind = 'secondary',
  confirm,
  fields = {},
}: {
  action: string
  label: string
  on?: string
  kind?: 'primary' | 'secondary' | 'danger'
  confirm?: Child
  fields?: Record<string, string>
}) => {
  const spoken = on && `${label} ${on}`
  const form = (
    <PostForm action={action} class="action">
      {Object.entries(fields).map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      {confirm && <p>{confirm}</p>}
      <Button kind={kind} spoken={spoken}>
        {label}
      </Button>
    </PostForm>
  )
  if (!confirm) return form
  return (
    <details class="confirm">
      <summary role="button" class="secondary" aria-label={spoken}>
        {label}
      </summary>
      {form}
    </details>
  )
}
