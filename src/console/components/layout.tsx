// The layout of every page: a single column for guests, with navigation for members.
import { html } from 'hono/html'
import type { Child } from 'hono/jsx'
import type { CreditStatus } from '../../credits/rpc.ts'
import { MODES } from '../../domain/job.ts'
import { settingsOf } from '../../platform/settings.ts'
import { takeNotice } from '../form-notices.ts'
import { CreditBanner, creditStatusOf } from './credit-banner.tsx'
import { pathOf, type ConsoleContext } from '../console-context.ts'
import { themeOf } from '../cookies.ts'
import { ActionForm, PostedForm } from './form.tsx'
import { Link, OrganisationPath, Notice, Timestamp } from './text.tsx'
import { Switch, TestBand } from './mode-switch.tsx'
import {
  AccountMenu,
  helpLinks,
  Navigation,
  NavigationToggle,
  OrganisationMenu,
} from './navigation.tsx'

export type Anchor = [href: string, text: string]

export interface PageOptions {
  c: ConsoleContext
  title: string
  /** By default 200, or 422 for a form with errors. */
  status?: 200 | 401 | 403 | 404 | 409 | 413 | 422 | 429 | 500 | 503 | undefined
  /** A script of this page, in addition to console.js. */
  script?: `/static/${string}.js` | undefined
  /** For a table of columns: a guest page is narrow otherwise. */
  wide?: boolean
  /** How often a browser without JavaScript reloads the page. */
  refreshSeconds?: number | undefined
}

interface MemberPageOptions extends Omit<PageOptions, 'wide'> {
  /** The pages above: their texts by their addresses. */
  above?: Record<string, string>
  /** Instead of the title; null for content with a heading of its own. */
  heading?: Child
  /** Beside the heading: the address of the list as a file. */
  csv?: string
  /** The credit status if the page has read it; null for a page without the banner. */
  credits?: CreditStatus | null
}

/** A page without navigation: for guests and for users without an organisation. */
export const guestPage = (page: PageOptions, content: Child) =>
  render(
    page,
    <body class={page.wide ? 'guest wide' : 'guest'}>
      <SkipLink />
      <header>
        <Brand />
      </header>
      <main id="content" tabindex={-1}>
        <FormNotice c={page.c} />
        {content}
      </main>
      <footer>
        {helpLinks(page.c.env)
          .filter(({ isForGuests }) => isForGuests)
          .map(({ href, label }) => (
            <a href={href}>{label}</a>
          ))}
      </footer>
      <Announcer />
    </body>,
  )

interface CardOptions extends PageOptions {
  /** Instead of the title. */
  heading?: Child
  /** The step of sign-up and onboarding. */
  step?: Step
  /** What helps if the content does not. */
  aside?: Anchor[]
}

/** A page for guests that is one card, such as a form. */
export const cardPage = ({ heading, step, aside, ...page }: CardOptions, content: Child) =>
  guestPage(
    page,
    <article>
      {step && <Steps current={step} />}
      <h1>{heading ?? page.title}</h1>
      {content}
      {aside && <Aside links={aside} />}
    </article>,
  )

/** Links below the content of a page. */
export const Aside = ({ links }: { links: Anchor[] }) => (
  <p class="aside">
    {links.map(([href, text]) => (
      <a href={href}>{text}</a>
    ))}
  </p>
)

const MODELESS =
  /\/(account|billing|credits|invitations|settings\/(organisation|workspaces|team|audit-log))/

/** A page of the selected organisation. */
export async function memberPage(
  { credits, above, heading, csv, ...page }: MemberPageOptions,
  content: Child,
) {
  const { c } = page
  const status = credits === undefined ? await creditStatusOf(c) : credits
  const h1 = heading !== null && <h1>{heading ?? page.title}</h1>
  return render(
    page,
    <OrganisationPath.Provider value={pathOf(c, '')}>
      <body class={c.var.mode === 'test' ? 'member test-mode' : 'member'}>
        <SkipLink />
        {c.var.mode === 'test' && !MODELESS.test(c.req.path) && <TestBand />}
        <header>
          <Brand />
          <OrganisationMenu c={c} />
          <Switch name="mode" label="Data mode" values={MODES} chosen={c.var.mode} />
          <AccountMenu c={c} />
          <NavigationToggle />
        </header>
        <Navigation c={c} />
        <main id="content" tabindex={-1}>
          <Suspension c={c} />
          <Deletion c={c} />
          {status && <CreditBanner c={c} status={status} />}
          <FormNotice c={c} />
          {above && <Breadcrumb to={above} />}
          {csv ? (
            <div class="bar">
              {h1}
              <Link to={csv}>Download CSV</Link>
            </div>
          ) : (
            h1
          )}
          {content}
        </main>
        <Announcer />
      </body>
    </OrganisationPath.Provider>,
  )
}

/** A part of such a page, which console.js reads again and replaces. */
export const memberFragment = (c: ConsoleContext, content: Child) =>
  c.html(<OrganisationPath.Provider value={pathOf(c, '')}>{content}</OrganisationPath.Provider>)

function render(page: PageOptions, body: Child) {
  const { c, title, script, refreshSeconds } = page
  const state = c.var.form ?? {}
  const { status = state.errors ? 422 : 200 } = page
  const theme = themeOf(c)
  const document = (
    <html lang="en" data-theme={theme === 'system' ? undefined : theme}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content={theme === 'system' ? 'light dark' : theme} />
        <title>{title} · Try-On</title>
        <link rel="icon" href="/static/icon.svg" type="image/svg+xml" />
        <link rel="stylesheet" href="/static/pico.classless.min.css" />
        <link rel="stylesheet" href="/static/console.css" />
        <script type="module" src="/static/console.js"></script>
        {script && <script type="module" src={script}></script>}
        {refreshSeconds !== undefined && (
          <noscript>
            <meta http-equiv="refresh" content={String(refreshSeconds)} />
          </noscript>
        )}
      </head>
      <PostedForm.Provider value={{ path: c.req.path, state }}>{body}</PostedForm.Provider>
    </html>
  )
  return c.html(html`<!doctype html>${document}`, status)
}

/** What the previous form has done. */
const FormNotice = ({ c }: { c: ConsoleContext }) => {
  const notice = takeNotice(c)
  return notice && <Notice kind={notice.kind}>{notice.text}</Notice>
}

/** console.js announces changes on the page to screen readers here. */
const Announcer = () => <p class="visually-hidden" role="status" data-announcer></p>

const SkipLink = () => (
  <a class="skip visually-hidden" href="#content">
    Skip to content
  </a>
)

const Brand = () => (
  <a class="brand" href="/console">
    <img src="/static/icon.svg" alt="" width="26" height="26" />
    <span>Try-On</span>
  </a>
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

/** The steps of sign-up and onboarding. */
const STEPS = [
  ['account', 'Account'],
  ['email', 'Email'],
  ['name', 'Organisation'],
  ['region', 'Region and workspace'],
  ['key', 'API key'],
] as const

type Step = (typeof STEPS)[number][0]

export const Steps = ({ current: name }: { current: Step }) => {
  const current = STEPS.findIndex(([step]) => step === name)
  return (
    <nav aria-label="Progress" class="steps">
      <ol>
        {STEPS.map(([, label], index) => (
          <li
            class={index < current ? 'done' : undefined}
            aria-current={index === current ? 'step' : undefined}
          >
            <span class="visually-hidden">{label}</span>
          </li>
        ))}
      </ol>
      <p class="muted">
        Step {current + 1} of {STEPS.length}: {STEPS[current]?.[1]}
      </p>
    </nav>
  )
}

/** The pages above the current one. @param to their texts by their addresses */
export const Breadcrumb = ({ to }: { to: Record<string, string> }) => (
  <p class="breadcrumb">
    {Object.entries(to).map(([page, text]) => (
      <Link to={page}>{text}</Link>
    ))}
  </p>
)

/** States that payments are not real. Shown on all pages of the sandbox and on Billing. */
export const SandboxBanner = () => (
  <aside class="notice sandbox">
    <strong>Sandbox payments: no money moves.</strong>
  </aside>
)
