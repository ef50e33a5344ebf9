// Every use case of an organisation checks its actor, whichever page or endpoint calls it.
import { env } from 'cloudflare:workers'
import { describe, expect, it, vi } from 'vitest'
import type { OrganisationRequest } from '../../src/organisations/authorisation.ts'
import { activeKeysCreatedBy, listApiKeys, revokeApiKey } from '../../src/organisations/api-keys.ts'
import { createApiKey } from '../../src/organisations/create-api-key.ts'
import { createOrganisation } from '../../src/organisations/create-organisation.ts'
import { addCredits } from '../../src/organisations/grant-credits.ts'
import {
  cancelOrganisationDeletion,
  scheduleOrganisationDeletion,
} from '../../src/privacy/delete-organisation.ts'
import { exportOrganisation } from '../../src/privacy/export-organisation.ts'
import { invite, withdrawInvitation } from '../../src/organisations/invitations.ts'
import { changeRole, readMember, readTeam, removeMember } from '../../src/organisations/members.ts'
import { listOrganisations } from '../../src/organisations/organisations.ts'
import { updateOrganisation } from '../../src/billing/update-organisation.ts'
import { readAuditLog } from '../../src/organisations/audit-log.ts'
import {
  createWorkspace,
  listWorkspaces,
  updateWorkspace,
} from '../../src/organisations/workspaces.ts'
import { buyPack } from '../../src/billing/buy-pack.ts'
import { changePlan } from '../../src/billing/change-plan.ts'
import { openPortal, readBilling } from '../../src/billing/billing-account.ts'
import { readPayment } from '../../src/billing/refresh-payment.ts'
import { updateAutoReload } from '../../src/billing/auto-reload-settings.ts'
import { members, users } from '../../src/platform/db/auth-schema.ts'
import { database } from '../../src/platform/db/database.ts'
import type { Actor } from '../../src/domain/actor.ts'
import { AppError } from '../../src/domain/errors.ts'
import type { Role } from '../../src/domain/role.ts'
import { DEFAULT_ENDPOINT } from '../../src/domain/webhook.ts'
import {
  createDefaultEndpoint,
  defaultUrlsOf,
} from '../../src/webhooks/endpoints/default-endpoint.ts'
import { newId } from '../../src/platform/ids.ts'
import { deleteOutput } from '../../src/privacy/delete-output.ts'
import {
  addEndpoint,
  deleteEndpoint,
  listEndpoints,
  readEndpoint,
  revealSecret,
  rotateSecret,
  setDefaultUrl,
  updateEndpoint,
} from '../../src/webhooks/endpoints/endpoints.ts'
import {
  enableReceiver,
  listFailingReceivers,
} from '../../src/webhooks/endpoints/failing-receivers.ts'
import {
  countFailedDeliveries,
  listDeliveries,
} from '../../src/webhooks/delivery/read-deliveries.ts'
import {
  listAttempts,
  listEndpointOutcomes,
  readDelivery,
  readEvent,
} from '../../src/webhooks/event-reads.ts'
import { resendEvent, resendFailedEvents } from '../../src/webhooks/delivery/resend.ts'
import { insertJob, insertObjects } from '../support/objects.ts'
import { newOrganisation } from '../support/world.ts'

const baseUrl = 'http://localhost:8787'
/** All deliveries of test jobs. */
const DELIVERIES = { filter: { mode: 'test' }, start: {}, limit: 10 } as const
const ENDPOINT = {
  name: 'Shop',
  url: 'https://hooks.test/',
  types: ['job.failed' as const],
  mode: null,
}
const ORDER = { baseUrl, amount: 1, currency: 'EUR' }

/** Who may do what. `limited` is a developer who may access one workspace. */
const ACTORS = ['owner', 'developer', 'limited', 'billing', 'viewer', 'apiKey', 'outsider'] as const
type ActorName = (typeof ACTORS)[number]
const MEMBERS: ActorName[] = ['owner', 'developer', 'limited', 'billing', 'viewer', 'apiKey']
const READERS: ActorName[] = ['owner', 'developer', 'limited', 'viewer', 'apiKey']
const DEVELOPERS: ActorName[] = ['owner', 'developer', 'limited', 'apiKey']
const UNLIMITED: ActorName[] = ['owner', 'developer', 'apiKey']
const BUYERS: ActorName[] = ['owner', 'billing']
const OWNERS: ActorName[] = ['owner']
const OPERATORS: ActorName[] = []

type Objects = Awaited<ReturnType<typeof newTeam>>['objects']
type UseCase = (request: OrganisationRequest & Objects) => unknown

const USE_CASES: Record<string, [allowed: ActorName[], run: UseCase]> = {
  readTeam: [MEMBERS, readTeam],
  listWorkspaces: [MEMBERS, listWorkspaces],

  listDeliveries: [READERS, (request) => listDeliveries({ ...request, ...DELIVERIES })],
  readEvent: [READERS, readEvent],
  listAttempts: [READERS, listAttempts],
  readDelivery: [READERS, readDelivery],
  countFailedDeliveries: [
    READERS,
    (request) => countFailedDeliveries({ ...request, filter: { mode: 'test' } }),
  ],
  listEndpointOutcomes: [READERS, listEndpointOutcomes],
  listFailingReceivers: [READERS, listFailingReceivers],
  listEndpoints: [READERS, listEndpoints],
  readEndpoint: [READERS, (request) => withEndpoint(request, readEndpoint)],

  resendEvent: [DEVELOPERS, resendEvent],
  resendFailedEvents: [
    DEVELOPERS,
    (request) => resendFailedEvents({ ...request, filter: { mode: 'test' } }),
  ],
  deleteOutput: [DEVELOPERS, deleteOutput],
  listApiKeys: [DEVELOPERS, listApiKeys],

  createApiKey: [UNLIMITED, (request) => createApiKey({ ...request, mode: 'live', name: 'Key' })],
  revokeApiKey: [UNLIMITED, revokeApiKey],
  setDefaultUrl: [UNLIMITED, (request) => setDefaultUrl({ ...request, url: null })],
  enableReceiver: [
    UNLIMITED,
    (request) => enableReceiver({ ...request, receiver: 'https://hooks.test' }),
  ],
  addEndpoint: [
    UNLIMITED,
    (request) => addEndpoint({ ...request, endpointId: newId('we'), settings: ENDPOINT }),
  ],
  updateEndpoint: [
    UNLIMITED,
    (request) =>
      withEndpoint(request, (added) => updateEndpoint({ ...added, change: { name: 'New' } })),
  ],
  deleteEndpoint: [UNLIMITED, (request) => withEndpoint(request, deleteEndpoint)],
  rotateSecret: [UNLIMITED, (request) => withEndpoint(request, rotateSecret)],
  revealSecret: [UNLIMITED, (request) => withEndpoint(request, revealSecret)],
  'rotateSecret, default endpoint': [
    UNLIMITED,
    (request) => rotateSecret({ ...request, endpointId: DEFAULT_ENDPOINT }),
  ],
  'revealSecret, default endpoint': [
    UNLIMITED,
    (request) => revealSecret({ ...request, endpointId: DEFAULT_ENDPOINT }),
  ],

  readBilling: [BUYERS, readBilling],
  readPayment: [BUYERS, readPayment],
  buyPack: [BUYERS, (request) => buyPack({ ...request, ...ORDER, pack: 500 })],
  changePlan: [BUYERS, (request) => changePlan({ ...request, ...ORDER, plan: 'growth' })],
  openPortal: [BUYERS, (request) => openPortal({ ...request, baseUrl })],
  updateAutoReload: [
    BUYERS,
    (request) =>
      updateAutoReload({
        ...request,
        settings: { enabled: false, threshold: 1, pack: 500, monthlyMax: 100_000 },
      }),
  ],

  createWorkspace: [OWNERS, (request) => createWorkspace({ ...request, name: 'Outlet' })],
  updateWorkspace: [
    OWNERS,
    (request) => updateWorkspace({ ...request, change: { name: 'Renamed' } }),
  ],
  'updateOrganisation, name': [
    OWNERS,
    (request) => updateOrganisation({ ...request, change: { name: 'Renamed' } }),
  ],
  'updateOrganisation, retention': [
    OWNERS,
    (request) => updateOrganisation({ ...request, change: { outputRetentionDays: 1 } }),
  ],
  invite: [
    OWNERS,
    (request) =>
      invite({
        ...request,
        organisationName: 'Shop',
        baseUrl,
        email: 'new@shop.example',
        role: 'owner',
      }),
  ],
  withdrawInvitation: [OWNERS, withdrawInvitation],
  readMember: [OWNERS, readMember],
  activeKeysCreatedBy: [OWNERS, activeKeysCreatedBy],
  changeRole: [OWNERS, (request) => changeRole({ ...request, role: 'developer' })],
  removeMember: [OWNERS, (request) => removeMember({ ...request, revokeKeys: false })],
  readAuditLog: [OWNERS, (request) => readAuditLog({ ...request, limit: 1 })],
  exportOrganisation: [OWNERS, (request) => exportOrganisation({ ...request, baseUrl })],
  scheduleOrganisationDeletion: [
    OWNERS,
    (request) => scheduleOrganisationDeletion({ ...request, baseUrl }),
  ],
  cancelOrganisationDeletion: [OWNERS, cancelOrganisationDeletion],

  addCredits: [
    OPERATORS,
    (request) => addCredits({ ...request, amount: 1, reason: 'x', reference: 'x' }),
  ],
  'updateOrganisation, status': [
    OPERATORS,
    (request) => updateOrganisation({ ...request, change: { status: 'active' } }),
  ],
  'updateOrganisation, plan': [
    OPERATORS,
    (request) => updateOrganisation({ ...request, change: { plan: 'starter' } }),
  ],
  'updateOrganisation, rate limit': [
    OPERATORS,
    (request) => updateOrganisation({ ...request, change: { rateLimitPerMinute: 1_000 } }),
  ],
  createDefaultEndpoint: [OPERATORS, (request) => createDefaultEndpoint({ ...request, url: null })],
  defaultUrlsOf: [OPERATORS, ({ actor }) => defaultUrlsOf({ env, actor, organisations: [] })],
  listOrganisations: [OPERATORS, (request) => listOrganisations({ ...request, limit: 1 })],
  createOrganisation: [
    OPERATORS,
    ({ actor }) =>
      createOrganisation({
        env,
        actor,
        name: 'Acme',
        regionCode: 'EU',
        plan: 'starter',
        credits: 1,
        rateLimitPerMinute: 1,
        rateLimitOverridden: true,
        workspaceName: 'Default',
      }),
  ],
}

async function newUser(member?: { organisationId: string; role: Role; workspaceIds?: string[] }) {
  const userId = newId('usr')
  const email = `${userId}@shop.example`
  const db = database(env)
  const now = new Date()
  await db
    .insert(users)
    .values({ id: userId, name: 'Ada', email, emailVerified: true, createdAt: now, updatedAt: now })
  if (member) await db.insert(members).values({ ...member, userId, createdAt: now })
  return { type: 'user' as const, userId, email, ipAddress: null }
}

/** An organisation with an actor of each kind, and objects in the workspace of the limited one. */
async function newTeam() {
  const { orgId: organisationId, workspaceId } = await newOrganisation()
  const newTeamMember = (role: Role) => newUser({ organisationId, role })
  const owner = await newTeamMember('owner')
  const actors: Record<ActorName, Actor> = {
    owner,
    developer: await newTeamMember('developer'),
    limited: await newUser({ organisationId, role: 'developer', workspaceIds: [workspaceId] }),
    billing: await newTeamMember('billing'),
    viewer: await newTeamMember('viewer'),
    apiKey: { type: 'api_key', keyHash: 'x', mode: 'live', workspaceIds: null, ipAddress: null },
    outsider: await newUser(),
  }
  const { userId } = await newTeamMember('viewer')
  const job = await insertJob(organisationId, workspaceId)
  const objects = { userId, workspaceId, ...job, ...(await insertObjects(organisationId)) }
  return { organisationId, actors, objects }
}

/** Runs a use case of an added endpoint. */
async function withEndpoint(
  request: OrganisationRequest,
  run: (request: OrganisationRequest & { endpointId: string }) => unknown,
): Promise<void> {
  const endpointId = newId('we')
  await addEndpoint({ ...request, actor: { type: 'system' }, endpointId, settings: ENDPOINT })
  await run({ ...request, endpointId })
  await deleteEndpoint({ ...request, actor: { type: 'system' }, endpointId }).catch(() => {})
}

const isNotFound = (error: unknown) => error instanceof AppError && error.code === 'not_found'

/** Whether an actor may run a use case. Other errors than `not_found` come after the check. */
async function isAllowed(run: UseCase, request: OrganisationRequest & Objects): Promise<boolean> {
  try {
    await run(request)
    return true
  } catch (error) {
    if (error instanceof AppError) return !isNotFound(error)
    throw error
  }
}

describe('the use cases', () => {
  it.each(Object.entries(USE_CASES))('%s checks the role', async (_, [allowed, run]) => {
    vi.spyOn(env.WEBHOOKS, 'send').mockResolvedValue({
      metadata: { metrics: { backlogCount: 0, backlogBytes: 0 } },
    })
    const { organisationId, actors, objects } = await newTeam()
    const request = (name: ActorName) => ({ env, actor: actors[name], organisationId, ...objects })
    // The rejected actors come first, since a use case may remove its object.
    for (const name of ACTORS.filter((other) => !allowed.includes(other))) {
      expect(await isAllowed(run, request(name)), name).toBe(false)
    }
    for (const name of allowed) expect(await isAllowed(run, request(name)), name).toBe(true)
  })

  it('let members read and remove their own membership', async () => {
    const { organisationId, actors } = await newTeam()
    const { viewer: actor } = actors
    if (actor.type !== 'user') throw new Error('not a user')
    const request = { env, actor, organisationId, userId: actor.userId }
    expect(await readMember(request)).toMatchObject({ role: 'viewer' })
    expect(await activeKeysCreatedBy(request)).toEqual([])
    expect(await removeMember({ ...request, revokeKeys: false })).toBe(true)
  })
})

describe('a member who is limited to a workspace', () => {
  it('reads and changes nothing in other workspaces', async () => {
    const { organisationId, actors, objects } = await newTeam()
    const actor: Actor = { type: 'system' }
    const outlet = await createWorkspace({ env, actor, organisationId, name: 'Outlet' })
    const { jobId, eventId } = await insertJob(organisationId, outlet.id)
    const request = { env, actor: actors.limited, organisationId }
    const notFound = { code: 'not_found' }
    await expect(readEvent({ ...request, eventId })).rejects.toMatchObject(notFound)
    await expect(deleteOutput({ ...request, jobId })).rejects.toMatchObject(notFound)
    expect(await listAttempts({ ...request, eventId })).toEqual([])
    expect(await resendEvent({ ...request, eventId })).toBe(false)
    const { deliveries } = await listDeliveries({ ...request, ...DELIVERIES })
    expect(deliveries.map(({ id }) => id)).toEqual([objects.eventId])
    const workspaces = await listWorkspaces(request)
    expect(workspaces.map(({ id }) => id)).toEqual([objects.workspaceId])
    expect(await readEvent({ ...request, actor: actors.developer, eventId })).toBeDefined()
  })
})
