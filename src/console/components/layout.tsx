// The layout of every page: a single column for guests, with navigation for members.
import { html } from 'hono/html'
import type { Child } from 'hono/jsx'
import type { CreditStatus } from '../../organisation/rpc.ts'
import { permits } from '../../domain/role.ts'
import type { Permission } from '../../domain/role.ts'
import { settingsOf } from '../../settings.ts'
import type { ConsoleContext } from '../context.ts'
import { CreditBanner, creditStatusOf } from './credit-banner.tsx'
import { pathOf } from '../organisation-path.ts'
import { ActionForm, Button, PostForm } from './form.tsx'
import { Link, OrganisationPath } from './link.tsx'
import { ModeSwitch, TestBand } from './mode.tsx'
import { Timestamp } from './time.tsx'

/** A page, its label and the permission that it requires. */
type Entry = readonly [page: string, label: string, permission?: Permission]

const PAGES: Entry[] = [
  ['', 'Overview'],
  ['/playground', 'Playground', 'develop'],
  ['/jobs', 'Jobs', 'jobs'],
  ['/credits', 'Credits'],
  ['/billing', 'Billing', 'billing'],
]

const SETTINGS: Entry[] = [
  ['/settings/organisation', 'Organisation'],
  ['/settings/api-keys', 'API keys', 'develop'],
  ['/settings/webhooks', 'Webhooks', 'jobs'],
  ['/settings/workspaces', 'Workspaces', 'jobs'],
  ['/settings/team', 'Team'],
  ['/settings/audit-log', 'Audit log', 'administer'],
]

const HELP = [
  ['/docs', 'Documentation'],
  ['/docs/api', 'API reference'],
] as const

type Stylesheet = `/static/${string}.css`

interface PageOptions {
  title: string
  status?: 200 | 401 | 403 | 404 | 409 | 413 | 422 | 429 | 500 | 503
  /** Style sheets of this page, in addition to those of all pages. */
  stylesheet?: Stylesheet | Stylesheet[]
  /** A script of this page, in addition to console.js. */
  script?: `/static/${string}.js`
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
    <OrganisationPath.Provider value={pathOf(c, '')}>
      <body class={c.var.mode === 'test' ? 'member test-mode' : 'member'}>
        <SkipLink />
        <TestBand mode={c.var.mode} />
        <header>
          <Brand />
          <Organisation c={c} />
          <ModeSwitch mode={c.var.mode} />
          <AccountMenu c={c} />
        </header>
        <nav aria-label="Console">
          <Links c={c} to={PAGES} />
          <h2 id="settings">Settings</h2>
          <Links c={c} to={SETTINGS} labelledBy="settings" />
          <h2 id="help">Help</h2>
          <ul aria-labelledby="help">
            <HelpLinks />
          </ul>
        </nav>
        <main id="content" tabindex={-1}>
          <Suspension c={c} />
          <Deletion c={c} />
          {status && <CreditBanner c={c} status={status} />}
          {content}
        </main>
        <Announcer />
      </body>
    </OrganisationPath.Provider>,
  )
}

function render(c: ConsoleContext, options: PageOptions, body: Child) {
  const { title, status = 200, stylesheet, script, refreshSeconds } = options
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
        <link rel="stylesheet" href="/static/mode.css" />
        {[stylesheet ?? []].flat().map((href) => (
          <link rel="stylesheet" href={href} />
        ))}
        <script type="module" src="/static/console.js"></script>
        {script && <script type="module" src={script}></script>}
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

const Links = ({ c, to, labelledBy }: { c: ConsoleContext; to: Entry[]; labelledBy?: string }) => (
  <ul aria-labelledby={labelledBy}>
    {to
      .filter(([, , permission]) => !permission || permits(c.var.membership.role, permission))
      .map(([page, label]) => (
        <li>
          <Link to={page} aria-current={isCurrent(c, page) ? 'page' : undefined}>
            {label}
          </Link>
        </li>
      ))}
  </ul>
)

const HelpLinks = () => (
  <>
    {HELP.map(([href, label]) => (
      <li>
        <a href={href}>{label}</a>
      </li>
    ))}
  </>
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
        <ActionForm to="/settings/organisation/keep" label="Cancel deletion" kind="primary" />
      )}
    </aside>
  )
}

function isCurrent(c: ConsoleContext, page: string): boolean {
  const path = c.req.path.replace(/\/$/, '')
  const href = pathOf(c, page)
  return path === href || (page !== '' && path.startsWith(`${href}/`))
}
