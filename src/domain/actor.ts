// The actor of an action. Use cases that change something take an actor and record it.

import type { Mode } from './job.ts'
import type { Role } from './role.ts'

export const ACTOR_TYPES = ['user', 'api_key', 'operator', 'system'] as const

export interface UserActor {
  type: 'user'
  userId: string
  email: string
  ipAddress: string | null
  /** What a request that changes nothing has read of the member, so that its use cases need not read it again. */
  membership?: { organisationId: string; role: Role; workspaceIds: string[] | null }
}

export type Actor =
  | UserActor
  | {
      type: 'api_key'
      keyHash: string
      mode: Mode
      /** The workspaces that the key reaches; null for all. */
      workspaceIds: string[] | null
      ipAddress: string | null
    }
  | { type: 'operator'; ipAddress: string | null }
  | { type: 'system' }

export const SYSTEM: Actor = { type: 'system' }

/**
 * The mode that an actor is limited to; undefined for both. Test keys may be public, since pages in browsers
 * use them, so they reach no webhook of live jobs.
 */
export const limitedModeOf = (actor: Actor): Mode | undefined =>
  actor.type === 'api_key' && actor.mode === 'test' ? 'test' : undefined
