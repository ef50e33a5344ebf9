// Organisation settings: name, retention, data export and deletion.
import { z } from 'zod'
import {
  cancelOrganisationDeletion,
  scheduleOrganisationDeletion,
} from '../../privacy/delete-organisation.ts'
import { exportOrganisation } from '../../privacy/export-organisation.ts'
import { GRACE_PERIOD_DAYS } from '../../organisations/grace-period.ts'
import { updateOrganisation } from '../../billing/update-organisation.ts'
import { readTeam, type Member } from '../../organisations/members.ts'
import { consolePath } from '../../domain/console-path.ts'
import { CopyableId } from '../components/copyable-text.tsx'
import { Link, Timestamp, ButtonLink } from '../components/text.tsx'
import { baseUrlOf } from '../../http/base-url.ts'
import type { OrganisationRow } from '../../platform/db/schema.ts'
import { currencyOf } from '../../domain/organisation.ts'
import { exportResponse } from '../downloads.ts'
import { name, currentPassword, pageWith, readForm } from '../forms.ts'
import { Button, Field, OrganisationNameField, PostForm } from '../components/form.tsx'
import { MAX_RETENTION_DAYS, MIN_RETENTION_DAYS } from '../../domain/limits.ts'
import { memberPage } from '../components/layout.tsx'
import { confirmIdentity, IdentityFields } from '../confirm-identity.tsx'
import { createApp, scopeOf, type ConsoleContext } from '../console-context.ts'
import { detailList, Section } from '../components/section.tsx'
import { redirectTo } from '../form-notices.ts'

const PAGE = '/settings/organisation'

const DAYS_ERROR = `Enter a whole number from ${MIN_RETENTION_DAYS} to ${MAX_RETENTION_DAYS}.`
const days = z.coerce
  .number<string>(DAYS_ERROR)
  .int(DAYS_ERROR)
  .min(MIN_RETENTION_DAYS, DAYS_ERROR)
  .max(MAX_RETENTION_DAYS, DAYS_ERROR)

export const organisationSettings = createApp()
  .get('/', (c) => settingsPage(c))
  .post('/name', async (c) => {
    const change = await readForm(c, z.object({ name }), settingsPage)
    await updateOrganisation({ ...scopeOf(c), change })
    return redirectTo(c, PAGE, 'organisation_renamed')
  })
  .post('/retention', async (c) => {
    const form = await readForm(c, z.object({ days }), settingsPage)
    await updateOrganisation({ ...scopeOf(c), change: { outputRetentionDays: form.days } })
    return redirectTo(c, PAGE, 'retention_saved')
  })
  .post('/export', async (c) => {
    const scope = scopeOf(c)
    const exported = await exportOrganisation({ ...scope, baseUrl: baseUrlOf(c) })
    return exportResponse(c, exported, `try-on-${scope.organisationId}`)
  })
  .post('/delete', async (c) => {
    const { organisation } = c.var.membership
    const confirmation = z
      .string()
      .trim()
      .refine((text) => text === organisation.name, `Enter “${organisation.name}” to confirm.`)
    await readForm(c, z.object({ confirmation, password: currentPassword }), settingsPage)
    const values = { confirmation: organisation.name }
    await confirmIdentity(c, () => pageWith(c, settingsPage, { ...c.var.form, values }))
    await scheduleOrganisationDeletion({ ...scopeOf(c), baseUrl: baseUrlOf(c) })
    return redirectTo(c, PAGE)
  })
  .post('/keep', async (c) => {
    const { planEnds } = await cancelOrganisationDeletion(scopeOf(c))
    // Billing offers to keep the plan.
    return redirectTo(c, planEnds ? '/billing' : PAGE, 'deletion_cancelled')
  })

async function settingsPage(c: ConsoleContext) {
  const { members } = await readTeam(scopeOf(c))
  const { organisation, role } = c.var.membership
  const isOwner = role === 'owner'
  return memberPage(
    { c, title: 'Organisation' },
    <>
      {!isOwner && <p>Only owners can change these settings.</p>}
      {detailList({
        Name: !isOwner && organisation.name,
        'Retention of images': !isOwner && daysOf(organisation.outputRetentionDays),
        'Billing region': organisation.regionCode,
        Currency: currencyOf(organisation.regionCode),
        Members: <Link to="/settings/team">{members.length}</Link>,
        'Organisation ID': <CopyableId id={organisation.id} label="the organisation ID" />,
        Address: (
          <CopyableId
            id={baseUrlOf(c) + consolePath(organisation.id)}
            label="the address of the organisation"
          />
        ),
        Created: <Timestamp at={organisation.createdAt} />,
      })}
      {isOwner && ownerSettings(organisation)}
      <Section id="leave-heading" title="Leave organisation" card>
        {leaveContent(c, members)}
      </Section>
      {isOwner && organisation.deleteAfter === null && deletion(c)}
    </>,
  )
}

const ownerSettings = (organisation: OrganisationRow) => (
  <>
    <Section id="name-heading" title="Name" card>
      <PostForm to={`${PAGE}/name`}>
        <OrganisationNameField value={organisation.name} />
        <Button>Rename</Button>
      </PostForm>
    </Section>
    <Section id="retention-heading" title="Retention" card>
      <p>Result images and the image URLs of jobs are deleted after this number of days.</p>
      <PostForm to={`${PAGE}/retention`}>
        <Field
          name="days"
          label="Days"
          type="number"
          value={String(organisation.outputRetentionDays)}
          hint={`From ${MIN_RETENTION_DAYS} to ${MAX_RETENTION_DAYS}. Also applies to images that are already stored.`}
        />
        <Button>Save</Button>
      </PostForm>
    </Section>
    <Section id="export-heading" title="Export" card>
      <p>
        Downloads the data of the organisation as a JSON file: workspaces, members, API keys without
        their secrets, jobs, webhook deliveries, credits and the audit log. The links to result
        images are valid for one hour.
      </p>
      <PostForm to={`${PAGE}/export`} data-download>
        <Button kind="secondary">Export as JSON</Button>
      </PostForm>
    </Section>
  </>
)

function leaveContent(c: ConsoleContext, members: Member[]) {
  const { organisation, role } = c.var.membership
  const owners = members.filter((member) => member.role === 'owner')
  return role === 'owner' && owners.length === 1 ? (
    <p>
      You are the only owner. Make another member an owner under{' '}
      <Link to="/settings/team">Team</Link> first, or delete the organisation.
    </p>
  ) : (
    <>
      <p>You lose access to {organisation.name}. Other members are not affected.</p>
      <p>
        <ButtonLink
          to={`/settings/team/members/${c.var.user.id}/remove`}
          label="Leave organisation"
        />
      </p>
    </>
  )
}

function deletion(c: ConsoleContext) {
  const { name: current } = c.var.membership.organisation
  return (
    <Section id="delete-heading" title="Delete organisation" card>
      <p>
        New jobs are rejected and pending jobs are cancelled immediately. After {GRACE_PERIOD_DAYS}{' '}
        days, all jobs, images, API keys, workspaces, members and remaining credits are deleted.
        Until then, an owner can cancel the deletion.
      </p>
      <PostForm to={`${PAGE}/delete`}>
        <Field name="confirmation" label={`Enter “${current}” to confirm`} autocomplete="off" />
        <IdentityFields user={c.var.user} label="Your password" />
        <Button kind="danger">Delete {current}</Button>
      </PostForm>
    </Section>
  )
}

const daysOf = (count: number) => `${count} ${count === 1 ? 'day' : 'days'}`
