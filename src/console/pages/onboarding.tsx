// Onboarding: organisation name, billing region, first workspace, first API key. The progress is stored,
// so that a user can continue in another browser. A further organisation has the same steps.
import { z } from 'zod'
import { invitationsTo } from '../../organisations/invitations.ts'
import { membershipsOf } from '../../organisations/members.ts'
import { MAX_OWNED_ORGANISATIONS } from '../../organisations/organisation-limits.ts'
import {
  beginAnother,
  beginOnboarding,
  chooseRegion,
  confirmName,
  findOnboarding,
  completeOnboarding,
  stepOf,
} from '../../users/onboarding.ts'
import type { OnboardingRow } from '../../platform/db/auth-schema.ts'
import { REGIONS, currencyOf } from '../../domain/organisation.ts'
import { ActionForm, Button, Field, OrganisationNameField, PostForm } from '../components/form.tsx'
import { RadioCards } from '../components/radio-cards.tsx'
import { cardPage } from '../components/layout.tsx'
import { Notice, ButtonLink } from '../components/text.tsx'
import { name, pageWith, readForm, resultOf } from '../forms.ts'
import { selectOrganisation, requireSession } from '../middleware/session.ts'
import { createApp, actorOf, type ConsoleContext } from '../console-context.ts'
import { newKeyPage, storedKeyPage } from './onboarding-key.tsx'

const START = '/console/onboarding'
const PATHS = {
  name: `${START}/name`,
  region: `${START}/region`,
  workspace: `${START}/workspace`,
  done: `${START}/key`,
} as const

const REGION_NAMES = {
  IN: 'India',
  US: 'United States',
  EU: 'European Union',
  GLOBAL: 'Rest of the world',
} as const

const Named = z.object({ name })
const Region = z.object({ region: z.enum(REGIONS, 'Choose a billing region.') })

export const onboarding = createApp()
  .use(requireSession)
  .get('/', async (c) => {
    const progress = await resume(c)
    const left = c.req.query('left') !== undefined
    if (progress && !progress.completedAt && !left) return c.redirect(PATHS[stepOf(progress)], 303)
    const { id, email } = c.var.user
    const [invited, joined] = await Promise.all([
      invitationsTo(c.env, email),
      membershipsOf(c.env, id),
    ])
    if (joined.length > 0) return c.redirect('/console', 303)
    if (invited.length > 0) return c.redirect('/console/invitations', 303)
    return noOrganisationPage(c)
  })

  .get('/new', async (c) => {
    const progress = await findOnboarding(c.env, c.var.user.id)
    const isOpen = progress && !progress.completedAt
    return isOpen ? c.redirect(START, 303) : newOrganisationPage(c)
  })
  .post('/new', async (c) => {
    const named = await readForm(c, Named, newOrganisationPage)
    await resultOf(c, newOrganisationPage, beginAnother({ ...ownerIn(c), ...named }))
    return c.redirect(START, 303)
  })

  .get('/name', async (c) => {
    const progress = await resume(c)
    if (progress?.completedAt) return c.redirect(PATHS.done, 303)
    return pageWith(c, namePage, { values: { name: progress?.organisationName ?? '' } })
  })
  .post('/name', async (c) => {
    const named = await readForm(c, Named, namePage)
    await beginOnboarding({ ...ownerIn(c), organisationName: named.name })
    await confirmName({ ...ownerIn(c), ...named })
    return c.redirect(START, 303)
  })

  .get('/region', async (c) => (await redirectUnless(c, 'region')) ?? regionPage(c))
  .post('/region', async (c) => {
    const redirect = await redirectUnless(c, 'region')
    if (redirect) return redirect
    const { region } = await readForm(c, Region, regionPage)
    await chooseRegion({ ...ownerIn(c), regionCode: region })
    return c.redirect(START, 303)
  })

  .get('/workspace', async (c) => (await redirectUnless(c, 'workspace')) ?? workspacePage(c))
  .post('/workspace', async (c) => {
    const progress = await resume(c)
    // Reloading the key page posts the form again. The key is not shown twice.
    if (progress?.completedAt) return c.redirect(PATHS.done, 303)
    if (!progress || stepOf(progress) !== 'workspace') return c.redirect(START, 303)
    const { name: workspaceName } = await readForm(c, Named, workspacePage)
    const created = await completeOnboarding({ env: c.env, actor: actorOf(c), workspaceName })
    if (!created) return c.redirect(PATHS.done, 303)
    selectOrganisation(c, progress.organisationId)
    return newKeyPage(c, progress.organisationId, created)
  })

  .get('/key', async (c) => {
    const progress = await resume(c)
    if (!progress?.completedAt) return c.redirect(START, 303)
    return storedKeyPage(c, progress.organisationName)
  })

const ownerIn = (c: ConsoleContext) => ({ env: c.env, userId: c.var.user.id })

/** Returns the stored progress. Starts onboarding with the organisation name of the sign-up form. */
async function resume(c: ConsoleContext): Promise<OnboardingRow | undefined> {
  const { id, organisationName } = c.var.user
  const progress = await findOnboarding(c.env, id)
  if (progress || !organisationName) return progress
  return beginOnboarding({ ...ownerIn(c), organisationName })
}

/** Redirects if the step is not the current one. */
async function redirectUnless(c: ConsoleContext, step: keyof typeof PATHS) {
  const progress = await resume(c)
  return progress && stepOf(progress) === step ? null : c.redirect(START, 303)
}

const newOrganisationPage = (c: ConsoleContext) =>
  cardPage(
    { c, title: 'New organisation', aside: [['/console', 'Back to the console']] },
    <>
      <p>
        An organisation has its own billing region, credits, members and API keys. You can own{' '}
        {MAX_OWNED_ORGANISATIONS} organisations. Free credits are granted once per company.
      </p>
      <OrganisationNameForm action={`${START}/new`} />
    </>,
  )

const namePage = (c: ConsoleContext) =>
  cardPage(
    { c, title: 'Your organisation', heading: 'Confirm your organisation', step: 'name' },
    <>
      <p>The name appears on invoices and in invitations.</p>
      <OrganisationNameForm action={PATHS.name} />
    </>,
  )

const OrganisationNameForm = ({ action }: { action: string }) => (
  <PostForm action={action}>
    <OrganisationNameField autofocus />
    <Button>Continue</Button>
  </PostForm>
)

const regionPage = (c: ConsoleContext) =>
  cardPage(
    {
      c,
      title: 'Billing region',
      heading: 'Choose your billing region',
      step: 'region',
      aside: [[PATHS.name, 'Back']],
    },
    <>
      <Notice kind="info">
        The region determines your currency. <strong>You cannot change it later.</strong>
      </Notice>
      <PostForm action={PATHS.region}>
        <RadioCards
          name="region"
          legend="Billing region"
          options={REGIONS.map((region) => ({
            value: region,
            label: REGION_NAMES[region],
            note: <strong>{currencyOf(region)}</strong>,
          }))}
        />
        <Button>Confirm region</Button>
      </PostForm>
    </>,
  )

const workspacePage = (c: ConsoleContext) =>
  cardPage(
    { c, title: 'First workspace', heading: 'Name your first workspace', step: 'workspace' },
    <>
      <p>Workspaces group jobs, for example by shop or environment. You can add more later.</p>
      <PostForm action={PATHS.workspace}>
        <Field name="name" label="Workspace name" value="Default" maxlength={100} autofocus />
        <Button>Create organisation</Button>
      </PostForm>
    </>,
  )

/** For a user who left, was removed, or whose invitation is no longer open. */
const noOrganisationPage = (c: ConsoleContext) =>
  cardPage(
    {
      c,
      title: 'No organisation',
      heading: 'You are not a member of any organisation',
      aside: [['/console/account/delete', 'Delete your account']],
    },
    <>
      <p>
        To join an organisation, ask one of its owners to invite <strong>{c.var.user.email}</strong>
        .
      </p>
      <div class="buttons">
        <ButtonLink href={`${START}/new`} kind="primary" label="Create an organisation" />
        <ActionForm action="/console/sign-out" label="Sign out" />
      </div>
    </>,
  )
