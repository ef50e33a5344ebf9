// The organisation itself: its name, how long pictures are stored, its data as a file, its deletion.
import { Hono } from 'hono'
import { z } from 'zod'
import {
  cancelOrganisationDeletion,
  scheduleOrganisationDeletion,
} from '../../accounts/delete-organisation.ts'
import { exportOrganisation } from '../../accounts/export-organisation.ts'
import { GRACE_PERIOD_DAYS } from '../../accounts/grace-period.ts'
import { updateOrganisation } from '../../accounts/organisations.ts'
import { baseUrlOf } from '../../http/base-url.ts'
import type { OrganisationRow } from '../../db/schema.ts'
import { currencyOf } from '../../domain/organisation.ts'
import type { ConsoleApp, ConsoleContext } from '../context.ts'
import { download } from '../download.tsx'
import { name } from '../fields.ts'
import { Button, Field, Notice, PostForm, readForm } from '../components/form.tsx'
import type { FieldState } from '../components/form.tsx'
import { memberPage } from '../components/layout.tsx'
import { checkPassword, currentPassword } from '../password.ts'
import { When } from '../components/parts.tsx'
import { requestOf } from '../middleware/session.ts'

const PAGE = '/console/settings/organisation'

const days = z.coerce
  .number<string>('Enter a whole number from 1 to 365.')
  .int('Enter a whole number from 1 to 365.')
  .min(1, 'Enter a whole number from 1 to 365.')
  .max(365, 'Enter a whole number from 1 to 365.')

const DONE: Record<string, string> = {
  renamed: 'The organisation is renamed.',
  retention: 'Saved. Older pictures are deleted within the next day.',
  restored: 'The deletion is cancelled.',
}

export const organisationSettings = new Hono<ConsoleApp>()
  .get('/', (c) => settingsPage(c))
  .post('/name', async (c) => {
    const form = await readForm(c, z.object({ name }))
    if (!form.ok) return settingsPage(c, form)
    await updateOrganisation({ ...requestOf(c), change: { name: form.value.name } })
    return c.redirect(`${PAGE}?done=renamed`, 303)
  })
  .post('/retention', async (c) => {
    const form = await readForm(c, z.object({ days }))
    if (!form.ok) return settingsPage(c, form)
    await updateOrganisation({
      ...requestOf(c),
      change: { outputRetentionDays: form.value.days },
    })
    return c.redirect(`${PAGE}?done=retention`, 303)
  })
  .post('/export', async (c) => {
    const call = requestOf(c)
    const exported = await exportOrganisation({ ...call, baseUrl: baseUrlOf(c) })
    return download(c, exported, `try-on-${call.organisationId}`)
  })
  .post('/delete', async (c) => {
    const { organisation } = c.var.membership
    const confirmation = z
      .string()
      .trim()
      .refine((text) => text === organisation.name, `Enter “${organisation.name}” to confirm.`)
    const form = await readForm(c, z.object({ confirmation, password: currentPassword }))
    if (!form.ok) return settingsPage(c, form)
    const checked = await checkPassword(c, form.value.password)
    if (checked instanceof Response) return checked
    if (checked === 'wrong') {
      const complaints = { password: 'This is not your password.' }
      return settingsPage(c, { complaints, entered: { confirmation: organisation.name } })
    }
    await scheduleOrganisationDeletion({ ...requestOf(c), baseUrl: baseUrlOf(c) })
    return c.redirect(PAGE, 303)
  })
  .post('/keep', async (c) => {
    await cancelOrganisationDeletion(requestOf(c))
    return c.redirect(`${PAGE}?done=restored`, 303)
  })

function settingsPage(c: ConsoleContext, state: FieldState = {}) {
  const { organisation, role } = c.var.membership
  const isOwner = role === 'owner'
  const done = DONE[c.req.query('done') ?? '']
  return memberPage(
    c,
    { title: 'Organisation', status: state.complaints ? 422 : 200 },
    <>
      <h1>Organisation</h1>
      {done && <Notice kind="good">{done}</Notice>}
      {!isOwner && <p>Only owners can change these settings.</p>}
      <dl>
        {!isOwner && (
          <>
            <dt>Name</dt>
            <dd>{organisation.name}</dd>
            <dt>Pictures are stored for</dt>
            <dd>{daysOf(organisation.outputRetentionDays)}</dd>
          </>
        )}
        <dt>Billing region</dt>
        <dd>{organisation.regionCode}</dd>
        <dt>Currency</dt>
        <dd>{currencyOf(organisation.regionCode)}</dd>
        <dt>Organisation id</dt>
        <dd class="id">{organisation.id}</dd>
        <dt>Created</dt>
        <dd>
          <When at={organisation.createdAt} />
        </dd>
      </dl>
      {isOwner && <OwnerSettings organisation={organisation} state={state} />}
    </>,
  )
}

const OwnerSettings = ({
  organisation,
  state,
}: {
  organisation: OrganisationRow
  state: FieldState
}) => (
  <>
    <section class="card" aria-labelledby="name-heading">
      <h2 id="name-heading">Name</h2>
      <PostForm action={`${PAGE}/name`} novalidate>
        <Field
          name="name"
          label="Organisation name"
          value={organisation.name}
          autocomplete="organization"
          state={state}
          maxlength={100}
        />
        <Button>Rename</Button>
      </PostForm>
    </section>
    <section class="card" aria-labelledby="retention-heading">
      <h2 id="retention-heading">Retention</h2>
      <p>
        Result pictures, and the image URLs of their jobs, are deleted after this number of days.
      </p>
      <PostForm action={`${PAGE}/retention`} novalidate>
        <Field
          name="days"
          label="Days"
          type="number"
          value={String(organisation.outputRetentionDays)}
          hint="From 1 to 365. Also applies to pictures that are stored already."
          state={state}
        />
        <Button>Save</Button>
      </PostForm>
    </section>
    <section class="card" aria-labelledby="export-heading">
      <h2 id="export-heading">Export</h2>
      <p>
        Downloads the organisation’s data as one JSON file: workspaces, members, API keys without
        their secrets, jobs, webhook deliveries, credits and the audit log. Links to pictures in it
        work for one hour.
      </p>
      <PostForm action={`${PAGE}/export`} data-download>
        <Button kind="secondary">Export as JSON</Button>
      </PostForm>
    </section>
    {organisation.deleteAfter === null && <Deletion organisation={organisation} state={state} />}
  </>
)

const Deletion = ({
  organisation,
  state,
}: {
  organisation: OrganisationRow
  state: FieldState
}) => (
  <section class="card" aria-labelledby="delete-heading">
    <h2 id="delete-heading">Delete the organisation</h2>
    <p>
      Jobs are rejected at once and pending jobs are cancelled. After {GRACE_PERIOD_DAYS} days all
      jobs, pictures, keys, workspaces, members and remaining credits are deleted. Until then an
      owner can cancel the deletion here.
    </p>
    <PostForm action={`${PAGE}/delete`} novalidate>
      <Field
        name="confirmation"
        label={`Enter “${organisation.name}” to confirm`}
        autocomplete="off"
        state={state}
      />
      <Field
        name="password"
        label="Your password"
        type="password"
        autocomplete="current-password"
        state={state}
      />
      <Button kind="danger">Delete {organisation.name}</Button>
    </PostForm>
  </section>
)

const daysOf = (count: number) => `${count} ${count === 1 ? 'day' : 'days'}`
