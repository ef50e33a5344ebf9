// The API for staff, who hold the operator token. The shapes are in docs/operator.md.
import { Hono } from 'hono'
import type { Context } from 'hono'
import { createApiKey, revokeApiKey } from '../accounts/api-keys.ts'
import {
  cancelOrganisationDeletion,
  scheduleOrganisationDeletion,
} from '../accounts/delete-organisation.ts'
import { createOrganisation } from '../accounts/create-organisation.ts'
import { addCredits } from '../accounts/credits.ts'
import {
  findOrganisation,
  listOrganisations,
  updateOrganisation,
} from '../accounts/organisations.ts'
import { readAuditLog } from '../accounts/read-audit-log.ts'
import { rotateWebhookSecret } from '../accounts/webhook-secret.ts'
import { createWorkspace, updateWorkspace } from '../accounts/workspaces.ts'
import { allow } from '../http/allow.ts'
import { presentWorkspace } from '../api/responses.ts'
import { baseUrlOf, urlPolicyOf } from '../http/base-url.ts'
import { check, checkBody, queryOf, valid } from '../http/validation.ts'
import type { App } from '../http/context.ts'
import { AppError } from '../domain/errors.ts'
import { isId } from '../ids.ts'
import { withdrawJob } from '../jobs/cancel.ts'
import { presentJob } from '../jobs/present.ts'
import { findJob } from '../jobs/store.ts'
import { organisationStub } from '../organisation/stub.ts'
import { operatorActor, operatorOnly } from './authenticate.ts'
import { presentAuditEntry, presentOrganisation, presentWholeOrganisation } from './present.ts'
import {
  Credits,
  NewApiKey,
  newOrganisation,
  NewWorkspace,
  organisationChange,
  Page,
  WorkspaceChange,
} from './requests.ts'

export const operator = new Hono<App>()
  .use(operatorOnly)

  .post('/organisations', async (c) => {
    const body = valid(await checkBody(newOrganisation(urlPolicyOf(c)), c.req.raw))
    const { organisation, webhookSecret, workspaces, keys } = await createOrganisation({
      env: c.env,
      actor: operatorActor(c),
      name: body.name,
      regionCode: body.region_code,
      plan: body.plan,
      credits: body.credits,
      rateLimitPerMinute: body.rate_limit_per_minute,
      defaultWebhookUrl: body.default_webhook_url,
      workspaceName: body.workspace_name,
    })
    return c.json(
      {
        ...presentOrganisation(organisation),
        credits: body.credits,
        webhook_secret: webhookSecret,
        workspaces: workspaces.map(presentWorkspace),
        api_keys: keys,
      },
      201,
    )
  })
  .get('/organisations', async (c) => {
    const { cursor, limit } = valid(check(Page, queryOf(c.req.queries())))
    if (cursor !== undefined && !isId('org', cursor)) throw badCursor()
    const rows = await listOrganisations({
      env: c.env,
      actor: operatorActor(c),
      limit: limit + 1,
      afterId: cursor,
    })
    const page = rows.slice(0, limit)
    const hasMore = rows.length > limit
    return c.json({
      organisations: page.map(presentOrganisation),
      next_cursor: hasMore ? (page.at(-1)?.id ?? null) : null,
      has_more: hasMore,
    })
  })
  .all('/organisations', allow('GET', 'POST'))

  .get('/organisations/:orgId', async (c) => c.json(await readWhole(c.env, c.req.param('orgId'))))
  .patch('/organisations/:orgId', async (c) => {
    const orgId = c.req.param('orgId')
    const body = valid(await checkBody(organisationChange(urlPolicyOf(c)), c.req.raw))
    await updateOrganisation({
      env: c.env,
      actor: operatorActor(c),
      organisationId: orgId,
      change: {
        ...(body.status !== undefined && { status: body.status }),
        ...(body.suspension_reason !== undefined && { suspensionReason: body.suspension_reason }),
        ...(body.plan !== undefined && { plan: body.plan }),
        ...(body.rate_limit_per_minute !== undefined && {
          rateLimitPerMinute: body.rate_limit_per_minute,
        }),
        ...(body.default_webhook_url !== undefined && {
          defaultWebhookUrl: body.default_webhook_url,
        }),
        ...(body.auto_reload_enabled !== undefined && {
          autoReloadEnabled: body.auto_reload_enabled,
        }),
        ...(body.output_retention_days !== undefined && {
          outputRetentionDays: body.output_retention_days,
        }),
      },
    })
    return c.json(await readWhole(c.env, orgId))
  })
  .delete('/organisations/:orgId', async (c) => {
    const { id, status, deleteAfter } = await scheduleOrganisationDeletion({
      env: c.env,
      actor: operatorActor(c),
      organisationId: c.req.param('orgId'),
      baseUrl: baseUrlOf(c),
    })
    return c.json({ org_id: id, status, delete_after: deleteAfter.toISOString() }, 202)
  })
  .all('/organisations/:orgId', allow('GET', 'PATCH', 'DELETE'))

  .post('/organisations/:orgId/restore', async (c) => {
    const organisationId = c.req.param('orgId')
    await cancelOrganisationDeletion({ env: c.env, actor: operatorActor(c), organisationId })
    return c.json(await readWhole(c.env, organisationId))
  })
  .all('/organisations/:orgId/restore', allow('POST'))

  .post('/organisations/:orgId/credits', async (c) => {
    const request = await about(c)
    const body = valid(await checkBody(Credits, c.req.raw))
    return c.json({ credits: await addCredits({ ...request, ...body }) })
  })
  .all('/organisations/:orgId/credits', allow('POST'))

  .post('/organisations/:orgId/webhook-secret/rotate', async (c) =>
    c.json({ webhook_secret: await rotateWebhookSecret(await about(c)) }),
  )
  .all('/organisations/:orgId/webhook-secret/rotate', allow('POST'))

  .get('/organisations/:orgId/audit-log', async (c) => {
    const request = await about(c)
    const { cursor, limit } = valid(check(Page, queryOf(c.req.queries())))
    if (cursor !== undefined && !isId('aud', cursor)) throw badCursor()
    const { entries, hasMore } = await readAuditLog({ ...request, limit, beforeId: cursor })
    return c.json({
      entries: entries.map(presentAuditEntry),
      next_cursor: hasMore ? (entries.at(-1)?.id ?? null) : null,
      has_more: hasMore,
    })
  })
  .all('/organisations/:orgId/audit-log', allow('GET'))

  .post('/organisations/:orgId/api-keys', async (c) => {
    const request = await about(c)
    const { mode } = valid(await checkBody(NewApiKey, c.req.raw))
    const created = await createApiKey({ ...request, mode, name: 'Created by an operator' })
    if (!created) throw new Error('The id of a new API key is in use')
    return c.json({ ...created, mode }, 201)
  })
  .all('/organisations/:orgId/api-keys', allow('POST'))
  .delete('/organisations/:orgId/api-keys/:keyId', async (c) => {
    await revokeApiKey({ ...(await about(c)), keyId: c.req.param('keyId') })
    return c.body(null, 204)
  })
  .all('/organisations/:orgId/api-keys/:keyId', allow('DELETE'))

  .post('/organisations/:orgId/workspaces', async (c) => {
    const request = await about(c)
    const { name } = valid(await checkBody(NewWorkspace, c.req.raw))
    return c.json(presentWorkspace(await createWorkspace({ ...request, name })), 201)
  })
  .all('/organisations/:orgId/workspaces', allow('POST'))
  .patch('/organisations/:orgId/workspaces/:workspaceId', async (c) => {
    const request = await about(c)
    const body = valid(await checkBody(WorkspaceChange, c.req.raw))
    const workspace = await updateWorkspace({
      ...request,
      workspaceId: c.req.param('workspaceId'),
      change: {
        ...(body.name !== undefined && { name: body.name }),
        ...(body.status !== undefined && { status: body.status }),
      },
    })
    return c.json(presentWorkspace(workspace))
  })
  .all('/organisations/:orgId/workspaces/:workspaceId', allow('PATCH'))

  .get('/jobs/:jobId', async (c) => {
    const job = await findJob(c.env, c.req.param('jobId'))
    if (!job) throw new AppError('not_found', 'No job with this id.')
    return c.json({
      ...presentJob(c.env, baseUrlOf(c), job),
      org_id: job.organisationId,
      engine: job.engine,
      attempts: job.attempts,
    })
  })
  .all('/jobs/:jobId', allow('GET'))
  .post('/jobs/:jobId/withdraw', async (c) => {
    const job = await withdrawJob({
      env: c.env,
      actor: operatorActor(c),
      jobId: c.req.param('jobId'),
    })
    return c.json({ job_id: job.id, status: job.status })
  })
  .all('/jobs/:jobId/withdraw', allow('POST'))

/** @throws AppError not_found */
async function readWhole(env: Env, organisationId: string) {
  const found = await findOrganisation(env, organisationId)
  if (!found) throw new AppError('not_found', 'No organisation with this id.')
  const totals = await organisationStub(env, organisationId).totals()
  return presentWholeOrganisation(found.organisation, found.workspaces, totals)
}

/**
 * What use cases need to know of a request about one organisation.
 * @throws AppError not_found
 */
async function about(c: Context<App, '/organisations/:orgId'>) {
  const organisationId = c.req.param('orgId')
  if (!(await findOrganisation(c.env, organisationId))) {
    throw new AppError('not_found', 'No organisation with this id.')
  }
  return { env: c.env, actor: operatorActor(c), organisationId }
}

const badCursor = () =>
  new AppError('validation_error', 'cursor must be the next_cursor of a page.')
