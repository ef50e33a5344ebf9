// The frame around every page: for guests a single column, for members the navigation as well.
import { html } from 'hono/html'
import type { Child } from 'hono/jsx'
import { settingsOf } from '../../settings.ts'
import type { ConsoleContext } from '../context.ts'
import { ActionForm, Button, FormOrganisation, PostForm } from './form.tsx'
import { When } from './parts.tsx'

const PAGES = [
  ['/console', 'Overview'],
  ['/console/playground', 'Playground'],
  ['/console/jobs', 'Jobs'],
  ['/console/credits', 'Credits'],
] as const

const SETTINGS = [
  ['/console/settings/organisation', 'Organisation'],
  ['/console/settings/api-keys', 'API keys'],
  ['/console/settings/webhooks', 'Webhooks'],
  ['/console/settings/workspaces', 'Workspaces'],
  ['/console/settings/team', 'Team'],
] as const

const OWNER_SETTINGS = [...SETTINGS, ['/console/settings/audit-log', 'Audit log']] as const

interface PageOptions {
  title: string
  status?: 200 | 401 | 403 | 404 | 409 | 413 | 422 | 429 | 500 | 503
  /** Seconds after which a browser without JavaScript loads the page again. */
  refreshSeconds?: number | undefined
}

/** A page for somebody who is not, or not wholly, inside. */
export const guestPage = (c: ConsoleContext, options: PageOptions, content: Child) =>
  answer(
    c,
    options,
    <body class="guest">
      <SkipLink />
      <header>
        <Brand />
      </header>
      <main id="content" tabindex={-1}>
        {content}
      </main>
      <Announcer />
    </body>,
  )

/** A page about the organisation that the person looks at. */
export const memberPage = (c: ConsoleContext, options: PageOptions, content: Child) =>
  answer(
    c,
    options,
    <FormOrganisation.Provider value={c.var.membership.organisation.id}>
      <body class="member">
        <SkipLink />
        <header>
          <Brand />
          <Organisation c={c} />
          <Person c={c} />
        </header>
        <nav aria-label="Console">
          <Links c={c} to={PAGES} />
          <h2 id="settings">Settings</h2>
          <Links
            c={c}
            to={c.var.membership.role === 'owner' ? OWNER_SETTINGS : SETTINGS}
            labelledBy="settings"
          />
        </nav>
        <main id="content" tabindex={-1}>
          <Suspension c={c} />
          <Deletion c={c} />
          {content}
        </main>
        <Announcer />
      </body>
    </FormOrganisation.Provider>,
  )

function answer(c: ConsoleContext, options: PageOptions, body: Child) {
  const { title, status = 200, refreshSeconds } = options
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

/** Where the script says what has changed on the page, for those who do not see it. */
const Announcer = () => <p class="unseen" role="status" data-announcer></p>

const SkipLink = () => (
  <a class="skip" href="#content">
    Skip to the content
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
      <label class="quiet" for="organisation">
        Organisation
      </label>
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

const Person = ({ c }: { c: ConsoleContext }) => (
  <details class="person">
    <summary>
      <span class="address">{c.var.person.email}</span>
      <span class="short">Account</span>
    </summary>
    <div>
      <p>{c.var.person.email}</p>
      <a href="/console/account">Password and sessions</a>
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
      <strong>{name} is suspended.</strong> {suspensionReason ?? 'No reason was noted.'} No jobs are
      accepted until this is settled.{' '}
      {supportEmail ? (
        <>
          Write to <a href={`mailto:${supportEmail}`}>{supportEmail}</a>.
        </>
      ) : (
        'Please contact support.'
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
          {organisation.name} will be deleted on <When at={organisation.deleteAfter} />.
        </strong>{' '}
        Until then no jobs are accepted. {role !== 'owner' && 'An owner can cancel the deletion.'}
      </p>
      {role === 'owner' && (
        <ActionForm
          action="/console/settings/organisation/keep"
          label="Keep this organisation"
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
