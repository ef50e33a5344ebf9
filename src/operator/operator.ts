// The API for staff, who have the operator token. docs/operator.md describes its JSON.
import { Hono, type Context } from 'hono'
import { rateLimitOf } from '../billing/plans.ts'
import { updateOrganisation } from '../billing/update-organisation.ts'
import { organisationStub } from '../credits/organisation-stub.ts'
import { AppError } from '../domain/errors.ts'
import { pageOf } from '../domain/page.ts'
import { DEFAULT_ENDPOINT } from '../domain/webhook.ts'
import { baseUrlOf, urlPolicyOf } from '../http/base-url.ts'
import { nextPage } from '../http/pagination.ts'
import { definedOnly, validBody, validQuery } from '../http/validation.ts'
import { withdrawJob } from '../jobs/cancel.ts'
import { findJob } from '../jobs/job-store.ts'
import { presentJob } from '../jobs/present-job.ts'
import { reasonForStaff } from '../jobs/processing/failure-record.ts'
import { readState } from '../jobs/monitoring/alert-state.ts'
import { ALERTS } from '../jobs/monitoring/alerts.ts'
import { sendTestAlert } from '../jobs/monitoring/evaluate-alerts.ts'
import { revokeApiKey } from '../organisations/api-keys.ts'
import { createApiKey } from '../organisations/create-api-key.ts'
import { createOrganisation } from '../organisations/create-organisation.ts'
import { addCredits } from '../organisations/grant-credits.ts'
import { findOrganisation, listOrganisations } from '../organisations/organisations.ts'
import { presentWorkspace, createWorkspace, updateWorkspace } from '../organisations/workspaces.ts'
import { readAuditLog } from '../organisations/audit-log.ts'
import {
  cancelOrganisationDeletion,
  scheduleOrganisationDeletion,
} from '../privacy/delete-organisation.ts'
import { createDefaultEndpoint, defaultUrlsOf } from '../webhooks/endpoints/default-endpoint.ts'
import { rotateSecret, setDefaultUrl } from '../webhooks/endpoints/endpoints.ts'
import {
  existingOrganisation,
  operatorOnly,
  organisationNotFound,
  type OperatorApp,
} from './authenticate-operator.ts'
import { billing } from './billing-routes.ts'
import { presentAuditEntry, presentOrganisation } from './present-operator.ts'
import {
  Credits,
  NewApiKey,
  newOrganisation,
  NewWorkspace,
  organisationChange,
  pageQuery,
  WorkspaceChange,
} from './requests.ts'

export const operator = new Hono<OperatorApp>()
  .use(operatorOnly)

  .post(
    '/organisations',
    validBody((c) => newOrganisation(urlPolicyOf(c))),
    async (c) => {
      const body = c.req.valid('json')
      const { organisation, workspaces, keys } = await createOrganisation({
        ...c.var.staff,
        name: body.name,
        regionCode: body.region_code,
        plan: body.plan,
        credits: body.credits,
        rateLimitPerMinute: body.rate_limit_per_minute ?? rateLimitOf(body.plan),
        rateLimitOverridden: body.rate_limit_per_minute !== undefined,
        workspaceName: body.workspace_name,
      })
      const url = body.default_webhook_url
      const organisationId = organisation.id
      const webhookSecret = await createDefaultEndpoint({ ...c.var.staff, organisationId, url })
      return c.json(
        {
          ...presentOrganisation(organisation, url),
          credits: body.credits,
          webhook_secret: webhookSecret,
          workspaces: workspaces.map(presentWorkspace),
          api_keys: keys,
        },
        201,
      )
    },
  )
  .get('/organisations', validQuery(pageQuery('org')), async (c) => {
    const { cursor, limit } = c.req.valid('query')
    const found = await listOrganisations({ ...c.var.staff, limit: limit + 1, afterId: cursor })
    const page = pageOf(found, limit)
    const urls = await defaultUrlsOf({ ...c.var.staff, organisations: page.rows })
    const organisations = page.rows.map((row) => presentOrganisation(row, urls.get(row.id)))
    return c.json({ organisations, ...nextPage(page) })
  })

  .get('/organisations/:orgId', async (c) => c.json(await readDetails(c, c.req.param('orgId'))))
  .patch(
    '/organisations/:orgId',
    validBody((c) => organisationChange(urlPolicyOf(c))),
    async (c) => {
      const organisationId = c.req.param('orgId')
      const body = c.req.valid('json')
      const request = { ...c.var.staff, organisationId }
      await updateOrganisation({
        ...request,
        change: definedOnly({
          status: body.status,
          suspensionReason: body.suspension_reason,
          plan: body.plan,
          rateLimitPerMinute: body.rate_limit_per_minute,
          autoReloadEnabled: body.auto_reload_enabled,
          autoReloadCeiling: body.auto_reload_ceiling,
          outputRetentionDays: body.output_retention_days,
        }),
      })
      const url = body.default_webhook_url
      if (url !== undefined) await setDefaultUrl({ ...request, url })
      return c.json(await readDetails(c, organisationId))
    },
  )
  .delete('/organisations/:orgId', async (c) => {
    const { id, status, deleteAfter } = await scheduleOrganisationDeletion({
      ...c.var.staff,
      organisationId: c.req.param('orgId'),
      baseUrl: baseUrlOf(c),
    })
    return c.json({ org_id: id, status, delete_after: deleteAfter.toISOString() }, 202)
  })
  .post('/organisations/:orgId/restore', async (c) => {
    const organisationId = c.req.param('orgId')
    await cancelOrganisationDeletion({ ...c.var.staff, organisationId })
    return c.json(await readDetails(c, organisationId))
  })

  .post('/organisations/:orgId/credits', existingOrganisation, validBody(Credits), async (c) => {
    const credits = await addCredits({ ...c.var.request, ...c.req.valid('json') })
    return c.json({ credits })
  })
  .post('/organisations/:orgId/webhook-secret/rotate', existingOrganisation, async (c) =>
    c.json({
      webhook_secret: await rotateSecret({ ...c.var.request, endpointId: DEFAULT_ENDPOINT }),
    }),
  )
  .get(
    '/organisations/:orgId/audit-log',
    existingOrganisation,
    validQuery(pageQuery('aud')),
    async (c) => {
      const { cursor, limit } = c.req.valid('query')
      const page = await readAuditLog({ ...c.var.request, limit, beforeId: cursor })
      return c.json({ entries: page.rows.map(presentAuditEntry), ...nextPage(page) })
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
      ...presentJob(c.env, baseUrlOf(c), job),
      org_id: job.organisationId,
      engine: job.engine,
      attempts: job.attempts,
      failure_reason: reasonForStaff(job),
      request_id: job.requestId,
    })
  })
  .post('/jobs/:jobId/withdraw', async (c) => {
    const job = await withdrawJob({ ...c.var.staff, jobId: c.req.param('jobId') })
    return c.json({ job_id: job.id, status: job.status })
  })

  .get('/alerts', async (c) => {
    const { entries, evaluatedAt } = await readState(c.env)
    return c.json({
      alerts: ALERTS.map(({ name, severity, condition, runbook, budget }) => {
        const ofChannels = Object.values(entries).flatMap((channel) => channel[name] ?? [])
        const [entry] = ofChannels
        return {
          name,
          severity,
          condition,
          runbook,
          budget,
          status: ofChannels.some(({ isSent }) => isSent) ? 'firing' : entry ? 'pending' : 'ok',
          since: entry ? new Date(entry.since).toISOString() : null,
          summary: entry?.summary ?? null,
        }
      }),
      evaluated_at: evaluatedAt?.toISOString() ?? null,
    })
  })
  .post('/alerts/test', async (c) => c.json({ channels: await sendTestAlert(c.env) }))

  .route('/', billing)

/** @throws AppError not_found */
async function readDetails(c: Context<OperatorApp>, organisationId: string) {
  const { staff } = c.var
  const found = await findOrganisation(staff.env, organisationId)
  if (!found) throw organisationNotFound()
  const { organisation, workspaces } = found
  const [ledger, urls] = await Promise.all([
    organisationStub(staff.env, organisationId).totals(),
    defaultUrlsOf({ ...staff, organisations: [organisation] }),
  ])
  return {
    ...presentOrganisation(organisation, urls.get(organisationId)),
    credits: ledger.balance,
    workspaces: workspaces.map(presentWorkspace),
    ledger,
  }
}
