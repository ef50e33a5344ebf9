// Organisations with an owner, a stored payment method and auto-reload, and what happens to them.
import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { desc, eq } from 'drizzle-orm'
import { vi } from 'vitest'
import { listAuditEntries } from '../../src/organisations/audit-log.ts'
import {
  updateAutoReload,
  type AutoReloadSettings,
} from '../../src/billing/auto-reload-settings.ts'
import { database } from '../../src/platform/db/database.ts'
import { billingAccounts, payments } from '../../src/platform/db/billing-schema.ts'
import { organisations, type OrganisationRow } from '../../src/platform/db/schema.ts'
import type { UserActor } from '../../src/domain/actor.ts'
import { developmentMailbox } from '../../src/mail/send.ts'
import { newUser } from './billing.ts'
import { runAlarm } from './retention.ts'
import { newOrganisation, type TestOrganisation } from './world.ts'

export interface BilledShop extends TestOrganisation {
  owner: UserActor
}

/** An organisation with an owner and, unless `card` is false, a stored payment method. */
export async function billedShop({
  card = true,
  ...options
}: { card?: boolean; credits?: number; region_code?: string } = {}): Promise<BilledShop> {
  const shop = await newOrganisation({ plan: 'starter', ...options })
  const owner = await newUser(shop.orgId)
  if (card) {
    await database(env)
      .insert(billingAccounts)
      .values({
        organisationId: shop.orgId,
        provider: 'sandbox',
        customerId: `cus_${shop.orgId}`,
        paymentMethod: 'Visa •••• 4242',
      })
  }
  return { ...shop, owner }
}

export const RELOAD: AutoReloadSettings = {
  enabled: true,
  threshold: 5,
  pack: 100,
  monthlyMax: 500_000,
}

export const setAutoReload = (
  { orgId, owner }: BilledShop,
  settings: Partial<AutoReloadSettings> = {},
) =>
  updateAutoReload({
    env,
    actor: owner,
    organisationId: orgId,
    settings: { ...RELOAD, ...settings },
  })

/** The payments of an organisation, newest first. */
export const paymentsOf = ({ orgId }: TestOrganisation) =>
  database(env)
    .select()
    .from(payments)
    .where(eq(payments.organisationId, orgId))
    .orderBy(desc(payments.id))

export async function rowOf({ orgId }: TestOrganisation): Promise<OrganisationRow> {
  const [row] = await database(env).select().from(organisations).where(eq(organisations.id, orgId))
  return row!
}

/** The subjects of the emails to the owner, oldest first. */
export const mailsTo = ({ owner }: BilledShop): string[] =>
  developmentMailbox()
    .filter(({ to }) => to === owner.email)
    .map(({ subject }) => subject)
    .reverse()

/** Submits live jobs one after the other, which reserve a credit each. */
export async function reserve({ live }: TestOrganisation, credits: number): Promise<string[]> {
  const body = {
    model_image_url: 'https://cdn.test/model',
    garment_image_url: 'https://cdn.test/garment',
  }
  const ids: string[] = []
  for (let n = 0; n < credits; n++) {
    const response = await live.post('/v1/tryon', body)
    const { job_id: jobId } = await response.json<{ job_id?: string }>()
    if (jobId !== undefined) ids.push(jobId)
  }
  return ids
}

/** When the alarm is set, ms since 1970. */
export const alarmAt = ({ orgId }: TestOrganisation) =>
  runInDurableObject(env.ORGANISATION.getByName(orgId), (_, { storage }) => storage.getAlarm())

/** Runs the alarm if it is due. @returns whether it was */
export async function runDueAlarm(shop: TestOrganisation): Promise<boolean> {
  const at = await alarmAt(shop)
  return at !== null && at <= Date.now() && runAlarm(shop)
}

/** The actions in the audit log of an organisation, oldest first. */
export const auditActionsOf = async ({ orgId }: TestOrganisation): Promise<string[]> =>
  (await listAuditEntries(env, orgId, { limit: 1_000 })).map(({ action }) => action).reverse()

/** Makes the batches of D1 fail that contain a statement with this text, until `mockRestore`. */
export function failBatches(text: string) {
  const matching = new WeakSet<object>()
  const prepare = env.DB.prepare.bind(env.DB)
  const prepared = vi.spyOn(env.DB, 'prepare').mockImplementation((sql) => {
    const statement = prepare(sql)
    if (!sql.includes(text)) return statement
    const bind = statement.bind.bind(statement)
    statement.bind = (...values) => {
      const bound = bind(...values)
      matching.add(bound)
      return bound
    }
    return statement
  })
  const batch = env.DB.batch.bind(env.DB)
  const batched = vi.spyOn(env.DB, 'batch').mockImplementation((statements) => {
    if (statements.some((statement) => matching.has(statement))) {
      return Promise.reject(new Error('D1 is unavailable'))
    }
    return batch(statements)
  })
  return {
    mockRestore: () => {
      prepared.mockRestore()
      batched.mockRestore()
    },
  }
}
