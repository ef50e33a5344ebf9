// Onboarding: organisation name, billing region, first workspace, first API key. The progress is stored,
// so that a user can continue in another browser.
import { Hono } from 'hono'
import { z } from 'zod'
import { invitationsTo } from '../../organisations/invitations.ts'
import { membershipsOf } from '../../organisations/members.ts'
import {
  beginOnboarding,
  chooseRegion,
  confirmName,
  findOnboarding,
  completeOnboarding,
  stepOf,
} from '../../users/onboarding.ts'
import type { OnboardingRow } from '../../platform/db/auth-schema.ts'
import { REGIONS } from '../../domain/organisation.ts'
import type { ConsoleApp, ConsoleContext } from '../console-context.ts'
import { name } from '../fields.ts'
import { actorOf, selectOrganisation, requireSession } from '../middleware/session.ts'
import { readForm } from '../read-form.ts'
import { newKeyPage, storedKeyPage } from './onboarding-key.tsx'
import { namePage, noOrganisationPage, regionPage, workspacePage } from './onboarding-steps.tsx'

const PATHS = {
  name: '/console/onboarding/name',
  region: '/console/onboarding/region',
  workspace: '/console/onboarding/workspace',
  done: '/console/onboarding/key',
} as const

export const onboarding = new Hono<ConsoleApp>()
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

  .get('/name', async (c) => {
    const progress = await resume(c)
    if (progress?.completedAt) return c.redirect(PATHS.done, 303)
    return namePage(c, { values: { name: progress?.organisationName ?? '' } })
  })
  .post('/name', async (c) => {
    const form = await readForm(c, z.object({ name }))
    if (!form.ok) return namePage(c, form)
    const owner = { env: c.env, userId: c.var.user.id }
    await beginOnboarding({ ...owner, organisationName: form.data.name })
    await confirmName({ ...owner, name: form.data.name })
    return c.redirect('/console/onboarding', 303)
  })

  .get('/region', async (c) => (await redirectUnless(c, 'region')) ?? regionPage(c))
  .post('/region', async (c) => {
    const redirect = await redirectUnless(c, 'region')
    if (redirect) return redirect
    const form = await readForm(
      c,
      z.object({ region: z.enum(REGIONS, 'Choose a billing region.') }),
    )
    if (!form.ok) return regionPage(c, form)
    await chooseRegion({ env: c.env, userId: c.var.user.id, regionCode: form.data.region })
    return c.redirect('/console/onboarding', 303)
  })

  .get('/workspace', async (c) => (await redirectUnless(c, 'workspace')) ?? workspacePage(c))
  .post('/workspace', async (c) => {
    const progress = await resume(c)
    // Reloading the key page posts the form again. The key is not shown twice.
    if (progress?.completedAt) return c.redirect(PATHS.done, 303)
    if (!progress || stepOf(progress) !== 'workspace') return c.redirect('/console/onboarding', 303)
    const form = await readForm(c, z.object({ name }))
    if (!form.ok) return workspacePage(c, form)
    const created = await completeOnboarding({
      env: c.env,
      actor: actorOf(c),
      workspaceName: form.data.name,
    })
    if (!created) return c.redirect(PATHS.done, 303)
    selectOrganisation(c, progress.organisationId)
    return newKeyPage(c, progress.organisationId, created)
  })

  .get('/key', async (c) => {
    const progress = await resume(c)
    if (!progress?.completedAt) return c.redirect('/console/onboarding', 303)
    return storedKeyPage(c, progress.organisationName)
  })

/** Returns the stored progress. Starts onboarding with the organisation name of the sign-up form. */
async function resume(c: ConsoleContext): Promise<OnboardingRow | undefined> {
  const { id, organisationName } = c.var.user
  const progress = await findOnboarding(c.env, id)
  if (progress || !organisationName) return progress
  return beginOnboarding({ env: c.env, userId: id, organisationName })
}

/** Redirects if the step is not the current one. */
async function redirectUnless(c: ConsoleContext, step: keyof typeof PATHS) {
  const progress = await resume(c)
  return progress && stepOf(progress) === step ? null : c.redirect('/console/onboarding', 303)
}
