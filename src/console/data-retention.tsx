// For how long pictures are stored; an owner changes it.
import { Hono } from 'hono'
import { z } from 'zod'
import { setRetention } from '../retention/set-retention.ts'
import { MAX_RETENTION_DAYS, MIN_RETENTION_DAYS, RETENTION_DAYS } from '../settings.ts'
import type { ConsoleApp, ConsoleContext } from './context.ts'
import { Button, Field, Notice, PostForm, readForm } from './form.tsx'
import type { FieldState } from './form.tsx'
import { memberPage } from './layout.tsx'
import { actorOf } from './session.ts'

const RANGE = `Enter ${MIN_RETENTION_DAYS} to ${MAX_RETENTION_DAYS} whole days.`

const Retention = z.object({
  days: z
    .string(RANGE)
    .trim()
    .regex(/^\d{1,3}$/, RANGE)
    .transform(Number)
    .refine((days) => days >= MIN_RETENTION_DAYS && days <= MAX_RETENTION_DAYS, RANGE),
})

export const dataRetention = new Hono<ConsoleApp>()
  .get('/', (c) => retentionPage(c))
  .post('/', async (c) => {
    const form = await readForm(c, Retention)
    if (!form.ok) return retentionPage(c, form)
    const { id: organisationId } = c.var.membership.organisation
    const { days } = form.value
    await setRetention({ env: c.env, actor: actorOf(c), organisationId, days })
    return c.redirect('/console/settings/data-retention?saved=1', 303)
  })

function retentionPage(c: ConsoleContext, state: FieldState = {}) {
  const { organisation, role } = c.var.membership
  return memberPage(
    c,
    { title: 'Data retention', status: state.complaints ? 422 : 200 },
    <>
      <h1>Data retention</h1>
      {c.req.query('saved') && <Notice kind="good">The retention is saved.</Notice>}
      <p>
        Results, and the image and webhook URLs of their jobs, are deleted after this time. Copies
        of the photos are deleted when the job is over, test jobs after {RETENTION_DAYS.testJobs}{' '}
        days and live jobs after {RETENTION_DAYS.liveJobs} days.
      </p>
      {role === 'owner' ? (
        <PostForm action="/console/settings/data-retention" novalidate>
          <Field
            name="days"
            label="Days"
            value={String(organisation.outputRetentionDays)}
            hint={`${MIN_RETENTION_DAYS} to ${MAX_RETENTION_DAYS}. A shorter time deletes older pictures within minutes, for good.`}
            state={state}
          />
          <Button>Save</Button>
        </PostForm>
      ) : (
        <p>
          Pictures are stored for {organisation.outputRetentionDays} days. An owner can change this.
        </p>
      )}
    </>,
  )
}
