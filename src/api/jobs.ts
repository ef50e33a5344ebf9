// /v1/jobs: lists, reads and cancels jobs, and deletes their pictures.
import { Hono } from 'hono'
import { allow } from '../http/allow.ts'
import type { App } from '../http/context.ts'
import { AppError } from '../domain/errors.ts'
import { isId } from '../ids.ts'
import { cancelJob } from '../jobs/cancel.ts'
import { creditCost, presentJob, presentListedJob } from '../jobs/present.ts'
import { listPage, waitForJob } from '../jobs/read.ts'
import { findJob } from '../jobs/store.ts'
import { organisationStub } from '../organisation/stub.ts'
import { linksFrom } from '../signing/signed-url.ts'
import { deleteOutput } from '../retention/delete-output.ts'
import { requireAdmitted, credentialsOf, keyActor } from './authenticate.ts'
import { baseUrlOf } from '../http/base-url.ts'
import { makeCursor, readCursor } from './cursor.ts'
import { preferredWaitSeconds } from './prefer.ts'
import { JobsQuery } from './requests.ts'
import { check, queryOf, valid } from '../http/validation.ts'

export const jobs = new Hono<App>()
  .get('/', async (c) => {
    const caller = credentialsOf(c)
    const { organisationId } = caller
    const organisation = organisationStub(c.env, organisationId)
    requireAdmitted(c, await organisation.authenticate(caller, { rejectSuspended: false }))
    const query = valid(check(JobsQuery, queryOf(c.req.queries())))

    const filter = { workspaceId: query.workspace_id, status: query.status }
    const list = { organisationId, ...filter }
    const beforeId = query.cursor === undefined ? undefined : readCursor(c.env, list, query.cursor)
    if (beforeId === null) {
      throw new AppError(
        'validation_error',
        'cursor must be the next_cursor of a page with the same filters.',
      )
    }
    const page = await listPage({
      env: c.env,
      organisationId,
      filter,
      limit: query.limit,
      beforeId,
    })
    const last = page.jobs.at(-1)
    const linkTo = linksFrom(c.env, baseUrlOf(c))
    return c.json({
      jobs: page.jobs.map((job) => presentListedJob(linkTo, job)),
      next_cursor: page.hasMore && last ? makeCursor(c.env, list, last.id) : null,
      has_more: page.hasMore,
    })
  })
  .all('/', allow('GET'))

  .get('/:jobId', async (c) => {
    const caller = credentialsOf(c)
    const jobId = c.req.param('jobId')
    const organisation = organisationStub(c.env, caller.organisationId)
    // Read while the key is being checked: two round trips in the time of one.
    const [answer, job] = await Promise.all([
      organisation.authenticate(caller, { rejectSuspended: true }),
      isId('job', jobId) ? findJob(c.env, jobId) : undefined,
    ])
    requireAdmitted(c, answer)
    if (!job) throw new AppError('job_not_found')
    if (job.organisationId !== caller.organisationId) throw new AppError('forbidden')

    const waitSeconds = preferredWaitSeconds(c.req.header('Prefer'))
    if (waitSeconds > 0) c.header('Preference-Applied', `wait=${waitSeconds}`)
    const latest = await waitForJob({ env: c.env, job, seconds: waitSeconds })
    return c.json(presentJob({ env: c.env, baseUrl: baseUrlOf(c), job: latest }))
  })
  .delete('/:jobId', async (c) => {
    const caller = credentialsOf(c)
    const { organisationId } = caller
    const jobId = c.req.param('jobId')
    const organisation = organisationStub(c.env, organisationId)
    requireAdmitted(c, await organisation.authenticate(caller, { rejectSuspended: false }))
    if (!isId('job', jobId)) throw new AppError('job_not_found')

    const job = await cancelJob({ env: c.env, organisationId, jobId })
    return c.json({
      job_id: job.id,
      status: job.status,
      refunded_credits: creditCost(job.mode),
    })
  })
  .all('/:jobId', allow('GET', 'DELETE'))

  .delete('/:jobId/output', async (c) => {
    const caller = credentialsOf(c)
    const { organisationId } = caller
    const jobId = c.req.param('jobId')
    const organisation = organisationStub(c.env, organisationId)
    requireAdmitted(c, await organisation.authenticate(caller, { rejectSuspended: false }))
    if (!isId('job', jobId)) throw new AppError('job_not_found')

    await deleteOutput({ env: c.env, actor: keyActor(c, caller), organisationId, jobId })
    return c.body(null, 204)
  })
  .all('/:jobId/output', allow('DELETE'))
