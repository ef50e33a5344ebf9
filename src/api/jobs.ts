// /v1/jobs: lists, reads and cancels jobs, and deletes their pictures.
import { zValidator } from '@hono/zod-validator'
import { Hono } from 'hono'
import { z } from 'zod'
import { AppError } from '../domain/errors.ts'
import { JOB_STATUSES } from '../domain/job.ts'
import { baseUrlOf } from '../http/base-url.ts'
import { describeRoute, errors, noContent, ok } from '../http/openapi.ts'
import { Instant } from '../http/instant.ts'
import { PageLimit } from '../http/pagination.ts'
import { validQuery } from '../http/validation.ts'
import { isId } from '../ids.ts'
import { cancelJob } from '../jobs/cancel.ts'
import { creditCost, Job, ListedJob, presentJob, presentListedJob } from '../jobs/present.ts'
import { listPage, waitForJob } from '../jobs/read.ts'
import { findJob } from '../jobs/store.ts'
import { deleteOutput } from '../retention/delete-output.ts'
import { linksFrom } from '../signing/signed-url.ts'
import { admitted, authenticate, keyActor } from './authenticate.ts'
import type { ApiApp } from './context.ts'
import { createCursor, readCursor } from './cursor.ts'
import { IgnoredFields, ignoredFields } from './ignored-fields.ts'
import { PreferenceApplied, PreferHeader, preferredWaitSeconds } from './prefer.ts'

const JobsQuery = z.object({
  workspace_id: z
    .string('must not be repeated')
    .optional()
    .meta({ description: 'Only jobs of this workspace.' }),
  status: z
    .enum(JOB_STATUSES, `must be one of ${JOB_STATUSES.join(', ')}`)
    .optional()
    .meta({ description: 'Only jobs with this status.' }),
  created_after: Instant.optional().meta({
    description: 'Only jobs created at this instant or later: ISO 8601 with a time zone.',
    override: { type: 'string', format: 'date-time' },
  }),
  created_before: Instant.optional().meta({
    description: 'Only jobs created before this instant: ISO 8601 with a time zone.',
    override: { type: 'string', format: 'date-time' },
  }),
  limit: PageLimit,
  cursor: z
    .string('must not be repeated')
    .optional()
    .meta({ description: 'The next_cursor of the previous page. Opaque.' }),
})

const JobList = z
  .object({
    jobs: z.array(ListedJob),
    next_cursor: z
      .string()
      .nullable()
      .meta({ description: 'The cursor of the next page; null on the last page' }),
    has_more: z.boolean(),
  })
  .meta({ id: 'JobList' })

const Cancelled = z
  .object({
    job_id: z.string(),
    status: z.literal('refunded'),
    refunded_credits: z.number().meta({ description: '1 in live mode, 0 in test mode' }),
  })
  .meta({ id: 'Cancelled' })

const JobIdPath = z.object({
  jobId: z
    .string()
    .refine((text) => isId('job', text))
    .meta({ description: 'The job’s id.' }),
})

/** Returns 404 for a malformed id without a lookup. */
const validJobId = zValidator('param', JobIdPath, ({ success }) => {
  if (!success) throw new AppError('job_not_found')
})

export const jobs = new Hono<ApiApp>()
  .get(
    '/',
    describeRoute({
      operationId: 'listJobs',
      summary: 'List jobs, newest first',
      tags: ['Jobs'],
      requestParams: { query: JobsQuery },
      responses: {
        '200': ok('A page of jobs', JobList, { 'Ignored-Fields': IgnoredFields }),
        ...errors('validation_error'),
      },
    }),
    admitted({ rejectSuspended: false }),
    validQuery(JobsQuery),
    async (c) => {
      const organisationId = c.get('organisationId')
      const { status, limit, cursor, ...query } = c.req.valid('query')
      const { created_after: createdAfter, created_before: createdBefore } = query
      if (createdAfter && createdBefore && createdAfter >= createdBefore) {
        throw new AppError('validation_error', 'created_after must be before created_before.')
      }
      c.header('Ignored-Fields', ignoredFields(c.req.query(), JobsQuery.shape))

      const filter = { workspaceId: query.workspace_id, status, createdAfter, createdBefore }
      const list = { organisationId, ...filter }
      const beforeId = cursor === undefined ? undefined : readCursor(c.env, list, cursor)
      if (beforeId === null) {
        throw new AppError(
          'validation_error',
          'cursor must be the next_cursor of a page with the same filters.',
        )
      }
      const page = await listPage({ env: c.env, organisationId, filter, limit, beforeId })
      const last = page.rows.at(-1)
      const linkTo = linksFrom(c.env, baseUrlOf(c))
      return c.json({
        jobs: page.rows.map((job) => presentListedJob(linkTo, job)),
        next_cursor: page.hasMore && last ? createCursor(c.env, list, last.id) : null,
        has_more: page.hasMore,
      })
    },
  )

  .get(
    '/:jobId',
    describeRoute({
      operationId: 'getJob',
      summary: 'Get a job',
      tags: ['Jobs'],
      requestParams: { path: JobIdPath, header: z.object({ Prefer: PreferHeader }) },
      responses: {
        '200': ok('The job', Job, { 'Preference-Applied': PreferenceApplied }),
        ...errors('account_suspended', 'forbidden', 'job_not_found'),
      },
    }),
    async (c) => {
      const jobId = c.req.param('jobId')
      // Reads the job and checks the key concurrently, which saves a round trip.
      const [organisationId, job] = await Promise.all([
        authenticate(c, { rejectSuspended: true }),
        isId('job', jobId) ? findJob(c.env, jobId) : undefined,
      ])
      if (!job) throw new AppError('job_not_found')
      if (job.organisationId !== organisationId) throw new AppError('forbidden')

      const waitSeconds = preferredWaitSeconds(c.req.header('Prefer'))
      if (waitSeconds > 0) c.header('Preference-Applied', `wait=${waitSeconds}`)
      const latest = await waitForJob({ env: c.env, job, seconds: waitSeconds })
      return c.json(presentJob({ env: c.env, baseUrl: baseUrlOf(c), job: latest }))
    },
  )

  .delete(
    '/:jobId',
    describeRoute({
      operationId: 'cancelJob',
      summary: 'Cancel a pending job and refund its credit',
      tags: ['Jobs'],
      requestParams: { path: JobIdPath },
      responses: {
        '200': ok('The job was cancelled', Cancelled),
        ...errors('forbidden', 'job_not_found', 'job_not_cancellable'),
      },
    }),
    admitted({ rejectSuspended: false }),
    validJobId,
    async (c) => {
      const organisationId = c.get('organisationId')
      const { jobId } = c.req.valid('param')
      const job = await cancelJob({ env: c.env, organisationId, jobId })
      return c.json({
        job_id: job.id,
        status: job.status,
        refunded_credits: creditCost(job.mode),
      })
    },
  )

  .delete(
    '/:jobId/output',
    describeRoute({
      operationId: 'deleteJobOutput',
      summary: 'Delete the pictures of a finished job',
      description:
        'Deletes the result and every stored copy of the inputs, and clears the job’s image and webhook URLs. The job itself is not deleted; its `output_url` is null. Repeating the request succeeds.',
      tags: ['Jobs'],
      requestParams: { path: JobIdPath },
      responses: {
        '204': noContent('The pictures are deleted'),
        ...errors('forbidden', 'job_not_found', 'job_not_finished'),
      },
    }),
    admitted({ rejectSuspended: false }),
    validJobId,
    async (c) => {
      const organisationId = c.get('organisationId')
      const { jobId } = c.req.valid('param')
      await deleteOutput({ env: c.env, actor: keyActor(c), organisationId, jobId })
      return c.body(null, 204)
    },
  )
