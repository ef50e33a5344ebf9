// The navigation of the console: the pages of the organisation by group, the menu of organisations and
// the menu of the account.
import type { Child } from 'hono/jsx'
import { Switch } from './mode-switch.tsx'
import { consolePath } from '../../domain/console-path.ts'
import { permits, type Permission } from '../../domain/role.ts'
import { settingsOf } from '../../platform/settings.ts'
import { pathOf, type ConsoleContext } from '../console-context.ts'
import { THEMES, themeOf } from '../cookies.ts'
import { Button, PostForm } from './form.tsx'
import { Link } from './text.tsx'

/** @param permission what a role needs to see the entry; null for every member */
type Entry = readonly [page: string, label: string, icon: string, permission: Permission | null]

/** The pages by the headings of their groups; the first group has none. */
const GROUPS: Record<string, readonly Entry[]> = {
  '': [
    ['', 'Overview', 'overview', null],
    ['/playground', 'Playground', 'playground', 'develop'],
    ['/jobs', 'Jobs', 'jobs', 'jobs'],
    ['/requests', 'Request log', 'requests', 'jobs'],
    ['/credits', 'Credits', 'credits', null],
    ['/billing', 'Billing', 'billing', 'billing'],
  ],
  Developers: [
    ['/settings/api-keys', 'API keys', 'key', 'develop'],
    ['/settings/webhooks', 'Webhooks', 'webhook', 'jobs'],
  ],
  Settings: [
    ['/settings/organisation', 'Organisation', 'organisation', null],
    ['/settings/workspaces', 'Workspaces', 'workspace', 'jobs'],
    ['/settings/team', 'Team', 'team', null],
    ['/settings/audit-log', 'Audit log', 'log', 'administer'],
  ],
}

/** The documentation, support, and the pages of the operator that are set. Guest pages have only some. */
export function helpLinks(env: Env) {
  const { supportEmail, statusUrl, termsUrl, privacyUrl } = settingsOf(env)
  const support = supportEmail && `mailto:${supportEmail}`
  const links = [
    { href: '/docs', label: 'Documentation', icon: 'docs', isForGuests: true },
    { href: '/docs/api', label: 'API reference', icon: 'api', isForGuests: true },
    { href: support, label: 'Support', icon: 'support' },
    { href: '/docs/changelog', label: 'Changelog', icon: 'changelog' },
    { href: statusUrl, label: 'Status', icon: 'overview', isForGuests: true },
    { href: termsUrl, label: 'Terms', icon: 'log', isForGuests: true },
    { href: privacyUrl, label: 'Privacy', icon: 'log', isForGuests: true },
  ]
  return links.flatMap(({ href, ...link }) => (href ? [{ href, ...link }] : []))
}

/** The pages of the organisation that the member's role permits, and help. */
export const Navigation = ({ c }: { c: ConsoleContext }) => (
  <nav aria-label="Console">
    <search>
      <form method="get" action={pathOf(c, '/search')} class="search-any">
        <input
          name="q"
          type="search"
          aria-label="Search by ID"
          placeholder="Any ID"
          required
          maxlength={255}
          autocomplete="off"
          spellcheck={false}
        />
      </form>
    </search>
    {Object.entries(GROUPS).map(([name, entries]) => {
      const permitted = entries.filter(
        ([page, , , permission]) =>
          (!permission || permits(c.var.membership.role, permission)) &&
          // The request log has the requests of all workspaces.
          (page !== '/requests' || c.var.membership.workspaceIds === null),
      )
      if (permitted.length === 0) return null
      return (
        <NavigationGroup name={name}>
          {permitted.map(([page, label, icon]) => (
            <li>
              <Link to={page} aria-current={isCurrent(c, page) ? 'page' : undefined}>
                <Icon name={icon} />
                {label}
              </Link>
            </li>
          ))}
        </NavigationGroup>
      )
    })}
    <NavigationGroup name="Help">
      {helpLinks(c.env).map(({ href, label, icon }) => (
        <li>
          <a href={href}>
            <Icon name={icon} />
            {label}
          </a>
        </li>
      ))}
    </NavigationGroup>
  </nav>
)

const NavigationGroup = ({ name, children }: { name: string; children?: Child }) => {
  const id = name === '' ? undefined : `nav-${name.toLowerCase()}`
  return (
    <div>
      {name !== '' && <h2 id={id}>{name}</h2>}
      <ul aria-labelledby={id}>{children}</ul>
    </div>
  )
}

/** On narrow screens, opens the navigation, which follows the header. Works without JavaScript. */
export const NavigationToggle = () => (
  <details class="navigation-toggle">
    <summary>
      <Icon name="menu" />
      <span class="visually-hidden">Menu</span>
    </summary>
  </details>
)

/** Shows the organisation of the page and links to the user's other organisations. */
export const OrganisationMenu = ({ c }: { c: ConsoleContext }) => {
  const { membership, memberships } = c.var
  const { id, name } = membership.organisation
  return (
    <details class="menu organisation-menu">
      <summary title={name}>
        <span class="visually-hidden">Organisation </span>
        <span class="cut">{name}</span>
      </summary>
      <div>
        <ul>
          {memberships.map(({ organisation }) => (
            <li>
              <a
                href={consolePath(organisation.id)}
                class="cut"
                title={organisation.name}
                aria-current={organisation.id === id ? 'true' : undefined}
              >
                {organisation.name}
              </a>
            </li>
          ))}
        </ul>
        <a href="/console/onboarding/new">New organisation</a>
      </div>
    </details>
  )
}

export const AccountMenu = ({ c }: { c: ConsoleContext }) => (
  <details class="menu account-menu">
    <summary title={c.var.user.email}>
      <Icon name="account" />
      <span class="visually-hidden">Account</span>
    </summary>
    <div>
      <p>
        <small class="muted">Signed in as</small>
        <br />
        {c.var.user.email}
      </p>
      <a href="/console/account">Your account</a>
      <Switch name="theme" label="Theme" values={THEMES} chosen={themeOf(c)} />
      <PostForm action="/console/sign-out">
        <Button kind="secondary">Sign out</Button>
      </PostForm>
    </div>
  </details>
)

function isCurrent(c: ConsoleContext, page: string): boolean {
  const path = c.req.path.replace(/\/$/, '')
  const href = pathOf(c, page)
  return path === href || (page !== '' && path.startsWith(`${href}/`))
}

/** A decorative icon in the colour of the text. @param name a symbol of static/icons.svg */
const Icon = ({ name }: { name: string }) => (
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
    <use href={`/static/icons.svg#${name}`} />
  </svg>
)
