// What an organisation has done of the steps from its first test job to production.
import { eq, sql } from 'drizzle-orm'
import { requirePermission } from '../access/authorisation.ts'
import type { OrganisationRequest } from '../access/authorisation.ts'
import { database } from '../db/client.ts'
import { jobsDatabase } from '../db/shards.ts'
import { billingAccounts, payments } from '../db/billing-schema.ts'
import { apiKeys, FINISHED, jobs, organisations } from '../db/schema.ts'
import { webhookEvents } from '../db/webhook-schema.ts'
import { AppError } from '../domain/errors.ts'
import { isActiveKey } from './active-key.ts'

/** How many of the latest jobs and events are searched. Bounds what a page reads. */
const SEARCHED_ROWS = 500

export interface GoLiveState {
  hasLiveKey: boolean
  hasWebhookUrl: boolean
  hasDelivery: boolean
  hasLiveJob: boolean
  /** A payment method, a paid plan or a payment. */
  hasBilling: boolean
}

/**
 * Reads the state in one statement per database. For the permission `develop`.
 * @throws AppError not_found
 */
export async function readGoLiveState({
  env,
  actor,
  organisationId,
}: OrganisationRequest): Promise<GoLiveState> {
  await requirePermission({ env, actor, organisationId }, 'develop')
  const [account, work] = await Promise.all([
    readAccount(env, organisationId),
    readWork(env, organisationId),
  ])
  if (!account) throw new AppError('not_found')
  return { ...account, ...work }
}

async function readAccount(env: Env, organisationId: string) {
  const [state] = await database(env)
    .select({
      hasLiveKey: flag(sql`exists (select 1 from ${apiKeys}
        where ${apiKeys.organisationId} = ${organisationId} and ${apiKeys.mode} = 'live'
          and ${isActiveKey()})`),
      hasWebhookUrl: flag(sql`${organisations.defaultWebhookUrl} is not null`),
      hasBilling: flag(sql`${organisations.plan} <> 'starter'
        or exists (select 1 from ${billingAccounts}
          where ${billingAccounts.organisationId} = ${organisationId}
            and ${billingAccounts.paymentMethod} is not null)
        or exists (select 1 from ${payments}
          where ${payments.organisationId} = ${organisationId} and ${payments.status} = 'paid')`),
    })
    .from(organisations)
    .where(eq(organisations.id, organisationId))
  return state
}

async function readWork(env: Env, organisationId: string) {
  const [state] = await jobsDatabase(env, organisationId).all<Record<string, number>>(sql`
    select exists (select 1 from (select ${webhookEvents.status} as status
          from ${webhookEvents} where ${webhookEvents.organisationId} = ${organisationId}
          order by ${webhookEvents.id} desc limit ${SEARCHED_ROWS})
        where status = 'delivered') as delivered,
      exists (select 1 from (select ${jobs.mode} as mode from ${jobs}
          where ${jobs.organisationId} = ${organisationId} and ${FINISHED}
            and ${jobs.status} = 'completed'
          order by ${jobs.id} desc limit ${SEARCHED_ROWS})
        where mode = 'live') as live`)
  return { hasDelivery: Boolean(state?.delivered), hasLiveJob: Boolean(state?.live) }
}

const flag = (condition: ReturnType<typeof sql>) => sql`(${condition})`.mapWith(Boolean)
