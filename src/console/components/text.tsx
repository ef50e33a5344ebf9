// Parts of a line: links, times, numbers, badges, and messages.
import { createContext, useContext, type Child, type JSX } from 'hono/jsx'
import type { PaymentRow } from '../../platform/db/billing-schema.ts'
import type { NoticeKind } from '../form-notices.ts'

/** The address of the organisation's overview. On guest pages, the console selects an organisation. */
export const OrganisationPath = createContext('/console')

interface LinkProps {
  /** A page of the organisation, such as `/jobs`; empty for the overview. */
  to: string
  class?: string
  'aria-current'?: 'page' | 'true' | undefined
  'aria-label'?: string
  title?: string
  children?: Child
}

export const Link = ({ to, children, ...attributes }: LinkProps) => (
  <a href={useContext(OrganisationPath) + to} {...attributes}>
    {children}
  </a>
)

type ButtonLinkProps = JSX.IntrinsicElements['a'] & {
  /** A page of the organisation, instead of `href`. */
  to?: string
  label: string
  /** The object of the link, added to its accessible name. */
  on?: string
  kind?: 'primary' | 'secondary'
}

/** A link that looks like a button. */
export const ButtonLink = ({ to, label, on, kind = 'secondary', ...rest }: ButtonLinkProps) => {
  const { href = useContext(OrganisationPath) + to, ...attributes } = rest
  const style = kind === 'primary' ? undefined : kind
  return (
    <a {...attributes} href={href} role="button" class={style} aria-label={on && `${label} ${on}`}>
      {label}
    </a>
  )
}

const FORMATS = {
  minute: { dateStyle: 'medium', timeStyle: 'short' },
  second: { dateStyle: 'medium', timeStyle: 'medium' },
  day: { dateStyle: 'medium' },
  /** For lists: console.js shows how long ago it was. */
  ago: { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>

interface TimestampProps {
  at: Date | number | null | undefined
  as?: keyof typeof FORMATS
  /** Instead of an instant that there is not. */
  none?: string
}

/** An instant in UTC. console.js converts it to the browser's time zone. */
export const Timestamp = ({ at, as = 'minute', none = 'Never' }: TimestampProps) => {
  if (at === null || at === undefined) return <span class="muted">{none}</span>
  const date = new Date(at)
  const format = new Intl.DateTimeFormat('en-GB', { ...FORMATS[as], timeZone: 'UTC' })
  return (
    <time datetime={date.toISOString()} data-as={as}>
      {format.format(date)}
      {as !== 'day' && ' UTC'}
    </time>
  )
}

/** `1.2 s` or `340 ms`. */
export const formatDuration = (ms: number | null): string =>
  ms === null ? '–' : ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`

/** `12,345` */
export const formatCount = (count: number): string => count.toLocaleString('en')

/** Such as `Live` for `live`. */
export const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

const COLOURS = {
  pending: 'waiting',
  processing: 'waiting',
  retrying: 'waiting',
  open: 'waiting',
  completed: 'good',
  delivered: 'good',
  paid: 'good',
  active: 'good',
  failed: 'bad',
  cancelled: 'off',
  refunded: 'off',
  revoked: 'off',
  archived: 'off',
  expired: 'off',
} satisfies Record<string, 'good' | 'bad' | 'waiting' | 'off'>

/** The status of a job, delivery, payment, API key or workspace. */
export const StatusBadge = ({ status }: { status: keyof typeof COLOURS }) => (
  <span class={`badge ${COLOURS[status]}`}>{status}</span>
)

/** The status of a payment, and whether it was refunded or is disputed. */
export const PaymentBadge = ({ payment }: { payment: PaymentRow }) => {
  const { status, amount, amountRefunded, dispute } = payment
  const refund = amountRefunded < amount ? 'partially refunded' : 'refunded'
  return (
    <>
      {amountRefunded > 0 ? (
        <span class="badge off">{refund}</span>
      ) : (
        <StatusBadge status={status} />
      )}{' '}
      {dispute === 'open' && <span class="badge bad">disputed</span>}
      {dispute === 'lost' && <span class="badge bad">dispute lost</span>}
    </>
  )
}

export const ModeBadge = ({ mode }: { mode: 'live' | 'test' }) => (
  <span class={`badge ${mode}`}>{mode}</span>
)

/** A message about the page or the last action. Screen readers announce it. */
export const Notice = ({ kind, children }: { kind: NoticeKind; children?: Child }) => (
  <p class={`notice ${kind}`} role={kind === 'bad' ? 'alert' : 'status'}>
    {children}
  </p>
)
