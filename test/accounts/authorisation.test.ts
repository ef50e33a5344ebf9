// Every use case of an organisation checks its actor, whichever page or endpoint calls it.
import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, it } from 'vitest'
import type { OrganisationRequest } from '../../src/access/authorisation.ts'
import {
  activeKeysCreatedBy,
  createApiKey,
  listApiKeys,
  revokeApiKey,
} from '../../src/accounts/api-keys.ts'
import { createOrganisation } from '../../src/accounts/create-organisation.ts'
import { addCredits } from '../../src/accounts/credits.ts'
import {
  cancelOrganisationDeletion,
  scheduleOrganisationDeletion,
} from '../../src/accounts/delete-organisation.ts'
import { exportOrganisation } from '../../src/accounts/export-organisation.ts'
import { invite, withdrawInvitation } from '../../src/accounts/invitations.ts'
import { changeRole, readMember, readTeam, removeMember } from '../../src/accounts/members.ts'
import { listOrganisations, updateOrganisation } from '../../src/accounts/organisations.ts'
import { readAuditLog } from '../../src/accounts/read-audit-log.ts'
import { revealWebhookSecret, rotateWebhookSecret } from '../../src/accounts/webhook-secret.ts'
import { createWorkspace, listWorkspaces, updateWorkspace } from '../../src/accounts/workspaces.ts'
import { members, users } from '../../src/db/auth-schema.ts'
import { database } from '../../src/db/client.ts'
import type { Actor } from '../../src/domain/actor.ts'
import { newId } from '../../src/ids.ts'
import { deleteOutput } from '../../src/retention/delete-output.ts'
import { enableEndpoint, listDisabledEndpoints } from '../../src/webhooks/endpoints.ts'
import { listAttempts, listEvents, readEvent } from '../../src/webhooks/read.ts'
import { resendEvent } from '../../src/webhooks/resend.ts'
import { newOrganisation } from '../support/world.ts'

type UseCase = (request: OrganisationRequest & { userId: string }) => unknown

const FOR_MEMBERS: Record<string, UseCase> = {
  createApiKey: (request) => createApiKey({ ...request, mode: 'test', name: 'Key' }),
  revokeApiKey: (request) => revokeApiKey({ ...request, keyId: 'key_x' }),
  listApiKeys,
  createWorkspace: (request) => createWorkspace({ ...request, name: 'Outlet' }),
  updateWorkspace: (request) =>
    updateWorkspace({ ...request, workspaceId: 'ws_x', change: { name: 'Outlet' } }),
  listWorkspaces,
  readTeam,
  'updateOrganisation, webhook URL': (request) =>
    updateOrganisation({ ...request, change: { defaultWebhookUrl: null } }),
  enableEndpoint: (request) => enableEndpoint({ ...request, url: 'https://hooks.test/' }),
  listDisabledEndpoints,
  listEvents: (request) => listEvents({ ...request, limit: 1 }),
  readEvent: (request) => readEvent({ ...request, eventId: 'evt_x' }),
  listAttempts: (request) => listAttempts({ ...request, eventId: 'evt_x' }),
  resendEvent: (request) => resendEvent({ ...request, eventId: 'evt_x' }),
  deleteOutput: (request) => deleteOutput({ ...request, jobId: 'job_x' }),
}

const FOR_OWNERS: Record<string, UseCase> = {
  'updateOrganisation, name': (request) =>
    updateOrganisation({ ...request, change: { name: 'Renamed' } }),
  'updateOrganisation, retention': (request) =>
    updateOrganisation({ ...request, change: { outputRetentionDays: 1 } }),
  invite: (request) =>
    invite({
      ...request,
      organisationName: 'Shop',
      baseUrl: 'https://try-on.example',
      email: 'new@shop.example',
      role: 'owner',
    }),
  withdrawInvitation: (request) => withdrawInvitation({ ...request, invitationId: 'inv_x' }),
  readMember,
  activeKeysCreatedBy,
  removeMember: (request) => removeMember({ ...request, revokeKeys: false }),
  changeRole: (request) => changeRole({ ...request, role: 'developer' }),
  rotateWebhookSecret,
  revealWebhookSecret,
  readAuditLog: (request) => readAuditLog({ ...request, limit: 1 }),
  exportOrganisation: (request) => exportOrganisation({ ...request, baseUrl: 'https://x.test' }),
  scheduleOrganisationDeletion: (request) =>
    scheduleOrganisationDeletion({ ...request, baseUrl: 'https://x.test' }),
  cancelOrganisationDeletion,
}

const FOR_OPERATORS: Record<string, UseCase> = {
  addCredits: (request) => addCredits({ ...request, amount: 1, reason: 'x', reference: 'x' }),
  'updateOrganisation, status': (request) =>
    updateOrganisation({ ...request, change: { status: 'active' } }),
  'updateOrganisation, plan': (request) =>
    updateOrganisation({ ...request, change: { plan: 'starter' } }),
  'updateOrganisation, rate limit': (request) =>
    updateOrganisation({ ...request, change: { rateLimitPerMinute: 1_000 } }),
  listOrganisations: (request) => listOrganisations({ ...request, limit: 1 }),
  createOrganisation: (request) =>
    createOrganisation({
      env,
      actor: request.actor,
      name: 'Acme',
      regionCode: 'EU',
      plan: 'starter',
      credits: 1,
      rateLimitPerMinute: 1,
      defaultWebhookUrl: null,
      workspaceName: 'Default',
    }),
}

let organisationId: string
let owner: Actor & { userId: string }
let member: Actor & { userId: string }
let outsider: Actor & { userId: string }

/** Inserts a user, who is a member of the organisation if a role is given. */
async function newUser(role?: 'owner' | 'developer') {
  const userId = newId('usr')
  const email = `${userId}@shop.example`
  const db = database(env)
  const now = new Date()
  await db
    .insert(users)
    .values({ id: userId, name: 'Ada', email, emailVerified: true, createdAt: now, updatedAt: now })
  if (role) await db.insert(members).values({ organisationId, userId, role, createdAt: now })
  return { type: 'user' as const, userId, email, ipAddress: null }
}

beforeAll(async () => {
  organisationId = (await newOrganisation()).orgId
  owner = await newUser('owner')
  member = await newUser('developer')
  outsider = await newUser()
})

/** Runs a use case about the owner's membership. */
const run = async (useCase: UseCase, actor: Actor) =>
  useCase({ env, actor, organisationId, userId: owner.userId })

const NOT_FOUND = { name: 'AppError', code: 'not_found' }

describe('use cases for members', () => {
  it.each(Object.entries(FOR_MEMBERS))(
    '%s rejects users of other organisations',
    async (_, each) => {
      await expect(run(each, outsider)).rejects.toMatchObject(NOT_FOUND)
    },
  )
})

describe('use cases for owners', () => {
  it.each(Object.entries(FOR_OWNERS))('%s rejects members and API keys', async (_, each) => {
    const apiKey: Actor = { type: 'api_key', keyHash: 'x', ipAddress: null }
    for (const actor of [outsider, member, apiKey]) {
      await expect(run(each, actor)).rejects.toMatchObject(NOT_FOUND)
    }
  })

  it('let members read and remove their own membership', async () => {
    const request = { env, actor: member, organisationId, userId: member.userId }
    expect(await readMember(request)).toMatchObject({ role: 'developer' })
    expect(await activeKeysCreatedBy(request)).toEqual([])
  })
})

describe('use cases for operators', () => {
  it.each(Object.entries(FOR_OPERATORS))('%s rejects owners', async (_, each) => {
    await expect(run(each, owner)).rejects.toMatchObject(NOT_FOUND)
  })
})
