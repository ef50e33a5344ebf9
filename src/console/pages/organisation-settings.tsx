// Organisation settings: name, retention, data export and deletion.
import { Hono } from 'hono'
import { z } from 'zod'
import {
  cancelOrganisationDeletion,
  scheduleOrganisationDeletion,
} from '../../accounts/delete-organisation.ts'
import { exportOrganisation } from '../../accounts/export-organisation.ts'
import { GRACE_PERIOD_DAYS } from '../../accounts/grace-period.ts'
import { updateOrganisation } from '../../accounts/organisations.ts'
import { readTeam } from '../../accounts/members.ts'
import type { Member } from '../../accounts/members.ts'
import { consolePath } from '../../domain/console-path.ts'
import { CopyableId } from '../components/copyable-text.tsx'
import { Link } from '../components/link.tsx'
import { baseUrlOf } from '../../http/base-url.ts'
import type { OrganisationRow } from '../../db/schema.ts'
import { currencyOf } from '../../domain/organisation.ts'
import type { ConsoleApp, ConsoleContext, SessionUser } from '../context.ts'
import { exportResponse } from '../components/export-response.tsx'
import { name, currentPassword } from '../fields.ts'
import { Button, Field, PostForm } from '../components/form.tsx'
import { Notice } from '../components/notice.tsx'
import { readForm } from '../read-form.ts'
import { MAX_RETENTION_DAYS, MIN_RETENTION_DAYS } from '../../domain/limits.ts'
import type { FormState } from '../read-form.ts'
import { memberPage } from '../components/layout.tsx'
import { confirmIdentity, IdentityFields } from '../confirm-identity.tsx'
import { Timestamp } from '../components/time.tsx'
import { scopeOf } from '../middleware/session.ts'
import { redirectTo } from '../organisation-path.ts'

const PAGE = '/settings/organisation'

const DAYS_ERROR = `Enter a whole number from ${MIN_RETENTION_DAYS} to ${MAX_RETENTION_DAYS}.`
const days = z.coerce
  .number<string>(DAYS_ERROR)
  .int(DAYS_ERROR)
  .min(MIN_RETENTION_DAYS, DAYS_ERROR)
  .max(MAX_RETENTION_DAYS, DAYS_ERROR)

const SUCCESS_MESSAGES: Record<string, string> = {
  renamed: 'Organisation renamed.',
  retention: 'Retention saved. Older images are deleted within a day.',
  restored: 'Deletion cancelled.',
}

export const organisationSettings = new Hono<ConsoleApp>()
  .get('/', (c) => settingsPage(c))
  .post('/name', async (c) => {
    const form = await readForm(c, z.object({ name }))
    if (!form.ok) return settingsPage(c, form)
    await updateOrganisation({ ...scopeOf(c), change: { name: form.data.name } })
    return redirectTo(c, `${PAGE}?done=renamed`)
  })
  .post('/retention', async (c) => {
    const form = await readForm(c, z.object({ days }))
    if (!form.ok) return settingsPage(c, form)
    await updateOrganisation({
      ...scopeOf(c),
      change: { outputRetentionDays: form.data.days },
    })
    return redirectTo(c, `${PAGE}?done=retention`)
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
    const form = await readForm(c, z.object({ confirmation, password: currentPassword }))
    if (!form.ok) return settingsPage(c, form)
    const confirmed = await confirmIdentity(c)
    if (confirmed instanceof Response) return confirmed
    if ('errors' in confirmed) {
      const values = { confirmation: organisation.name }
      return settingsPage(c, { errors: confirmed.errors, values })
    }
    await scheduleOrganisationDeletion({ ...scopeOf(c), baseUrl: baseUrlOf(c) })
    return redirectTo(c, PAGE)
  })
  .post('/keep', async (c) => {
    await cancelOrganisationDeletion(scopeOf(c))
    return redirectTo(c, `${PAGE}?done=restored`)
  })

async function settingsPage(c: ConsoleContext, state: FormState = {}) {
  const { members } = await readTeam(scopeOf(c))
  const { organisation, role } = c.var.membership
  const isOwner = role === 'owner'
  const done = SUCCESS_MESSAGES[c.req.query('done') ?? '']
  return memberPage(
    c,
    { title: 'Organisation', status: state.errors ? 422 : 200 },
    <>
      <h1>Organisation</h1>
      {done && <Notice kind="good">{done}</Notice>}
      {!isOwner && <p>Only owners can change these settings.</p>}
      <dl>
        {!isOwner && (
          <>
            <dt>Name</dt>
            <dd>{organisation.name}</dd>
            <dt>Retention of images</dt>
            <dd>{daysOf(organisation.outputRetentionDays)}</dd>
          </>
        )}
        <dt>Billing region</dt>
        <dd>{organisation.regionCode}</dd>
        <dt>Currency</dt>
        <dd>{currencyOf(organisation.regionCode)}</dd>
        <dt>Members</dt>
        <dd>
          <Link to="/settings/team">{members.length}</Link>
        </dd>
        <dt>Organisation ID</dt>
        <dd>
          <CopyableId id={organisation.id} label="the organisation ID" />
        </dd>
        <dt>Address</dt>
        <dd>
          <CopyableId
            id={baseUrlOf(c) + consolePath(organisation.id)}
            label="the address of the organisation"
          />
        </dd>
        <dt>Created</dt>
        <dd>
          <Timestamp at={organisation.createdAt} />
        </dd>
      </dl>
      {isOwner && <OwnerSettings organisation={organisation} state={state} />}
      <Leave c={c} members={members} />
      {isOwner && organisation.deleteAfter === null && (
        <Deletion user={c.var.user} organisation={organisation} state={state} />
      )}
    </>,
  )
}

const OwnerSettings = ({
  organisation,
  state,
}: {
  organisation: OrganisationRow
  state: FormState
}) => (
  <>
    <section class="card" aria-labelledby="name-heading">
      <h2 id="name-heading">Name</h2>
      <PostForm to={`${PAGE}/name`} novalidate>
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
      <p>Result images and the image URLs of jobs are deleted after this number of days.</p>
      <PostForm to={`${PAGE}/retention`} novalidate>
        <Field
          name="days"
          label="Days"
          type="number"
          value={String(organisation.outputRetentionDays)}
          hint={`From ${MIN_RETENTION_DAYS} to ${MAX_RETENTION_DAYS}. Also applies to images that are already stored.`}
          state={state}
        />
        <Button>Save</Button>
      </PostForm>
    </section>
    <section class="card" aria-labelledby="export-heading">
      <h2 id="export-heading">Export</h2>
      <p>
        Downloads the data of the organisation as a JSON file: workspaces, members, API keys without
        their secrets, jobs, webhook deliveries, credits and the audit log. The links to result
        images are valid for one hour.
      </p>
      <PostForm to={`${PAGE}/export`} data-download>
        <Button kind="secondary">Export as JSON</Button>
      </PostForm>
    </section>
  </>
)

const Leave = ({ c, members }: { c: ConsoleContext; members: Member[] }) => {
  const { organisation, role } = c.var.membership
  const owners = members.filter((member) => member.role === 'owner')
  return (
    <section class="card" aria-labelledby="leave-heading">
      <h2 id="leave-heading">Leave organisation</h2>
      {role === 'owner' && owners.length === 1 ? (
        <p>
          You are the only owner. Make another member an owner under{' '}
          <Link to="/settings/team">Team</Link> first, or delete the organisation.
        </p>
      ) : (
        <>
          <p>You lose access to {organisation.name}. Other members are not affected.</p>
          <p>
            <Link
              to={`/settings/team/members/${c.var.user.id}/remove`}
              role="button"
              class="secondary"
            >
              Leave organisation
            </Link>
          </p>
        </>
      )}
    </section>
  )
}

const Deletion = ({
  user,
  organisation,
  state,
}: {
  user: SessionUser
  organisation: OrganisationRow
  state: FormState
}) => (
  <section class="card" aria-labelledby="delete-heading">
    <h2 id="delete-heading">Delete organisation</h2>
    <p>
      New jobs are rejected and pending jobs are cancelled immediately. After {GRACE_PERIOD_DAYS}{' '}
      days, all jobs, images, API keys, workspaces, members and remaining credits are deleted. Until
      then, an owner can cancel the deletion.
    </p>
    <PostForm to={`${PAGE}/delete`} novalidate>
      <Field
        name="confirmation"
        label={`Enter “${organisation.name}” to confirm`}
        autocomplete="off"
        state={state}
      />
      <IdentityFields user={user} label="Your password" state={state} />
      <Button kind="danger">Delete {organisation.name}</Button>
    </PostForm>
  </section>
)

const daysOf = (count: number) => `${count} ${count === 1 ? 'day' : 'days'}`
