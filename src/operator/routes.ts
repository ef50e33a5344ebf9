// The API for staff, who have the operator token. docs/operator.md describes its JSON.
import { Hono } from 'hono'
import { revokeApiKey } from '../accounts/api-keys.ts'
import { createApiKey } from '../accounts/create-api-key.ts'
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
import { presentWorkspace } from '../accounts/present.ts'
import { readAuditLog } from '../accounts/read-audit-log.ts'
import { rotateWebhookSecret } from '../accounts/webhook-secret.ts'
import { createWorkspace, updateWorkspace } from '../accounts/workspaces.ts'
import { AppError } from '../domain/errors.ts'
import { pageOf } from '../domain/page.ts'
import { baseUrlOf, urlPolicyOf } from '../http/base-url.ts'
import type { App } from '../http/context.ts'
import { validBody, validQuery } from '../http/validation.ts'
import { isId } from '../ids.ts'
import { withdrawJob } from '../jobs/cancel.ts'
import { reasonForStaff } from '../jobs/failure-record.ts'
import { presentJob } from '../jobs/present.ts'
import { findJob } from '../jobs/store.ts'
import { organisationStub } from '../organisation/stub.ts'
import { operatorActor, operatorOnly } from './authenticate.ts'
import { billing } from './billing.ts'
import { existingOrganisation, organisationNotFound } from './existing-organisation.ts'
import { presentAuditEntry, presentOrganisation, presentOrganisationDetails } from './present.ts'
import {
  Credits,
  definedOnly,
  NewApiKey,
  newOrganisation,
  NewWorkspace,
  organisationChange,
  pageQuery,
  WorkspaceChange,
} from './requests.ts'

export const operator = new Hono<App>()
  .use(operatorOnly)

  .post(
    '/organisations',
    validBody((c) => newOrganisation(urlPolicyOf(c))),
    async (c) => {
      const body = c.req.valid('json')
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
    },
  )
  .get('/organisations', validQuery(pageQuery((text) => isId('org', text))), async (c) => {
    const { cursor, limit } = c.req.valid('query')
    const found = await listOrganisations({
      env: c.env,
      actor: operatorActor(c),
      limit: limit + 1,
      afterId: cursor,
    })
    const { rows, hasMore } = pageOf(found, limit)
    return c.json({
      organisations: rows.map(presentOrganisation),
      next_cursor: hasMore ? (rows.at(-1)?.id ?? null) : null,
      has_more: hasMore,
    })
  })

  .get('/organisations/:orgId', async (c) => c.json(await readDetails(c.env, c.req.param('orgId'))))
  .patch(
    '/organisations/:orgId',
    validBody((c) => organisationChange(urlPolicyOf(c))),
    async (c) => {
      const organisationId = c.req.param('orgId')
      const body = c.req.valid('json')
      await updateOrganisation({
        env: c.env,
        actor: operatorActor(c),
        organisationId,
        change: definedOnly({
          status: body.status,
          suspensionReason: body.suspension_reason,
          plan: body.plan,
          rateLimitPerMinute: body.rate_limit_per_minute,
          defaultWebhookUrl: body.default_webhook_url,
          autoReloadEnabled: body.auto_reload_enabled,
          outputRetentionDays: body.output_retention_days,
        }),
      })
      return c.json(await readDetails(c.env, organisationId))
    },
  )
  .delete('/organisations/:orgId', async (c) => {
    const { id, status, deleteAfter } = await scheduleOrganisationDeletion({
      env: c.env,
      actor: operatorActor(c),
      organisationId: c.req.param('orgId'),
      baseUrl: baseUrlOf(c),
    })
    return c.json({ org_id: id, status, delete_after: deleteAfter.toISOString() }, 202)
  })
  .post('/organisations/:orgId/restore', async (c) => {
    const organisationId = c.req.param('orgId')
    await cancelOrganisationDeletion({ env: c.env, actor: operatorActor(c), organisationId })
    return c.json(await readDetails(c.env, organisationId))
  })

  .post('/organisations/:orgId/credits', existingOrganisation, validBody(Credits), async (c) => {
    const credits = await addCredits({ ...c.var.request, ...c.req.valid('json') })
    return c.json({ credits })
  })
  .post('/organisations/:orgId/webhook-secret/rotate', existingOrganisation, async (c) =>
    c.json({ webhook_secret: await rotateWebhookSecret(c.var.request) }),
  )
  .get(
    '/organisations/:orgId/audit-log',
    existingOrganisation,
    validQuery(pageQuery((text) => isId('aud', text))),
    async (c) => {
      const { cursor, limit } = c.req.valid('query')
      const { rows, hasMore } = await readAuditLog({
        ...c.var.request,
        limit,
        beforeId: cursor,
      })
      return c.json({
        entries: rows.map(presentAuditEntry),
        next_cursor: hasMore ? (rows.at(-1)?.id ?? null) : null,
        has_more: hasMore,
      })
    },
  )

  .post('/organisations/:orgId/api-keys', existingOrganisation, validBody(NewApiKey), async (c) => {
    const { mode } = c.req.valid('json')
    const created = await createApiKey({ ...c.var.request, mode, name: 'Created by an operator' })
    if (!created) throw new Error('The id of the new API key already exists')
    return c.json({ ...created, mode }, 201)
  })
  .delete('/organisations/:orgId/api-keys/:keyId', existingOrganisation, async (c) => {
    await revokeApiKey({ ...c.var.request, keyId: c.req.param('keyId') })
    return c.body(null, 204)
  })

  .post(
    '/organisations/:orgId/workspaces',
    existingOrganisation,
    validBody(NewWorkspace),
    async (c) => {
      const { name } = c.req.valid('json')
      return c.json(presentWorkspace(await createWorkspace({ ...c.var.request, name })), 201)
    },
  )
  .patch(
    '/organisations/:orgId/workspaces/:workspaceId',
    existingOrganisation,
    validBody(WorkspaceChange),
    async (c) => {
      const { name, status } = c.req.valid('json')
      const workspace = await updateWorkspace({
        ...c.var.request,
        workspaceId: c.req.param('workspaceId'),
        change: definedOnly({ name, status }),
      })
      return c.json(presentWorkspace(workspace))
    },
  )

  .get('/jobs/:jobId', async (c) => {
    const job = await findJob(c.env, c.req.param('jobId'))
    if (!job) throw new AppError('not_found', 'No job with this id.')
    return c.json({
      ...presentJob({ env: c.env, baseUrl: baseUrlOf(c), job }),
      org_id: job.organisationId,
      engine: job.engine,
      attempts: job.attempts,
      failure_reason: reasonForStaff(job),
      request_id: job.requestId,
    })
  })
  .post('/jobs/:jobId/withdraw', async (c) => {
    const job = await withdrawJob({
      env: c.env,
      actor: operatorActor(c),
      jobId: c.req.param('jobId'),
    })
    return c.json({ job_id: job.id, status: job.status })
  })

  .route('/', billing)

/** @throws AppError not_found */
async function readDetails(env: Env, organisationId: string) {
  const found = await findOrganisation(env, organisationId)
  if (!found) throw organisationNotFound()
  const totals = await organisationStub(env, organisationId).totals()
  return presentOrganisationDetails(found.organisation, found.workspaces, totals)
}
