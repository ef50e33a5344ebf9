// Onboarding: organisation name, billing region with the first workspace, first API key. The progress is stored,
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
import {
  ActionForm,
  Button,
  NameField,
  OrganisationNameField,
  PostForm,
} from '../components/form.tsx'
import { RadioCards } from '../components/radio-cards.tsx'
import { cardPage } from '../components/layout.tsx'
import { Notice, ButtonLink } from '../components/text.tsx'
import { name, pageWith, readForm, resultOf } from '../forms.ts'
import { selectOrganisation, requireSession } from '../middleware/session.ts'
import { actorOf, createApp, createMiddleware, type ConsoleContext } from '../console-context.ts'
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
const Region = z.object({
  region: z.enum(REGIONS, 'Choose a billing region.'),
  /** Of the first workspace. A page of the version before has a form of its own for it. */
  name: name.optional(),
})

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

  .use('/region', atStep('region'))
  .get('/region', (c) => regionPage(c))
  .post('/region', async (c) => {
    const { region, name: workspaceName } = await readForm(c, Region, regionPage)
    await chooseRegion({ ...ownerIn(c), regionCode: region })
    return workspaceName === undefined ? c.redirect(START, 303) : create(c, workspaceName)
  })

  // After a failure between the choice of the region and the creation.
  .use('/workspace', atStep('workspace'))
  .get('/workspace', (c) => workspacePage(c))
  .post('/workspace', async (c) => {
    const { name: workspaceName } = await readForm(c, Named, workspacePage)
    return create(c, workspaceName)
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

/** Redirects unless the step is the current one. The reload of the key page repeats the last step: the key is not shown twice. */
function atStep(step: keyof typeof PATHS) {
  return createMiddleware(async (c, next) => {
    const progress = await resume(c)
    if (progress && stepOf(progress) === step) return next()
    return c.redirect(progress?.completedAt ? PATHS.done : START, 303)
  })
}

/** Creates the organisation, and shows its first key. */
async function create(c: ConsoleContext, workspaceName: string) {
  const created = await completeOnboarding({ env: c.env, actor: actorOf(c), workspaceName })
  if (!created) return c.redirect(PATHS.done, 303)
  selectOrganisation(c, created.organisationId)
  return newKeyPage(c, created)
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
        <WorkspaceNameField />
        <Button>Create organisation</Button>
      </PostForm>
    </>,
  )

const workspacePage = (c: ConsoleContext) =>
  cardPage(
    { c, title: 'First workspace', heading: 'Name your first workspace', step: 'region' },
    <PostForm action={PATHS.workspace}>
      <WorkspaceNameField />
      <Button>Create organisation</Button>
    </PostForm>,
  )

const WorkspaceNameField = () => (
  <NameField
    label="Name of the first workspace"
    value="Default"
    hint="Workspaces group jobs, for example by shop or environment. You can add more later."
  />
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
