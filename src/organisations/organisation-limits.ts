// Limits per organisation. The statement that inserts a row checks its limit, so that concurrent
// requests cannot exceed it together.
import { invalid } from '../domain/errors.ts'

export const MAX_ACTIVE_API_KEYS = 100
/** Created within `API_KEYS_CREATED_DAYS`, including revoked keys. */
export const MAX_API_KEYS_CREATED = 1_000
export const API_KEYS_CREATED_DAYS = 400
export const MAX_ACTIVE_WORKSPACES = 100
/** Including archived workspaces. */
export const MAX_WORKSPACES = 500
export const MAX_OPEN_INVITATIONS = 50
/** Members and open invitations together, so that every open invitation can be accepted. */
export const MAX_MEMBERS = 100

export const apiKeyLimitReached = () =>
  invalid(
    `An organisation can have ${MAX_ACTIVE_API_KEYS} active API keys and create ${MAX_API_KEYS_CREATED.toLocaleString('en')} in ${API_KEYS_CREATED_DAYS} days. Revoke a key that is no longer used, or contact support.`,
  )

/** Organisations that one user owns. */
export const MAX_OWNED_ORGANISATIONS = 5

export const workspaceLimitReached = () =>
  invalid(
    `An organisation can have ${MAX_ACTIVE_WORKSPACES} active workspaces and ${MAX_WORKSPACES} including archived ones. Archive a workspace that is no longer used, or rename an archived one and restore it.`,
  )

export const memberLimitReached = () =>
  invalid(
    `An organisation can have ${MAX_OPEN_INVITATIONS} open invitations, and ${MAX_MEMBERS} members and open invitations together. Withdraw an invitation or remove a member first.`,
  )

export const organisationLimitReached = () =>
  invalid(
    `You can own ${MAX_OWNED_ORGANISATIONS} organisations. Delete one that is no longer used, or contact support.`,
  )
