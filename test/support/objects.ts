// Rows of an organisation that tests read: a completed job with its event, an API key, an invitation
// and a payment.
import { env } from 'cloudflare:workers'
import { newApiKey } from '../../src/organisations/create-api-key.ts'
import { invitations } from '../../src/platform/db/auth-schema.ts'
import { payments } from '../../src/platform/db/billing-schema.ts'
import { database, jobsDatabase } from '../../src/platform/db/database.ts'
import { apiKeys, jobs } from '../../src/platform/db/schema.ts'
import { webhookAttempts, webhookEvents } from '../../src/platform/db/webhook-schema.ts'
import { eventIdOf, newId } from '../../src/platform/ids.ts'
import { newJobId } from './jobs-database.ts'

/** A completed test job, whose event was delivered. */
export async function insertJob(organisationId: string, workspaceId: string) {
  const jobId = newJobId(organisationId)
  const eventId = eventIdOf(jobId)
  const now = new Date()
  const db = jobsDatabase(env, organisationId)
  await db.batch([
    db.insert(jobs).values({
      id: jobId,
      organisationId,
      workspaceId,
      mode: 'test',
      status: 'completed',
      modelImageUrl: 'https://shop.test/model.jpg',
      garmentImageUrl: 'https://shop.test/garment.png',
      webhookUrl: 'https://hooks.test/',
      baseUrl: 'https://try-on.test',
      createdAt: now,
      startedAt: now,
      completedAt: now,
      durationMs: 1,
      dueAt: now,
    }),
    db.insert(webhookEvents).values({
      id: eventId,
      organisationId,
      jobId,
      type: 'job.completed',
      url: 'https://hooks.test/',
      status: 'delivered',
      attempts: 1,
      dueAt: now,
      createdAt: now,
    }),
    db.insert(webhookAttempts).values({
      eventId,
      number: 1,
      at: now,
      responseStatus: 200,
      durationMs: 1,
    }),
  ])
  return { jobId, eventId }
}

/** The ids of an API key, an invitation and a paid payment. */
export async function insertObjects(organisationId: string) {
  const now = new Date()
  const db = database(env)
  const { row: key } = newApiKey({ organisationId, mode: 'test', name: 'Key' })
  const invitationId = newId('inv')
  const paymentId = newId('pay')
  await db.batch([
    db.insert(apiKeys).values(key),
    db.insert(invitations).values({
      id: invitationId,
      organisationId,
      email: `${invitationId}@shop.test`,
      role: 'viewer',
      tokenHash: invitationId,
      createdAt: now,
      expiresAt: new Date(now.getTime() + 60_000),
    }),
    db.insert(payments).values({
      id: paymentId,
      organisationId,
      kind: 'pack',
      status: 'paid',
      credits: 500,
      amount: 4_000,
      currency: 'EUR',
      provider: 'sandbox',
      createdAt: now,
      checkedAt: now,
      paidAt: now,
    }),
  ])
  return { keyId: key.id, invitationId, paymentId }
}
