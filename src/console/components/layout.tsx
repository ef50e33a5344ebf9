// The layout of every page: a single column for guests, with navigation for members.
import { html } from 'hono/html'
import type { Child } from 'hono/jsx'
import type { CreditStatus } from '../../organisation/rpc.ts'
import { settingsOf } from '../../settings.ts'
import type { ConsoleContext } from '../context.ts'
import { CreditBanner, creditStatusOf } from './credit-banner.tsx'
import { ActionForm, Button, FormOrganisation, PostForm } from './form.tsx'
import { Timestamp } from './time.tsx'

const PAGES = [
  ['/console', 'Overview'],
  ['/console/playground', 'Playground'],
  ['/console/jobs', 'Jobs'],
  ['/console/credits', 'Credits'],
  ['/console/billing', 'Billing'],
] as const

const SETTINGS = [
  ['/console/settings/organisation', 'Organisation'],
  ['/console/settings/api-keys', 'API keys'],
  ['/console/settings/webhooks', 'Webhooks'],
  ['/console/settings/workspaces', 'Workspaces'],
  ['/console/settings/team', 'Team'],
] as const

const OWNER_SETTINGS = [...SETTINGS, ['/console/settings/audit-log', 'Audit log']] as const

const HELP = [
  ['/docs', 'Documentation'],
  ['/docs/api', 'API reference'],
] as const

interface PageOptions {
  title: string
  status?: 200 | 401 | 403 | 404 | 409 | 413 | 422 | 429 | 500 | 503
  /** A style sheet of this page, in addition to that of all pages. */
  stylesheet?: `/static/${string}.css`
  /** For a table of columns: a guest page is narrow otherwise. */
  wide?: boolean
  /** How often a browser without JavaScript reloads the page. */
  refreshSeconds?: number | undefined
}

interface MemberPageOptions extends Omit<PageOptions, 'wide'> {
  /** The credit status if the page has read it; null for a page without the banner. */
  credits?: CreditStatus | null
}

/** A page without navigation: for guests and for users without an organisation. */
export const guestPage = (c: ConsoleContext, options: PageOptions, content: Child) =>
  render(
    c,
    options,
    <body class={options.wide ? 'guest wide' : 'guest'}>
      <SkipLink />
      <header>
        <Brand />
      </header>
      <main id="content" tabindex={-1}>
        {content}
      </main>
      <footer>
        {HELP.map(([href, label]) => (
          <a href={href}>{label}</a>
        ))}
      </footer>
      <Announcer />
    </body>,
  )

/** A page of the selected organisation. */
export async function memberPage(
  c: ConsoleContext,
  { credits, ...options }: MemberPageOptions,
  content: Child,
) {
  const status = credits === undefined ? await creditStatusOf(c) : credits
  return render(
    c,
    options,
    <FormOrganisation.Provider value={c.var.membership.organisation.id}>
      <body class="member">
        <SkipLink />
        <header>
          <Brand />
          <Organisation c={c} />
          <AccountMenu c={c} />
        </header>
        <nav aria-label="Console">
          <Links c={c} to={PAGES} />
          <h2 id="settings">Settings</h2>
          <Links
            c={c}
            to={c.var.membership.role === 'owner' ? OWNER_SETTINGS : SETTINGS}
            labelledBy="settings"
          />
          <h2 id="help">Help</h2>
          <Links c={c} to={HELP} labelledBy="help" />
        </nav>
        <main id="content" tabindex={-1}>
          <Suspension c={c} />
          <Deletion c={c} />
          {status && <CreditBanner c={c} status={status} />}
          {content}
        </main>
        <Announcer />
      </body>
    </FormOrganisation.Provider>,
  )
}

function render(c: ConsoleContext, options: PageOptions, body: Child) {
  const { title, status = 200, stylesheet, refreshSeconds } = options
  const document = (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{title} · Try-On</title>
        <link rel="icon" href="/static/icon.svg" type="image/svg+xml" />
        <link rel="stylesheet" href="/static/pico.classless.min.css" />
        <link rel="stylesheet" href="/static/console.css" />
        {stylesheet && <link rel="stylesheet" href={stylesheet} />}
        <script type="module" src="/static/console.js"></script>
        {refreshSeconds !== undefined && (
          <noscript>
            <meta http-equiv="refresh" content={String(refreshSeconds)} />
          </noscript>
        )}
      </head>
      {body}
    </html>
  )
  return c.html(html`<!doctype html>${document}`, status)
}

const Links = ({
  c,
  to,
  labelledBy,
}: {
  c: ConsoleContext
  to: readonly (readonly [href: string, label: string])[]
  labelledBy?: string
}) => (
  <ul aria-labelledby={labelledBy}>
    {to.map(([href, label]) => (
      <li>
        <a href={href} aria-current={isCurrent(c, href) ? 'page' : undefined}>
          {label}
        </a>
      </li>
    ))}
  </ul>
)

/** console.js announces changes on the page to screen readers here. */
const Announcer = () => <p class="visually-hidden" role="status" data-announcer></p>

const SkipLink = () => (
  <a class="skip" href="#content">
    Skip to content
  </a>
)

const Brand = () => (
  <a class="brand" href="/console">
    <img src="/static/icon.svg" alt="" width="28" height="28" /> Try-On
  </a>
)

const Organisation = ({ c }: { c: ConsoleContext }) => {
  const { membership, memberships } = c.var
  if (memberships.length === 1) return <strong class="org">{membership.organisation.name}</strong>
  return (
    <PostForm action="/console/organisation" class="org">
      <label for="organisation">Organisation</label>
      <select id="organisation" name="organisation" data-submit-on-change>
        {memberships.map(({ organisation }) => (
          <option
            value={organisation.id}
            selected={organisation.id === membership.organisation.id || undefined}
          >
            {organisation.name}
          </option>
        ))}
      </select>
      <Button kind="secondary">Switch</Button>
    </PostForm>
  )
}

const AccountMenu = ({ c }: { c: ConsoleContext }) => (
  <details class="account-menu">
    <summary>
      <span class="address">{c.var.user.email}</span>
      <span class="short">Account</span>
    </summary>
    <div>
      <p>{c.var.user.email}</p>
      <a href="/console/account">Your account</a>
      <PostForm action="/console/sign-out">
        <Button kind="secondary">Sign out</Button>
      </PostForm>
    </div>
  </details>
)

const Suspension = ({ c }: { c: ConsoleContext }) => {
  const { status, name, suspensionReason } = c.var.membership.organisation
  if (status !== 'suspended') return null
  const { supportEmail } = settingsOf(c.env)
  return (
    <aside class="notice bad" role="alert">
      <strong>{name} is suspended.</strong> {suspensionReason} New jobs are rejected until the
      suspension is lifted.{' '}
      {supportEmail ? (
        <>
          Contact <a href={`mailto:${supportEmail}`}>{supportEmail}</a>.
        </>
      ) : (
        'Contact support.'
      )}
    </aside>
  )
}

const Deletion = ({ c }: { c: ConsoleContext }) => {
  const { organisation, role } = c.var.membership
  if (!organisation.deleteAfter) return null
  return (
    <aside class="notice bad" role="alert">
      <p>
        <strong>
          {organisation.name} will be deleted on <Timestamp at={organisation.deleteAfter} />.
        </strong>{' '}
        New jobs are rejected. {role !== 'owner' && 'An owner can cancel the deletion.'}
      </p>
      {role === 'owner' && (
        <ActionForm
          action="/console/settings/organisation/keep"
          label="Cancel deletion"
          kind="primary"
        />
      )}
    </aside>
  )
}

function isCurrent(c: ConsoleContext, href: string): boolean {
  const path = c.req.path.replace(/\/$/, '')
  return path === href || (href !== '/console' && path.startsWith(`${href}/`))
}
