// Helpers for webhooks: added endpoints and stored events.
import { env } from 'cloudflare:workers'
import { SYSTEM } from '../../src/domain/actor.ts'
import { EVENT_TYPES } from '../../src/domain/webhook.ts'
import { newId } from '../../src/platform/ids.ts'
import {
  addEndpoint,
  revealSecret,
  type EndpointSettings,
} from '../../src/webhooks/endpoints/endpoints.ts'
import { jobsDb } from './jobs-database.ts'

/** Adds an endpoint that receives all events, unless other settings are given. */
export async function newEndpoint(
  organisationId: string,
  settings: Partial<EndpointSettings> = {},
): Promise<{ id: string; secret: string }> {
  const id = newId('we')
  const request = { env, actor: SYSTEM, organisationId, endpointId: id }
  await addEndpoint({
    ...request,
    settings: {
      name: 'Order system',
      url: 'https://added.test/hook',
      types: [...EVENT_TYPES],
      mode: null,
      ...settings,
    },
  })
  return { id, secret: await revealSecret(request) }
}

export interface StoredEvent {
  id: string
  job_id: string
  type: string
  url: string
  status: string
  added_endpoint_id: string | null
}

/** The events of an organisation, by id. */
export async function eventsIn(organisationId: string): Promise<StoredEvent[]> {
  const { results } = await jobsDb(organisationId)
    .prepare(
      `SELECT id, job_id, type, url, status, added_endpoint_id FROM webhook_events
     WHERE organisation_id = ? ORDER BY id`,
    )
    .bind(organisationId)
    .all<StoredEvent>()
  return results
}
