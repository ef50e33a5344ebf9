// Starts the onboarding of a further organisation. Its next steps are those of the first one.
import { Hono } from 'hono'
import { z } from 'zod'
import { MAX_OWNED_ORGANISATIONS } from '../../organisations/organisation-limits.ts'
import { beginAnother, findOnboarding } from '../../users/onboarding.ts'
import { OrganisationNameForm } from './onboarding-steps.tsx'
import { guestPage } from '../components/layout.tsx'
import type { ConsoleApp, ConsoleContext } from '../console-context.ts'
import { name } from '../fields.ts'
import { requireSession } from '../middleware/session.ts'
import { formStateOf, readForm } from '../read-form.ts'
import type { FormState } from '../read-form.ts'

export const newOrganisation = new Hono<ConsoleApp>()
  .use(requireSession)
  .get('/', async (c) => {
    const progress = await findOnboarding(c.env, c.var.user.id)
    const isOpen = progress && !progress.completedAt
    return isOpen ? c.redirect('/console/onboarding', 303) : namePage(c)
  })
  .post('/', async (c) => {
    const form = await readForm(c, z.object({ name }))
    if (!form.ok) return namePage(c, form)
    try {
      await beginAnother({ env: c.env, userId: c.var.user.id, name: form.data.name })
    } catch (error) {
      return namePage(c, formStateOf(error, form.data))
    }
    return c.redirect('/console/onboarding', 303)
  })

const namePage = (c: ConsoleContext, state: FormState = {}) =>
  guestPage(
    c,
    { title: 'New organisation', status: state.errors ? 422 : 200 },
    <article>
      <h1>New organisation</h1>
      <p>
        An organisation has its own billing region, credits, members and API keys. You can own{' '}
        {MAX_OWNED_ORGANISATIONS} organisations. Free credits are granted once per company.
      </p>
      <OrganisationNameForm action="/console/onboarding/new" state={state} />
      <p class="aside">
        <a href="/console">Back to the console</a>
      </p>
    </article>,
  )
