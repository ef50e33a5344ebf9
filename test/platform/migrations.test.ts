// Migrations of databases with rows of an earlier release.
import { applyD1Migrations } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { drizzle } from 'drizzle-orm/d1'
import { expect, it } from 'vitest'
import { JOB_STATUSES } from '../../src/domain/job.ts'
import { listJobs } from '../../src/jobs/reports/job-lists.ts'
import {
  sandboxCustomers,
  sandboxPayments,
  sandboxSubscriptions,
} from '../../src/platform/db/billing-schema.ts'
import { takeSweptJobs } from '../../src/jobs/sweep.ts'
import { migrateToBefore } from '../support/migrate-to-before.ts'

const db = env.JOBS_DB_0
const ORGANISATION_ID = 'org_00000000000000000000000001'

it('lists and sweeps the jobs of a database from before the partial indexes', async () => {
  await migrateToBefore(db, 'WHERE sweep_at > 0')
  const insert = (status: string, id: string, sweepAt: number) =>
    db
      .prepare(
        `INSERT INTO jobs (id, organisation_id, workspace_id, mode, status, base_url, created_at,
                           due_at, sweep_at)
         VALUES (?, '${ORGANISATION_ID}', 'ws_1', 'live', ?, '', 1, 1, ?)`,
      )
      .bind(id, status, sweepAt)
  await db.batch([
    ...JOB_STATUSES.map((status) => insert(status, `job_${status}`, 1)),
    insert('pending', 'job_pending_without_sweep_at', 0),
  ])
  await applyD1Migrations(db, env.TEST_MIGRATIONS)

  const migrated = { ...env, JOBS_DB_0: db }
  for (const status of JOB_STATUSES) {
    for (const workspaceId of [undefined, 'ws_1']) {
      const filter = { status, workspaceId }
      const { rows } = await listJobs({
        env: migrated,
        organisationId: ORGANISATION_ID,
        filter,
        limit: 10,
      })
      expect(rows).toHaveLength(status === 'pending' ? 2 : 1)
    }
  }
  // Ended by the version before, which still runs after the migration.
  await insert('completed', 'job_ended_by_old_version', 1).run()
  const swept = await takeSweptJobs({ db: drizzle(db), queued: [], limit: 10 })
  const { sweep_at } =
    (await db
      .prepare(`SELECT sweep_at FROM jobs WHERE id = 'job_ended_by_old_version'`)
      .first<{ sweep_at: number }>()) ?? {}
  expect(sweep_at).toBe(0)
  expect(swept.toSend.map(({ id }) => id).sort()).toEqual([
    'job_pending',
    'job_pending_without_sweep_at',
    'job_processing',
  ])
})

it('copies the requests of refunds from the audit log, the first one of each reference', async () => {
  await migrateToBefore(db, 'CREATE TABLE `refund_requests`')
  const entry = (id: string, action: string, details: object | null) =>
    db
      .prepare(
        `INSERT INTO audit_log (id, organisation_id, actor_type, action, target, details, at)
         VALUES (?, '${ORGANISATION_ID}', 'operator', ?, 'pay_1', ?, 1)`,
      )
      .bind(id, action, details && JSON.stringify(details))
  const request = (amount: number, reference: string) => ({ amount, reason: 'Goodwill', reference })
  await db.batch([
    entry('aud_3', 'payment.refund_requested', request(2_000, 'case-1')),
    entry('aud_2', 'payment.refund_requested', request(1_000, 'case-1')),
    entry('aud_1', 'payment.refunded', { amount: 1_000, credits: 125 }),
    entry('aud_4', 'payment.refund_requested', request(500, 'case-2')),
    entry('aud_5', 'session.created', null),
  ])
  await applyD1Migrations(db, env.TEST_MIGRATIONS)
  const { results } = await db.prepare('SELECT * FROM refund_requests ORDER BY reference').all()
  expect(results).toEqual([
    { payment_id: 'pay_1', reference: 'case-1', amount: 1_000, created_at: 1 },
    { payment_id: 'pay_1', reference: 'case-2', amount: 500, created_at: 1 },
  ])
})

it('converts the objects of the sandbox into rows', async () => {
  await migrateToBefore(db, 'CREATE TABLE `sandbox_customers`')
  const object = (id: string, data: object, dueAt: number | null = null) =>
    db
      .prepare(
        `INSERT INTO sandbox_objects (id, organisation_id, data, created_at, due_at)
         VALUES (?, '${ORGANISATION_ID}', ?, 1, ?)`,
      )
      .bind(id, JSON.stringify(data), dueAt)
  const card = { lastFour: '4242', behaviour: 'success' }
  const urls = { returnUrl: 'https://a.test/r', cancelUrl: 'https://a.test/c', expiresAt: 9 }
  const payment = (id: string, change: object) =>
    object(id, {
      type: 'payment',
      version: `evt_${id}`,
      paymentId: `pay_${id.slice(3)}`,
      customerId: 'cus_1',
      secret: 's',
      origin: 'https://a.test',
      item: '500 credits',
      plan: null,
      subscriptionId: null,
      checkout: urls,
      amount: 4_000,
      currency: 'USD',
      status: 'open',
      settlesAt: null,
      failure: null,
      card: null,
      buyer: { name: 'Acme', address: '', taxId: '' },
      paidAt: null,
      refunds: {},
      dispute: null,
      deleteAt: null,
      ...change,
    })
  const plan = { plan: 'growth', amount: 4_900, card }
  const subscription = {
    type: 'subscription',
    version: 'evt_1',
    customerId: 'cus_1',
    plan: 'growth',
    amount: 4_900,
    currency: 'USD',
    startedAt: 2,
    periods: 1,
    nextPlan: null,
    status: 'past_due',
    unpaidId: 'in_4_1',
    retryAt: 7,
  }
  await db.batch([
    object('cus_1', {
      type: 'customer',
      name: 'Acme',
      email: null,
      origin: 'https://a.test',
      card,
    }),
    payment('ch_1', {}),
    payment('ch_2', { status: 'expired' }),
    payment('ch_3', { status: 'processing', settlesAt: 5, card }),
    payment('ch_4', {
      ...plan,
      status: 'paid',
      paidAt: 2,
      subscriptionId: 'sub_4',
      refunds: { r: 9 },
    }),
    payment('ch_5', { ...plan, status: 'processing', settlesAt: 5 }),
    object('sub_4', subscription, 7),
    object('bps_1', { type: 'portal', customerId: 'cus_1', returnUrl: '', expiresAt: 1 }, 1),
    object('ev_1', { type: 'event', paymentId: 'pay_1', subscriptionId: null }, 1),
  ])
  await applyD1Migrations(db, env.TEST_MIGRATIONS)
  const client = drizzle(db)
  expect(await client.select().from(sandboxCustomers)).toMatchObject([
    { id: 'cus_1', organisationId: ORGANISATION_ID, name: 'Acme', card: '4242', cardPageKey: null },
  ])
  const payments = await client.select().from(sandboxPayments).orderBy(sandboxPayments.id)
  expect(payments).toMatchObject([
    { id: 'ch_1', status: 'open', paidAt: null, expiresAt: new Date(9), returnUrl: urls.returnUrl },
    { id: 'ch_2', status: 'open', expiresAt: new Date(9) },
    { id: 'ch_3', status: 'paid', paidAt: new Date(5), card: '4242' },
    { id: 'ch_4', status: 'paid', paidAt: new Date(2), subscriptionId: 'sub_4', refunds: { r: 9 } },
    { id: 'ch_5', status: 'open', subscriptionId: 'sub_5' },
  ])
  expect(await client.select().from(sandboxSubscriptions)).toMatchObject([
    { id: 'sub_4', plan: 'growth', startedAt: new Date(2), status: 'past_due', dueAt: new Date(7) },
  ])
})
