// Creating an organisation: its name, region and first workspace, then the first key, shown once.
import { Hono } from 'hono'
import { z } from 'zod'
import { isFreeEmail } from '../../accounts/email-address.ts'
import { invitationsTo } from '../../accounts/invitations.ts'
import { membershipsOf } from '../../accounts/members.ts'
import {
  beginOnboarding,
  chooseRegion,
  confirmName,
  findOnboarding,
  completeOnboarding,
  stepOf,
} from '../../accounts/onboarding.ts'
import type { OnboardingRow } from '../../db/auth-schema.ts'
import { REGIONS, currencyOf } from '../../domain/organisation.ts'
import { settingsOf } from '../../settings.ts'
import { baseUrlOf } from '../../http/base-url.ts'
import type { ConsoleApp, ConsoleContext } from '../context.ts'
import { name } from '../fields.ts'
import {
  ActionForm,
  Button,
  FormOrganisation,
  Field,
  Notice,
  PostForm,
  readForm,
} from '../components/form.tsx'
import type { FieldState } from '../components/form.tsx'
import { guestPage } from '../components/layout.tsx'
import { Copyable } from '../components/parts.tsx'
import { actorOf, selectOrganisation, requireSession } from '../middleware/session.ts'
import { Steps } from '../components/steps.tsx'

const REGION_NAMES = {
  IN: 'India',
  US: 'United States',
  EU: 'European Union',
  GLOBAL: 'Anywhere else',
} as const

export const onboarding = new Hono<ConsoleApp>()
  .use(requireSession)
  .get('/', async (c) => {
    const begun = await resume(c)
    const left = c.req.query('left') !== undefined
    if (begun && !begun.completedAt && !left) return c.redirect(ADDRESS[stepOf(begun)], 303)
    const { id, email } = c.var.person
    const [invited, joined] = await Promise.all([
      invitationsTo(c.env, email),
      membershipsOf(c.env, id),
    ])
    if (joined.length > 0) return c.redirect('/console', 303)
    if (invited.length > 0) return c.redirect('/console/invitations', 303)
    return nowherePage(c, begun)
  })

  .get('/name', async (c) => {
    const begun = await resume(c)
    if (begun?.completedAt) return c.redirect(ADDRESS.done, 303)
    return namePage(c, { entered: { name: begun?.organisationName ?? '' } })
  })
  .post('/name', async (c) => {
    const form = await readForm(c, z.object({ name }))
    if (!form.ok) return namePage(c, form)
    const owner = { env: c.env, userId: c.var.person.id }
    await beginOnboarding({ ...owner, organisationName: form.value.name })
    await confirmName({ ...owner, name: form.value.name })
    return c.redirect('/console/onboarding', 303)
  })

  .get('/region', async (c) => (await redirectUnless(c, 'region')) ?? regionPage(c))
  .post('/region', async (c) => {
    const elsewhere = await redirectUnless(c, 'region')
    if (elsewhere) return elsewhere
    const form = await readForm(
      c,
      z.object({ region: z.enum(REGIONS, 'Choose the region that you are billed in.') }),
    )
    if (!form.ok) return regionPage(c, form)
    await chooseRegion({ env: c.env, userId: c.var.person.id, regionCode: form.value.region })
    return c.redirect('/console/onboarding', 303)
  })

  .get('/workspace', async (c) => (await redirectUnless(c, 'workspace')) ?? workspacePage(c))
  .post('/workspace', async (c) => {
    const begun = await resume(c)
    // Reloading the page with the key posts the form again: the key is not shown twice.
    if (begun?.completedAt) return c.redirect(ADDRESS.done, 303)
    if (!begun || stepOf(begun) !== 'workspace') return c.redirect('/console/onboarding', 303)
    const form = await readForm(c, z.object({ name }))
    if (!form.ok) return workspacePage(c, form)
    const created = await completeOnboarding({
      env: c.env,
      actor: actorOf(c),
      workspaceName: form.value.name,
    })
    if (!created) return c.redirect(ADDRESS.done, 303)
    selectOrganisation(c, begun.organisationId)
    return keyPage(c, begun.organisationId, created)
  })

  .get('/key', async (c) => {
    const begun = await resume(c)
    if (!begun?.completedAt) return c.redirect('/console/onboarding', 303)
    return guestPage(
      c,
      { title: 'Your API key' },
      <article>
        <Steps at="key" />
        <h1>{begun.organisationName} is ready</h1>
        <p>
          Your first test key was shown once and cannot be shown again. If you have not kept it,
          create a new one under API keys.
        </p>
        <p class="buttons">
          <a href="/console/settings/api-keys" role="button">
            API keys
          </a>
          <a href="/console" role="button" class="secondary">
            Overview
          </a>
        </p>
      </article>,
    )
  })

const ADDRESS = {
  name: '/console/onboarding/name',
  region: '/console/onboarding/region',
  workspace: '/console/onboarding/workspace',
  done: '/console/onboarding/key',
} as const

/** How far it has come; begins it with the name given at sign-up. */
async function resume(c: ConsoleContext): Promise<OnboardingRow | undefined> {
  const { id, organisationName } = c.var.person
  const begun = await findOnboarding(c.env, id)
  if (begun || !organisationName) return begun
  return beginOnboarding({ env: c.env, userId: id, organisationName })
}

/** A step's page is shown only when it is its turn. */
async function redirectUnless(c: ConsoleContext, step: keyof typeof ADDRESS) {
  const begun = await resume(c)
  return begun && stepOf(begun) === step ? null : c.redirect('/console/onboarding', 303)
}

/** For who came by an invitation that is gone, left or was removed. A person founds only one. */
const nowherePage = (c: ConsoleContext, begun: OnboardingRow | undefined) =>
  guestPage(
    c,
    { title: 'No organisation' },
    <article>
      <h1>You are not a member of any organisation</h1>
      <p>
        {begun?.completedAt && 'You no longer belong to the one that you founded. '}
        You may have been removed, or have left. To join one, ask one of its owners to invite{' '}
        <strong>{c.var.person.email}</strong>.
      </p>
      <div class="buttons">
        {!begun?.completedAt && (
          <a href={ADDRESS.name} role="button">
            Create an organisation
          </a>
        )}
        <ActionForm action="/console/sign-out" label="Sign out" />
      </div>
      <p class="aside">
        <a href="/console/account/delete">Delete your account</a>
      </p>
    </article>,
  )

function namePage(c: ConsoleContext, state: FieldState) {
  return guestPage(
    c,
    { title: 'Your organisation', status: state.complaints ? 422 : 200 },
    <article>
      <Steps at="name" />
      <h1>Confirm your organisation</h1>
      <p>This name appears on invoices and to the people you invite.</p>
      <form method="post" action={ADDRESS.name} novalidate>
        <Field
          name="name"
          label="Organisation name"
          autocomplete="organization"
          state={state}
          maxlength={100}
          autofocus
        />
        <Button>Confirm</Button>
      </form>
    </article>,
  )
}

function regionPage(c: ConsoleContext, state: FieldState = {}) {
  const error = state.complaints?.['region']
  return guestPage(
    c,
    { title: 'Billing region', status: error ? 422 : 200 },
    <article>
      <Steps at="region" />
      <h1>Choose your billing region</h1>
      <Notice kind="info">
        The region sets your currency. <strong>It cannot be changed afterwards.</strong>
      </Notice>
      <form method="post" action={ADDRESS.region} novalidate>
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
        <Button>Choose for good</Button>
      </form>
      <p class="aside">
        <a href={ADDRESS.name}>Back to the name</a>
      </p>
    </article>,
  )
}

function workspacePage(c: ConsoleContext, state: FieldState = {}) {
  return guestPage(
    c,
    { title: 'First workspace', status: state.complaints ? 422 : 200 },
    <article>
      <Steps at="workspace" />
      <h1>Name your first workspace</h1>
      <p>
        Workspaces keep jobs apart, for instance by shop or by environment. You can add more later.
      </p>
      <form method="post" action={ADDRESS.workspace} novalidate>
        <Field
          name="name"
          label="Workspace name"
          value="Default"
          state={state}
          maxlength={100}
          autofocus
        />
        <Button>Create and show my API key</Button>
      </form>
    </article>,
  )
}

function keyPage(
  c: ConsoleContext,
  organisationId: string,
  { key, freeCredits }: { key: string; freeCredits: number },
) {
  return guestPage(
    c,
    { title: 'Your API key' },
    <article>
      <Steps at="key" />
      <h1>Your test API key</h1>
      <Notice kind="info">
        <strong>This key is shown only once.</strong> Store it somewhere safe before you leave.{' '}
        {freeCredits > 0 && `Your organisation has ${freeCredits} free credits. `}
        Test jobs cost no credits.
      </Notice>
      {freeCredits === 0 && <NoFreeCredits c={c} />}
      <Copyable label="Your test API key" text={key} />
      <h2>Try it from a terminal</h2>
      <Copyable label="A command that submits a job" text={curlOf(baseUrlOf(c), key)} />
      <h2>Or try it here</h2>
      <FormOrganisation.Provider value={organisationId}>
        <PostForm action="/console/playground/sample" target="_blank" data-run>
          <input type="hidden" name="nonce" value={crypto.randomUUID()} />
          <Button kind="secondary">Run it now</Button>
        </PostForm>
      </FormOrganisation.Provider>
      <div data-run-result aria-live="polite"></div>
      <p class="aside">
        <a href="/console">I have stored the key: go to the console</a>
      </p>
    </article>,
  )
}

const NoFreeCredits = ({ c }: { c: ConsoleContext }) => {
  const { allowFreeEmail, supportEmail } = settingsOf(c.env)
  const reason = () => {
    if (!isFreeEmail(c.var.person.email)) {
      return 'Your company’s domain has already received its free credits.'
    }
    return allowFreeEmail
      ? 'Your email address has already received its free credits.'
      : 'Free credits are for work email addresses.'
  }
  return (
    <Notice kind="info">
      <strong>Your organisation has no credits yet.</strong> {reason()} To run live jobs, buy
      credits or{' '}
      {supportEmail ? <a href={`mailto:${supportEmail}`}>contact support</a> : 'contact support'}.
    </Notice>
  )
}

const curlOf = (baseUrl: string, key: string) => `curl ${baseUrl}/v1/tryon \\
  -H 'Authorization: Bearer ${key}' \\
  -H 'Content-Type: application/json' \\
  -H 'Prefer: wait=10' \\
  -d '{
    "model_image_url": "https://shop.example/model.jpg",
    "garment_image_url": "https://shop.example/shirt.png"
  }'`
