// What an organisation has done of the steps from its first test job to production.
import { eq, sql, type SQL } from 'drizzle-orm'
import { requirePermission, type OrganisationRequest } from './authorisation.ts'
import { database, jobsDatabase } from '../platform/db/database.ts'
import { billingAccounts, payments } from '../platform/db/billing-schema.ts'
import { apiKeys, IS_FINAL, jobs, organisations } from '../platform/db/schema.ts'
import { webhookEndpoints, webhookEvents } from '../platform/db/webhook-schema.ts'
import { AppError } from '../domain/errors.ts'
import { DEFAULT_ENDPOINT } from '../domain/webhook.ts'
import { isActiveKey } from './api-keys.ts'

/** How many of the latest jobs and events are searched. Bounds what a page reads. */
const SEARCHED_ROWS = 500

/**
 * Reads the state in one statement per database. For the permission `develop`.
 * @returns `hasBilling`: whether it has a payment method, a paid plan or a payment
 * @throws AppError not_found
 */
export async function readGoLiveState(request: OrganisationRequest) {
  await requirePermission(request, 'develop')
  const { env, organisationId } = request
  const [[account], [work]] = await Promise.all([
    database(env)
      .select({
        hasLiveKey: flag(sql`exists (select 1 from ${apiKeys}
          where ${apiKeys.organisationId} = ${organisationId} and ${apiKeys.mode} = 'live'
            and ${isActiveKey()})`),
        formerUrl: organisations.defaultWebhookUrl,
        hasBilling: flag(sql`${organisations.plan} <> 'starter'
          or exists (select 1 from ${billingAccounts}
            where ${billingAccounts.organisationId} = ${organisationId}
              and ${billingAccounts.paymentMethod} is not null)
          or exists (select 1 from ${payments}
            where ${payments.organisationId} = ${organisationId} and ${payments.status} = 'paid')`),
      })
      .from(organisations)
      .where(eq(organisations.id, organisationId)),
    jobsDatabase(env, organisationId)
      .select({
        hasDelivery: flag(sql`exists (select 1 from (select ${webhookEvents.status} as status
            from ${webhookEvents} where ${webhookEvents.organisationId} = ${organisationId}
            order by ${webhookEvents.id} desc limit ${SEARCHED_ROWS})
          where status = 'delivered')`),
        hasLiveJob: flag(sql`exists (select 1 from (select ${jobs.mode} as mode from ${jobs}
            where ${jobs.organisationId} = ${organisationId} and ${IS_FINAL}
              and ${jobs.status} = 'completed'
            order by ${jobs.id} desc limit ${SEARCHED_ROWS})
          where mode = 'live')`),
        defaultUrl: sql<string | null>`(select ${webhookEndpoints.url} from ${webhookEndpoints}
          where ${webhookEndpoints.organisationId} = ${organisationId}
            and ${webhookEndpoints.id} = ${DEFAULT_ENDPOINT})`,
      })
      .from(sql`(select 1)`),
  ])
  if (!account || !work) throw new AppError('not_found')
  const { formerUrl, ...steps } = account
  const { defaultUrl, ...done } = work
  return { ...steps, ...done, hasWebhookUrl: Boolean(defaultUrl ?? formerUrl) }
}

const flag = (condition: SQL) => sql`(${condition})`.mapWith(Boolean)
