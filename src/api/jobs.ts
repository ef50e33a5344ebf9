// /v1/jobs: lists, reads and cancels jobs, and deletes their images.
import { zValidator } from '@hono/zod-validator'
import { Hono } from 'hono'
import { z } from 'zod'
import { AppError, invalid } from '../domain/errors.ts'
import { MAX_PAGE_SIZE } from '../domain/limits.ts'
import { baseUrlOf } from '../http/base-url.ts'
import { describeRoute, noContent, ok } from '../http/describe-route.ts'
import { nextPage } from '../http/pagination.ts'
import { validQuery } from '../http/validation.ts'
import { isId } from '../platform/ids.ts'
import { cancelJob } from '../jobs/cancel.ts'
import { findJob } from '../jobs/job-store.ts'
import {
  creditCost,
  Job,
  JobId,
  JobStatus,
  ListedJob,
  presentJob,
  presentListedJob,
} from '../jobs/present-job.ts'
import { waitForJob } from '../jobs/read-job.ts'
import { listJobs } from '../jobs/reports/job-lists.ts'
import { deleteOutput } from '../privacy/delete-output.ts'
import { linksFrom } from '../platform/signing/signed-url.ts'
import { admittedToChange, admittedToRead, authenticate, scopeOf } from './authenticate-key.ts'
import type { ApiApp } from './api-context.ts'
import { createCursor, nextPageFields, pageParameters, startOf } from './cursor.ts'
import { errors } from './error-responses.ts'
import { cancellations, JOB_ID, jobLists, jobs as jobExamples } from './examples.ts'
import { ignoredFields } from './ignored-fields.ts'
import { PreferHeader, preferredWaitSeconds } from './prefer.ts'

/** A query parameter: an ISO 8601 instant with a time zone, parsed to the millisecond. */
const Instant = z.iso
  .datetime({
    offset: true,
    error: ({ code }) =>
      code === 'invalid_type'
        ? 'must not be repeated'
        : 'must be an ISO 8601 instant with a time zone, such as 2026-01-31T09:00:00Z (encode + as %2B)',
  })
  .transform((text) => {
    // Jobs are created at whole milliseconds, so a bound between two of them is the same as the later one.
    const roundUp = /\.\d{3}\d*[1-9]/.test(text) ? 1 : 0
    // Ids cannot express an instant before 1970.
    return new Date(Math.max(0, Date.parse(text) + roundUp))
  })

const JobsQuery = z.object({
  workspace_id: z.string('must not be repeated').optional().meta({
    description:
      'Only jobs of this workspace. The list is empty for a workspace of another organisation.',
  }),
  status: JobStatus.optional().meta({ description: 'Only jobs with this status.' }),
  created_after: Instant.optional().meta({
    description:
      'Only jobs created at this instant or later. An ISO 8601 instant with a time zone.',
    override: { type: 'string', format: 'date-time', examples: ['2026-11-01T00:00:00Z'] },
  }),
  created_before: Instant.optional().meta({
    description:
      'Only jobs created before this instant. An ISO 8601 instant with a time zone, later than `created_after`.',
    override: { type: 'string', format: 'date-time', examples: ['2026-12-01T00:00:00Z'] },
  }),
  ...pageParameters,
})

const JobList = z
  .object({
    jobs: z.array(ListedJob).max(MAX_PAGE_SIZE).meta({ description: 'The jobs, newest first.' }),
    ...nextPageFields,
  })
  .meta({ id: 'JobList', description: 'A page of jobs.' })

const Cancelled = z
  .object({
    job_id: JobId,
    status: z.literal('refunded').meta({ description: 'The new status of the job.' }),
    refunded_credits: z
      .number()
      .min(0)
      .meta({ description: 'The credits that were returned: 1 in live mode, 0 in test mode.' }),
  })
  .meta({ id: 'Cancelled', description: 'A cancelled job.' })

const JobIdPath = z.object({
  jobId: z
    .string()
    .refine((text) => isId('job', text))
    .meta({
      description: 'The `job_id` that `POST /v1/tryon` returned.',
      maxLength: JOB_ID.length,
      examples: [JOB_ID],
    }),
})

/** Returns 404 for a malformed id without a lookup. */
const validJobId = zValidator('param', JobIdPath, ({ success }) => {
  if (!success) throw new AppError('job_not_found')
})

export const jobs = new Hono<ApiApp>()
  .get(
    '/',
    describeRoute('Jobs', {
      operationId: 'listJobs',
      summary: 'List jobs',
      description:
        'Returns the jobs of the organisation, newest first, page by page. To read the next page, repeat the request with the `next_cursor` of the response as `cursor`, until it is null.',
      requestParams: { query: JobsQuery },
      responses: {
        '200': ok('A page of jobs.', JobList, {
          examples: jobLists,
          headers: ['Ignored-Fields'],
          links: {
            getJob: {
              operationId: 'getJob',
              parameters: { jobId: '$response.body#/jobs/0/job_id' },
              description: 'Reads one of the listed jobs with its webhook fields.',
            },
          },
        }),
        ...errors({
          code: 'validation_error',
          message: 'limit must be a whole number from 1 to 100.',
        }),
      },
    }),
    admittedToRead,
    validQuery(JobsQuery),
    async (c) => {
      const { organisationId, workspaceId: own } = c.get('scope')
      const { status, limit, cursor, ...query } = c.req.valid('query')
      const { created_after: createdAfter, created_before: createdBefore } = query
      if (createdAfter && createdBefore && createdAfter >= createdBefore) {
        throw invalid('created_after must be before created_before.')
      }
      c.header('Ignored-Fields', ignoredFields(c.req.query(), JobsQuery.shape))

      const workspaceId = query.workspace_id ?? own
      const filter = { workspaceId, status, createdAfter, createdBefore }
      // Without a range, as before these filters existed, so that older cursors remain valid.
      const range =
        createdAfter || createdBefore ? [createdAfter ?? null, createdBefore ?? null] : []
      const list = [organisationId, workspaceId ?? null, status ?? null, ...range]
      const beforeId = startOf(c.env, list, cursor)
      // A key that is limited to a workspace finds nothing in others.
      const page =
        own === undefined || own === workspaceId
          ? await listJobs({ env: c.env, organisationId, filter, limit, beforeId })
          : { rows: [], hasMore: false }
      const linkTo = linksFrom(c.env, baseUrlOf(c))
      return c.json({
        jobs: page.rows.map((job) => presentListedJob(linkTo, job)),
        ...nextPage(page, (last) => createCursor(c.env, list, last.id)),
      })
    },
  )

  .get(
    '/:jobId',
    describeRoute('Jobs', {
      operationId: 'getJob',
      summary: 'Get a job',
      description:
        'Returns a job with its status and result. With `Prefer: wait=N` the response is delayed until the job has ended, by at most N seconds.',
      requestParams: { path: JobIdPath, header: z.object({ Prefer: PreferHeader }) },
      responses: {
        '200': ok('The job with its status and result.', Job, {
          examples: jobExamples,
          headers: ['Preference-Applied'],
        }),
        ...errors('account_suspended', 'forbidden', 'job_not_found'),
      },
    }),
    async (c) => {
      const jobId = c.req.param('jobId')
      // Reads the job and checks the key concurrently, which saves a round trip.
      const [{ organisationId, workspaceId }, job] = await Promise.all([
        authenticate(c, { rejectSuspended: true, isRead: true }),
        isId('job', jobId) ? findJob(c.env, jobId) : undefined,
      ])
      if (!job) throw new AppError('job_not_found')
      if (job.organisationId !== organisationId) throw new AppError('forbidden')
      if (workspaceId !== undefined && job.workspaceId !== workspaceId) {
        throw new AppError('job_not_found')
      }

      const waitSeconds = preferredWaitSeconds(c.req.header('Prefer'))
      if (waitSeconds > 0) c.header('Preference-Applied', `wait=${waitSeconds}`)
      const latest = await waitForJob(c.env, job, waitSeconds)
      return c.json(presentJob(c.env, baseUrlOf(c), latest))
    },
  )

  .delete(
    '/:jobId',
    describeRoute('Jobs', {
      operationId: 'cancelJob',
      summary: 'Cancel a pending job',
      description:
        'Cancels a job that is still pending and returns its reserved credit. The status becomes `refunded`. A job in processing cannot be stopped.',
      requestParams: { path: JobIdPath },
      responses: {
        '200': ok('The job was cancelled.', Cancelled, { examples: cancellations }),
        ...errors('forbidden', 'job_not_found', 'job_not_cancellable'),
      },
    }),
    admittedToChange,
    validJobId,
    async (c) => {
      const job = await cancelJob({ ...scopeOf(c), ...c.req.valid('param') })
      return c.json({ job_id: job.id, status: job.status, refunded_credits: creditCost(job.mode) })
    },
  )

  .delete(
    '/:jobId/output',
    describeRoute('Jobs', {
      operationId: 'deleteJobOutput',
      summary: 'Delete the pictures of a finished job',
      description:
        'Deletes the result, every stored copy of the inputs and the uploads that the job used, and clears the image and webhook URLs of the job. Other jobs cannot use these uploads afterwards. The job itself is not deleted, and its `output_url` is null. Repeating the request succeeds.',
      requestParams: { path: JobIdPath },
      responses: {
        '204': noContent('The pictures are deleted.'),
        ...errors('forbidden', 'job_not_found', 'job_not_finished'),
      },
    }),
    admittedToChange,
    validJobId,
    async (c) => {
      await deleteOutput({ ...scopeOf(c), ...c.req.valid('param') })
      return c.body(null, 204)
    },
  )
